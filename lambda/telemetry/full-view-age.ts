/** Computes how old the last full view is, from the findings of each look. */
import type { EpochMs } from '../decision/model/brands.ts';
import type { Doubt, Finding, Plan } from '../decision/model/plan.ts';
import type { Clock } from '../look/ports.ts';

/**
 * The time since the last look with a full view. Each instance of the function starts from zero.
 * Only the metric TickAge uses it.
 */
export class FullViewAge {
  readonly #clock: Clock;
  #since: EpochMs;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Seconds from the last look with a full view to this one, or from the creation of this object. */
  after(plan: Plan): number {
    const now = this.#clock.now();
    if (hasFullView(plan)) this.#since = now;
    return Math.max(0, Math.round((now - this.#since) / 1000));
  }
}

/** Doubts that make a view incomplete. Overrides by a person, changes by others and a missing license do not. */
type Contradiction = Exclude<
  Doubt & Finding['code'],
  | `${string}-${'truncated' | 'forbidden' | 'failed' | 'stale'}`
  | 'override-malformed'
  | 'count-contested'
  | 'license-missing'
>;

const CONTRADICTIONS: Readonly<Record<Contradiction, true>> = {
  'organization-unknown': true,
  'daemons-empty-while-leased': true,
  'jobs-empty-while-busy': true,
  'worker-unknown': true,
  'daemons-share-task': true,
  'heartbeats-old': true,
  'clocks-differ': true,
  'server-too-old': true,
  'tasks-fewer-than-counted': true,
};

/** Lists that every look reads. Lists of the forecast are read less often and do not count. */
const UNREAD = /^(jobs|daemons|previous-jobs|services|tasks|protections)-(truncated|forbidden|failed|stale)$/;

function hasFullView({ findings }: Plan): boolean {
  return !findings.some(({ code }) => UNREAD.test(code) || Object.hasOwn(CONTRADICTIONS, code));
}
