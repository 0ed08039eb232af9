/** Findings about jobs that wait too long, or that coderd will fail, from the assignment. */
import type { Assigned, Assignment } from '../assign/assignment.ts';
import { failsAt, oldestOf, REAPED_AFTER_MS, type TagGroup } from '../demand/demand.ts';
import { isoTime } from '../model/brands.ts';
import type { Config } from '../model/config.ts';
import type { Finding, Served } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { displayTags } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';

/** A generous start time of a task until its daemon has registered. */
const EXPECTED_START_MS = 2 * MINUTE_MS;

/** The earliest time at which a daemon can be ready for a job, in milliseconds from now. */
const EARLIEST_MS: Readonly<Record<Served, number>> = {
  'by-free': 0,
  'by-starting': EXPECTED_START_MS,
  'by-launch': EXPECTED_START_MS,
  'when-there-is-room': EXPECTED_START_MS,
  'by-busy': 0,
  'by-peer': EXPECTED_START_MS,
  'by-doubtful': 0,
};

type Row = Assigned<TagGroup>;

/** Derives the findings about jobs that will run, but late. */
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

function longWaiting(
  group: TagGroup,
  rows: readonly Row[],
  snapshot: Snapshot,
  config: Config,
): readonly Finding[] {
  const since = snapshot.takenAt - config.alertAfterMs;
  const jobs = group.createdAt.filter((createdAt) => createdAt < since).length;
  if (jobs === 0) return [];
  const pool = rows[0]?.offer.pool ?? null;
  return [{ code: 'jobs-waiting', ...named(group), jobs, oldest: isoTime(oldestOf(group)), pool }];
}

/** coderd gives the daemons that are ready first to the oldest jobs. */
function aboutToFail(group: TagGroup, rows: readonly Row[], snapshot: Snapshot): readonly Finding[] {
  const inMs = rows
    .flatMap(({ offer, jobs }) => Array<number>(jobs).fill(EARLIEST_MS[offer.served]))
    .toSorted((a, b) => a - b);
  // a job for a free daemon, or for a daemon that the autoscaler does not own, is not late because
  // of the autoscaler
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
