import type { EpochMs } from '../decision/model/brands.ts';
import type { Doubt, Finding, Plan } from '../decision/model/plan.ts';
import type { Clock } from '../look/ports.ts';

/**
 * How long ago everything was last seen. It is remembered by one instance of the function and
 * starts anew with the next: nothing but the metric TickAge stands on it.
 */
export class SightAge {
  readonly #clock: Clock;
  #since: EpochMs;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Seconds from the last look with full sight to this one, or from when this was made. */
  after(plan: Plan): number {
    const now = this.#clock.now();
    if (hasFullView(plan)) this.#since = now;
    return Math.max(0, Math.round((now - this.#since) / 1000));
  }
}

/** What a person has set aside is no lack of sight. */
type Contradiction = Exclude<
  Doubt & Finding['code'],
  `${string}-${'truncated' | 'forbidden' | 'failed' | 'stale'}` | 'override-malformed'
>;

const CONTRADICTIONS: Readonly<Record<Contradiction, true>> = {
  'organization-unknown': true,
  'daemons-empty-while-leased': true,
  'jobs-empty-while-busy': true,
  'worker-unknown': true,
  'daemons-share-name': true,
  'clocks-differ': true,
  'server-too-old': true,
  'tasks-fewer-than-counted': true,
};

/** Lists of a look; those of the forecast are read less often and stand in nobody's way. */
const UNREAD = /^(jobs|daemons|previous-jobs|services|tasks|protections)-(truncated|forbidden|failed|stale)$/;

function hasFullView({ findings }: Plan): boolean {
  return !findings.some(({ code }) => UNREAD.test(code) || Object.hasOwn(CONTRADICTIONS, code));
}
