/**
 * Findings about prebuilds that coderd will fail because a limit holds back launches for them. Jobs
 * of prebuilds have the lowest priority, and coderd fails a job after half an hour. The estimate
 * counts every daemon of the pool as serving prebuilds only, so it never says that too many are
 * late.
 */
import type { Assigned, Assignment } from '../assignment/assignment.ts';
import { oldestOf, type TagGroup } from '../demand/demand.ts';
import type { PoolName } from '../model/brands.ts';
import { sum } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import type { Finding, PoolPlan, Reason } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { displayTags } from '../model/tags.ts';
import { failsAt, REAPED_AFTER_MS } from './waiting.ts';

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
type Given = { readonly pools: readonly PoolPlan[]; readonly snapshot: Snapshot; readonly config: Config };

/** Derives one finding for each tag group of prebuilds that a limit holds back for too long. */
export function prebuildWaitFindings({ assigned }: Assignment<TagGroup>, given: Given): readonly Finding[] {
  const rows = assigned.filter(({ group }) => group.for === 'prebuilds');
  const groups = Map.groupBy(rows, ({ group }) => group);
  return [...groups].flatMap(([group, ofGroup]) => groupFindings(group, ofGroup, given));
}

function groupFindings(group: TagGroup, rows: readonly Row[], given: Given): readonly Finding[] {
  const { snapshot, config, pools } = given;
  const pool = rows.find(({ offer }) => offer.served === 'when-there-is-room')?.offer.pool;
  if (pool == null || snapshot.takenAt - oldestOf(group) <= config.alertAfterMs) return [];
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
  const queue = group.createdAt.slice(group.createdAt.length - queued);
  return queue.filter((createdAt, index) => {
    if (daemons === 0 || group.tookMs === undefined) return snapshot.takenAt - createdAt >= LATE_MS;
    const turns = Math.ceil((index + 1) / daemons);
    return createdAt + REAPED_AFTER_MS < snapshot.takenAt + turns * group.tookMs;
  });
}

/** The daemons that a pool has or is about to have. */
function daemonsOf({ daemons: { busy, idle, starting }, desired: { from, to } }: PoolPlan): number {
  return busy + idle + starting + Math.max(0, (to ?? 0) - (from ?? 0));
}

function limitsOf(pool: PoolName, pools: readonly PoolPlan[]): readonly Reason['code'][] {
  const why = pools.find(({ name }) => name === pool)?.why.map(({ code }) => code) ?? [];
  return LIMITS.filter((code) => why.includes(code));
}
