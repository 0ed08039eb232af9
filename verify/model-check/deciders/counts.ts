/**
 * What a look on fresh sight must not do with the count: set it below the tasks that have not left, or lower it so that ECS may stop one
 * while a deployment is open or a task is starting or unguarded.
 */

import type { PoolCodes, PoolState } from '../world/pool-state.ts';
import { isAtRisk, type TaskState, UNPROTECTED } from '../world/task.ts';
import type { Write } from './decider.ts';

/** What is wrong with the count that a look sets upon what is so at that moment; undefined: nothing. */
export function wrongCount(now: PoolState, codes: PoolCodes, writes: readonly Write[]): string | undefined {
  const lower = writes.find((write) => write.kind === 'set' && write.desired < now.desired);
  if (lower?.kind !== 'set') return undefined;
  const to = lower.desired;
  const there = codes.tasksOf(now).filter((task) => task !== undefined);
  const staying = there.filter((task) => !hasLeft(task)).length;
  if (to < staying) return `the count is set to ${to}, below ${staying} task(s) that have not left`;
  if (to >= there.length) return undefined;
  if (now.isDeploying) return `the count is lowered to ${to} while a deployment is open`;
  const free = there.filter(({ protection }) => protection === UNPROTECTED);
  if (free.some(({ guard }) => guard === 'leasing'))
    return `the count is lowered to ${to} while a task is starting`;
  if (free.some(isAtRisk)) return `the count is lowered to ${to} while a task is unguarded`;
  return undefined;
}

/** Nothing protects it, and nothing is lost with it: its daemon has gone, is going without a job, or is refused by coderd. */
function hasLeft(task: TaskState): boolean {
  const isVacant = task.guard !== 'leasing' && task.protection === UNPROTECTED && !isAtRisk(task);
  return task.guard === 'left' || task.guard === 'died' || isVacant;
}
