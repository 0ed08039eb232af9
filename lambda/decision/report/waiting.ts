/**
 * Findings about jobs that wait too long, or that coderd will fail, from the assignment. Prebuilds have
 * the lowest priority, so a limit may hold back launches for them until coderd fails their jobs after
 * half an hour. That estimate counts every daemon of the pool as serving prebuilds only.
 */
import type { Assigned, Assignment } from '../assign/assignment.ts';
import { failsAt, oldestOf, REAPED_AFTER_MS, type TagGroup } from '../demand/demand.ts';
import { deriveRecord, PREBUILDS_USER } from '../demand/record.ts';
import { isoTime, type PoolName, poolOfPart } from '../model/brands.ts';
import { meanOf, sum } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Finding, PoolPlan, Reason, Served } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { displayTags, tagKey } from '../model/tags.ts';
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

/** Before this time the estimate is rough: a burst may be over sooner than its first jobs suggest. */
const EARLY_MS = REAPED_AFTER_MS / 2;
/** Without a daemon, or without a known duration, jobs that have waited for so long are late. */
const LATE_MS = 20 * MINUTE_MS;

/** Reasons of a pool that hold back launches. If the first ones apply, the others hold nothing. */
const LIMITS: readonly Reason['code'][] = [
  'paused',
  'pinned',
  'starts-failing',
  'placement-failing',
  'capped-at-max',
  'capped-at-prebuilds-max-tasks',
  'capped-at-max-tasks',
  'capped-at-dollars-per-hour',
];

type Given = { readonly pools: readonly PoolPlan[]; readonly snapshot: Snapshot };

/** Derives one finding for each tag group of prebuilds that a limit holds back for too long. */
export function prebuildWaitFindings({ assigned }: Assignment<TagGroup>, given: Given): readonly Finding[] {
  const rows = assigned.filter(({ group }) => group.for === 'prebuilds');
  const groups = Map.groupBy(rows, ({ group }) => group);
  return [...groups].flatMap(([group, ofGroup]) => groupFindings(group, ofGroup, given));
}

function groupFindings(group: TagGroup, rows: readonly Row[], given: Given): readonly Finding[] {
  const { snapshot, pools } = given;
  const part = rows.find(({ offer }) => offer.served === 'when-there-is-room')?.offer.pool;
  const pool = part && poolOfPart(part);
  if (pool == null || snapshot.takenAt - oldestOf(group) < EARLY_MS) return [];
  const late = lateJobs(group, rows, given);
  const [first] = late;
  const at = first === undefined ? null : failsAt(first, snapshot);
  if (at === null) return [];
  const { jobs } = group;
  const limits = limitsOf(pool, pools);
  return [{ code: 'prebuilds-waiting', ...named(group), jobs, late: late.length, failsAt: at, pool, limits }];
}

/** When the jobs were submitted that no daemon can take in time, the oldest first. */
function lateJobs(group: TagGroup, rows: readonly Row[], { pools, snapshot }: Given) {
  const queued = sum(rows, ({ offer, jobs }) =>
    offer.served === 'when-there-is-room' || offer.served === 'by-busy' ? jobs : 0,
  );
  const names = new Set(rows.flatMap(({ offer }) => (offer.pool === null ? [] : poolOfPart(offer.pool))));
  const daemons = sum(
    pools.filter(({ name }) => names.has(name)),
    daemonsOf,
  );
  const tookMs = meanDuration(group, snapshot);
  const queue = group.createdAt.slice(group.createdAt.length - queued);
  return queue.filter((createdAt, index) => {
    if (daemons === 0 || tookMs === undefined) return snapshot.takenAt - createdAt >= LATE_MS;
    const turns = Math.ceil((index + 1) / daemons);
    return createdAt + REAPED_AFTER_MS < snapshot.takenAt + turns * tookMs;
  });
}

/** The mean over the jobs of what similar ones took: starts and deletions differ. */
function meanDuration(group: TagGroup, { coder }: Snapshot): number | undefined {
  const organization = coder.organizations.find(({ id }) => id === group.organizationId);
  if (organization === undefined) return group.tookMs;
  const { durationsOf } = deriveRecord(organization);
  const means = organization.jobs.items
    .filter(({ status, initiator_id }) => status === 'pending' && initiator_id === PREBUILDS_USER)
    .filter(({ tags }) => `${organization.id} ${tagKey(tags)}` === group.key)
    .map((job) => meanOfAll(durationsOf(job)));
  return means.length === 0 || means.includes(0) ? group.tookMs : meanOf(means);
}

/** Many jobs share one list. */
const meanOfAll = memoized((durations: readonly number[]) => meanOf(durations));

/** The daemons that a pool has or is about to have. */
function daemonsOf({ daemons: { busy, idle, starting }, desired: { from, to } }: PoolPlan): number {
  return busy + idle + starting + Math.max(0, (to ?? 0) - (from ?? 0));
}

function limitsOf(pool: PoolName, pools: readonly PoolPlan[]): readonly Reason['code'][] {
  const why = pools.find(({ name }) => name === pool)?.why.map(({ code }) => code) ?? [];
  return LIMITS.filter((code) => why.includes(code));
}
