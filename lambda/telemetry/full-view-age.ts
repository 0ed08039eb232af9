/** Computes how old the last full view is, and whether a look saw anything, for metrics only. */
import type { EpochMs } from '../decision/model/brands.ts';
import type { Doubt, Finding, Plan } from '../decision/model/plan.ts';
import type { Reading, Snapshot } from '../decision/model/snapshot.ts';
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

/** Whether no pool can be judged: no list of jobs could be read, or none of daemons, or that of services not. */
export function isBlind({ coder: { organizations }, ecs }: Snapshot): boolean {
  return (
    areAllUnread(organizations.map(({ jobs }) => jobs)) ||
    areAllUnread(organizations.map(({ daemons }) => daemons)) ||
    areAllUnread([ecs.services])
  );
}

/** Whether there are lists, and none has an answer of this look. */
export function areAllUnread(readings: readonly Reading<unknown>[]): boolean {
  return readings.length > 0 && readings.every(({ status }) => status !== 'ok' && status !== 'truncated');
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
