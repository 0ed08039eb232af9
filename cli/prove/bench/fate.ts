/** What has become of a task. A task that is missing, or that something else stopped, is evidence of nothing. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { lastPart } from '../../../lambda/decision/model/brands.ts';
import type { ServiceEvent, Task } from '../../../lambda/decision/model/snapshot.ts';

/** `leaseMs`: what is left of its protection, 0 without one; undefined: GetTaskProtection does not tell. */
export type Seen = Task & { readonly leaseMs: number | undefined };

/**
 * `chosen`: the scheduler stops it for a scale-in or a deployment. `untold`: it is to stop, and ECS does not
 * say why yet. `lost`: something else stopped it, or ECS knows it no more.
 */
type Fate = 'kept' | 'chosen' | 'untold' | 'lost';

/** docs/internals/aws.md §1 */
const SCALING = 'Scaling activity initiated by';

export function fateOf(task: Seen | undefined): Fate {
  if (task === undefined) return 'lost';
  if (task.desiredStatus !== 'STOPPED') return 'kept';
  if (task.stopCode === undefined) return 'untold';
  const isScaling = task.stoppedReason === undefined || task.stoppedReason.startsWith(SCALING);
  return task.stopCode === 'ServiceSchedulerInitiated' && isScaling ? 'chosen' : 'lost';
}

export function lossText(task: Seen | undefined): string {
  if (task === undefined) return 'ECS knows its task no more (MISSING), which proves nothing';
  const { stopCode = 'no stop code yet', stoppedReason = '' } = task;
  return `something else stopped its task: ${stopCode} ${stoppedReason}`.trim();
}

/** The earliest time at which AWS shows that it chose the task to stop; all are times of AWS. */
export function choiceAt(
  task: Seen,
  { seenAt, events }: { readonly seenAt: EpochMs; readonly events: readonly ServiceEvent[] },
): number {
  const told = events.find(
    ({ message }) => / has stopped \d/.test(message) && message.includes(lastPart(task.taskArn)),
  );
  return Math.min(seenAt, task.stoppingAt ?? Infinity, told?.createdAt ?? Infinity);
}
