/**
 * How often coderd's lifecycle executor looks (CODER_AUTOBUILD_POLL_INTERVAL, a minute by default), from when it made its builds: no API
 * tells. The times between two of its polls are whole multiples of the interval.
 */
import type { EpochMs } from '../model/brands.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Reading, Snapshot, Workspace } from '../model/snapshot.ts';
import { AUTOMATIC } from './transitions.ts';

const MINUTE_MS = 60_000;
/** Intervals are told apart in such steps. */
const STEP_MS = 30_000;
const LONGEST_MS = 30 * MINUTE_MS;
/** A poll makes its builds one after the other, some at a time. */
const SAME_POLL_MS = 30_000;
/** So much later than the poll is its first build, at most. */
const JITTER_MS = 10_000;
/** Schedules lie on whole hours and halves and quarters of them, and so do the builds of a coderd that looks every minute. */
const CALENDAR_MS = 5 * MINUTE_MS;
const LEAST_GAPS = 3;
/** Older ones may be of an interval that was changed since. */
const MOST_POLLS = 50;
/** At each restart of coderd, its polls begin anew: one gap in so many may fit no interval. */
const GAPS_A_RESTART = 8;

export type PollInterval = {
  /** In milliseconds. */
  readonly ms: number;
  /** Once coderd seems to have refused something. Where too few builds tell of the interval, it may be a long one. */
  readonly retryMs: number;
};

/** A daemon stays for two of these, and so for one poll of an interval that is twice as long. */
const UNTOLD_RETRY_MS = 10 * MINUTE_MS;

/** What the last polls tell that made a build; a minute where they tell nothing. */
export function pollInterval(snapshot: Snapshot): PollInterval {
  const ms = learn(snapshot);
  return ms === undefined ? { ms: MINUTE_MS, retryMs: UNTOLD_RETRY_MS } : { ms, retryMs: ms };
}

/** The longest interval that fits; undefined where there are too few polls. */
function learn({ coder }: Snapshot): number | undefined {
  const builds = coder.organizations.flatMap(({ workspaces }) => (workspaces ? builtAt(workspaces) : []));
  const polls = pollsOf(builds).slice(-MOST_POLLS);
  const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? at));
  if (gaps.length < LEAST_GAPS) return undefined;
  const misfits = Math.floor(gaps.length / GAPS_A_RESTART);
  for (let ms = LONGEST_MS; ms > MINUTE_MS; ms -= STEP_MS) {
    if (ms > CALENDAR_MS && polls.every((at) => isOnCalendar(at, ms))) continue;
    if (gaps.filter((gap) => !isMultiple(gap, ms)).length <= misfits) return ms;
  }
  return MINUTE_MS;
}

/** Whether a build within a minute of a schedule explains it as well: polls begin with coderd, at any time. */
function isOnCalendar(at: EpochMs, ms: number): boolean {
  return at % ms < MINUTE_MS + JITTER_MS;
}

/** The first build of each of the last polls, of one list of workspaces. */
const builtAt = memoized(({ items }: Reading<Workspace>): readonly EpochMs[] => {
  const builds = items.flatMap(({ latest_build: { created_at, reason } }) =>
    created_at != null && AUTOMATIC.has(reason ?? '') ? [created_at] : [],
  );
  return pollsOf(builds).slice(-MOST_POLLS);
});

function pollsOf(builds: readonly EpochMs[]): readonly EpochMs[] {
  return builds
    .toSorted((a, b) => a - b)
    .filter((at, index, all) => at - (all[index - 1] ?? Number.NEGATIVE_INFINITY) > SAME_POLL_MS);
}

function isMultiple(gap: number, ms: number): boolean {
  const beyond = gap % ms;
  return gap > ms - JITTER_MS && Math.min(beyond, ms - beyond) <= JITTER_MS;
}
