/**
 * Judges the desired count that a look sets from current readings. The look must not set it below
 * the tasks that have not left. It must not let ECS stop a task while a deployment is open, or
 * while a task is starting or unguarded.
 */

import type { PoolCodes, PoolState } from '../world/pool-state.ts';
import { isAtRisk, type ModelTask, UNPROTECTED } from '../world/task.ts';
import type { Write } from './decider.ts';

/** What is wrong with the count that a look sets on the current state; undefined if nothing is. */
export function wrongCount(now: PoolState, codes: PoolCodes, writes: readonly Write[]): string | undefined {
  const lower = writes.find((write) => write.kind === 'set' && write.desired < now.desired);
  if (lower?.kind !== 'set') return undefined;
  const to = lower.desired;
  const there = codes.tasksOf(now).filter((task) => task !== undefined);
  const staying = there.filter((task) => !hasLeft(task)).length;
  if (to < staying) return `the autoscaler sets the count to ${to}, but ${staying} task(s) have not left`;
  if (to >= there.length) return undefined;
  if (now.isDeploying) return `the autoscaler lowers the count to ${to} while a deployment is open`;
  const free = there.filter(({ protection }) => protection === UNPROTECTED);
  if (free.some(({ guard }) => guard === 'leasing'))
    return `the autoscaler lowers the count to ${to} while a task is starting`;
  if (free.some(isAtRisk)) return `the autoscaler lowers the count to ${to} while a task is unguarded`;
  return undefined;
}

/**
 * Whether stopping the task loses nothing: it is unprotected, and its daemon has exited, exits
 * without a job, or is refused by coderd.
 */
function hasLeft(task: ModelTask): boolean {
  const isVacant = task.guard !== 'leasing' && task.protection === UNPROTECTED && !isAtRisk(task);
  return task.guard === 'left' || task.guard === 'died' || isVacant;
}
