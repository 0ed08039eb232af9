/**
 * The poll interval of coderd's lifecycle executor (CODER_AUTOBUILD_POLL_INTERVAL, a minute by
 * default), inferred from the times of the builds that it made. No API shows the setting. The time
 * between two polls is a whole multiple of the interval.
 */
import { AUTOMATIC } from '../demand/transitions.ts';
import type { EpochMs } from '../model/brands.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Reading, Snapshot, Workspace } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';

/** The resolution of the inferred interval. */
const STEP_MS = 30_000;
const LONGEST_MS = 30 * MINUTE_MS;
/** Builds this close belong to one poll, which makes some builds at a time. */
const SAME_POLL_MS = 30_000;
/** The first build of a poll comes at most this long after it. */
const JITTER_MS = 10_000;
/** A coderd that polls every minute also builds at the whole hours of schedules. */
const CALENDAR_MS = 5 * MINUTE_MS;
const MIN_GAPS = 3;
/** Older polls may have had another interval. */
const MAX_POLLS = 50;
/** Polls start anew with each restart of coderd, so one gap in this many may fit no interval. */
const GAPS_A_RESTART = 8;

export type PollInterval = {
  /** The interval in milliseconds. */
  readonly ms: number;
  /** After a refusal: it may be long if too few builds show the interval. */
  readonly retryMs: number;
};

/** A daemon stays for two intervals, so for one poll of twice the interval. */
const UNKNOWN_RETRY_MS = 10 * MINUTE_MS;

/** Infers the interval from the last polls that made a build; a minute if they do not show it. */
export function pollInterval(snapshot: Snapshot): PollInterval {
  const ms = inferIntervalMs(snapshot);
  return ms === undefined ? { ms: MINUTE_MS, retryMs: UNKNOWN_RETRY_MS } : { ms, retryMs: ms };
}

/** The longest interval that fits; undefined if there are too few polls. */
function inferIntervalMs({ coder }: Snapshot): number | undefined {
  const builds = coder.organizations.flatMap(({ workspaces }) => (workspaces ? builtAt(workspaces) : []));
  const polls = pollsOf(builds).slice(-MAX_POLLS);
  const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? at));
  if (gaps.length < MIN_GAPS) return undefined;
  const misfits = Math.floor(gaps.length / GAPS_A_RESTART);
  for (let ms = LONGEST_MS; ms > MINUTE_MS; ms -= STEP_MS) {
    if (ms > CALENDAR_MS && polls.every((at) => isOnCalendar(at, ms))) continue;
    if (gaps.filter((gap) => !isMultiple(gap, ms)).length <= misfits) return ms;
  }
  return MINUTE_MS;
}

/** A schedule explains it as well: polls start with coderd, at any time. */
function isOnCalendar(at: EpochMs, ms: number): boolean {
  return at % ms < MINUTE_MS + JITTER_MS;
}

/** The first build of each of the last polls, from one list of workspaces. */
const builtAt = memoized(({ items }: Reading<Workspace>): readonly EpochMs[] => {
  const builds = items.flatMap(({ latest_build: { created_at, reason } }) =>
    created_at != null && AUTOMATIC.has(reason ?? '') ? [created_at] : [],
  );
  return pollsOf(builds).slice(-MAX_POLLS);
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
