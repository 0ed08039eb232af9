/**
 * Findings about prebuilds that coderd will fail because a limit holds back launches for them. Jobs
 * of prebuilds have the lowest priority, and coderd fails a job after half an hour. The estimate
 * counts every daemon of the pool as serving prebuilds only.
 */
import type { Assigned, Assignment } from '../assign/assignment.ts';
import { failsAt, oldestOf, REAPED_AFTER_MS, type TagGroup } from '../demand/demand.ts';
import { deriveRecord, PREBUILDS_USER } from '../demand/record.ts';
import type { PoolName } from '../model/brands.ts';
import { meanOf, sum } from '../model/collections.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Finding, PoolPlan, Reason } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { displayTags, tagKey } from '../model/tags.ts';

/** Before this time the estimate is rough: a burst may be over sooner than its first jobs suggest. */
const EARLY_MS = REAPED_AFTER_MS / 2;
/** Without a daemon, or without a known duration, jobs that have waited for so long are late. */
const LATE_MS = 20 * 60_000;

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

type Row = Assigned<TagGroup>;
type Given = { readonly pools: readonly PoolPlan[]; readonly snapshot: Snapshot };

/** Derives one finding for each tag group of prebuilds that a limit holds back for too long. */
export function prebuildWaitFindings({ assigned }: Assignment<TagGroup>, given: Given): readonly Finding[] {
  const rows = assigned.filter(({ group }) => group.for === 'prebuilds');
  const groups = Map.groupBy(rows, ({ group }) => group);
  return [...groups].flatMap(([group, ofGroup]) => groupFindings(group, ofGroup, given));
}

function groupFindings(group: TagGroup, rows: readonly Row[], given: Given): readonly Finding[] {
  const { snapshot, pools } = given;
  const pool = rows.find(({ offer }) => offer.served === 'when-there-is-room')?.offer.pool;
  if (pool == null || snapshot.takenAt - oldestOf(group) < EARLY_MS) return [];
  const late = lateJobs(group, rows, given);
  const [first] = late;
  const at = first === undefined ? null : failsAt(first, snapshot);
  if (at === null) return [];
  const { organization, jobs } = group;
  const limits = limitsOf(pool, pools);
  const facts = { organization, tags: displayTags(group.tags), jobs, late: late.length, failsAt: at };
  return [{ code: 'prebuilds-waiting', ...facts, pool, limits }];
}

/** When the jobs were submitted that no daemon can take in time, the oldest first. */
function lateJobs(group: TagGroup, rows: readonly Row[], { pools, snapshot }: Given) {
  const queued = sum(rows, ({ offer, jobs }) =>
    offer.served === 'when-there-is-room' || offer.served === 'by-busy' ? jobs : 0,
  );
  const names = new Set(rows.flatMap(({ offer }) => offer.pool ?? []));
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
