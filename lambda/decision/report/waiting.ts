/** Jobs that wait: for longer than they should, or for longer than coderd lets them. */
import type { Assigned, Assignment } from '../assignment/assignment.ts';
import { oldestOf, type TagGroup } from '../demand/demand.ts';
import type { EpochMs } from '../model/brands.ts';
import type { Config } from '../model/config.ts';
import type { Finding, IsoTime, Served } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { displayTags } from '../model/tags.ts';
import { compareVersion, REAPS_PENDING_SINCE } from '../model/version.ts';

/** coderd fails a job that has been pending for this long (docs/coder.md §5, since 2.23). */
const REAPED_AFTER_MS = 30 * 60_000;
/** What a new task takes until its daemon has registered, generously. */
const EXPECTED_START_MS = 2 * 60_000;

/** When capacity can be there for a job, at the earliest. */
const EARLIEST_MS: Readonly<Record<Served, number>> = {
  'by-free': 0,
  'by-starting': EXPECTED_START_MS,
  'by-launch': EXPECTED_START_MS,
  'when-there-is-room': EXPECTED_START_MS,
  'by-busy': 0,
};

/** What a person should know about jobs that somebody will run, but late. */
export function waitingFindings(
  { assigned }: Assignment<TagGroup>,
  snapshot: Snapshot,
  config: Config,
): readonly Finding[] {
  const groups = Map.groupBy(assigned, ({ group }) => group);
  return [...groups].flatMap(([group, rows]) => [
    ...longWaiting(group, rows, snapshot, config),
    ...aboutToFail(group, rows, snapshot),
  ]);
}

/** When coderd fails a job that nobody acquires; null for a server that lets jobs wait. */
export function failsAt(createdAt: EpochMs, { coder }: Snapshot): IsoTime | null {
  const reaps = (compareVersion(coder.buildInfo?.version, REAPS_PENDING_SINCE) ?? 0) >= 0;
  return reaps ? isoTime(createdAt + REAPED_AFTER_MS) : null;
}

/** A time as the plan writes it. */
export function isoTime(ms: number): IsoTime {
  return new Date(ms).toISOString();
}

function longWaiting(
  group: TagGroup,
  rows: readonly Assigned<TagGroup>[],
  snapshot: Snapshot,
  config: Config,
): readonly Finding[] {
  const since = snapshot.takenAt - config.alertAfterMs;
  const jobs = group.createdAt.filter((createdAt) => createdAt < since).length;
  if (jobs === 0) return [];
  const pool = rows[0]?.offer.pool ?? null;
  return [{ code: 'jobs-waiting', ...named(group), jobs, oldest: isoTime(oldestOf(group)), pool }];
}

/** The oldest jobs get the readiest places, as coderd hands them out. */
function aboutToFail(
  group: TagGroup,
  rows: readonly Assigned<TagGroup>[],
  snapshot: Snapshot,
): readonly Finding[] {
  const inMs = rows
    .flatMap(({ offer, jobs }) => Array<number>(jobs).fill(EARLIEST_MS[offer.served]))
    .toSorted((a, b) => a - b);
  // what a free daemon is about to take, or a daemon of others, is not late by our doing
  const late = group.createdAt.filter((createdAt, index) => {
    const wait = inMs[index] ?? 0;
    return wait > 0 && createdAt + REAPED_AFTER_MS < snapshot.takenAt + wait;
  });
  const [first] = late;
  const at = first === undefined ? null : failsAt(first, snapshot);
  return at === null ? [] : [{ code: 'jobs-about-to-fail', ...named(group), jobs: late.length, failsAt: at }];
}

function named(group: TagGroup) {
  return { organization: group.organization, tags: displayTags(group.tags) };
}
