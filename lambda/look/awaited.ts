/**
 * Which of the waiting jobs somebody waits for, for alarms. Nobody waits for prebuilds, and who has paused a pool knows
 * that its jobs wait. coderd fails them too: then `jobs-never-started` tells of both.
 */
import { deriveDemand, oldestOf } from '../decision/demand/demand.ts';
import type { AssignmentRow, Plan, PoolPlan } from '../decision/model/plan.ts';
import type { Snapshot } from '../decision/model/snapshot.ts';
import { tagKey } from '../decision/model/tags.ts';

/** For how many seconds the oldest of these jobs has waited for a daemon of a pool. */
export function oldestAwaitedSeconds(snapshot: Snapshot, { pools, assignment }: Plan): number {
  const paused = new Set(pools.flatMap((pool) => (isPaused(pool) ? [pool.name] : [])));
  const rows = assignment.filter((row) => isForSomebody(row) && row.pool !== null && !paused.has(row.pool));
  const awaited = new Set(rows.map(keyOf));
  const groups = deriveDemand(snapshot).filter((group) => awaited.has(keyOf(group)));
  return Math.max(0, ...groups.map((group) => Math.round((snapshot.takenAt - oldestOf(group)) / 1000)));
}

/** Whether such a job is planned for a daemon of the pool. */
export function isAwaited({ name }: PoolPlan, { assignment }: Plan): boolean {
  return assignment.some((row) => row.pool === name && isForSomebody(row));
}

const isForSomebody = (row: AssignmentRow): boolean => row.for !== 'prebuilds';

const keyOf = (group: Pick<AssignmentRow, 'organization' | 'for' | 'tags'>): string =>
  `${group.organization} ${group.for} ${tagKey(group.tags)}`;

function isPaused({ overrides }: PoolPlan): boolean {
  return overrides.some(({ kind }) => kind === 'pause');
}
