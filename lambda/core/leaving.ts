/** Leaving: which daemons are asked, and why the others are not. */
import type { EpochMs } from './brands.ts';
import { by } from './order.ts';
import type { PoolSight } from './supply.ts';
import type { TaskSight } from './task-state.ts';

export type LeaveDecision =
  | { readonly task: TaskSight; readonly kind: 'leave'; readonly why: 'idle-long-enough' }
  | { readonly task: TaskSight; readonly kind: 'keep'; readonly why: 'idle-too-briefly' };

/**
 * Decides for the daemons that are spare: only `working` tasks whose daemon is seen idle are asked, old
 * revisions first, then the longest idle. `idleTimeout` is inclusive.
 * @param spare tasks above every floor
 */
export function decideLeaving(sight: PoolSight, spare: number, now: EpochMs): readonly LeaveDecision[] {
  return sight.tasks
    .filter(({ state, use }) => state === 'working' && use === 'idle')
    .toSorted(
      by(
        ({ task }) => (task.taskDefinitionArn === sight.service?.taskDefinition ? 1 : 0),
        ({ idleSince }) => idleSince ?? Number.POSITIVE_INFINITY,
        ({ task }) => task.taskArn,
      ),
    )
    .slice(0, Math.max(0, spare))
    .map((task) =>
      idleMs(task, now) >= sight.pool.idleTimeoutMs
        ? { task, kind: 'leave', why: 'idle-long-enough' }
        : { task, kind: 'keep', why: 'idle-too-briefly' },
    );
}

function idleMs({ idleSince }: TaskSight, now: EpochMs): number {
  return idleSince === undefined ? Number.NEGATIVE_INFINITY : now - idleSince;
}
