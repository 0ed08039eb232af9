/** Tasks of old revisions and of earlier deployments. */
import type { EpochMs } from '../model/brands.ts';
import { partition } from '../model/collections.ts';
import type { Service, Task } from '../model/snapshot.ts';
import { HOUR_MS } from '../model/units.ts';
import type { FailingStarts, StartFailures } from './starts.ts';
import type { TaskView } from './task-state.ts';

/** Another task definition, or a deployment that ECS is replacing or has replaced. */
export function isOldRevision(task: Task, service: Service): boolean {
  const { taskDefinition } = service;
  if (taskDefinition !== undefined && task.taskDefinitionArn !== taskDefinition) return true;
  // without an early success, tasks of several deployments remain after the last one only if a
  // rollback left them
  return isOlder(task, service) && (service.deployments.length > 1 || succeedsEarly(service));
}

/** Whether a deployment before the primary one started the task. */
function isOlder({ startedBy }: Task, service: Service): boolean {
  const primary = primaryOf(service)?.id;
  return primary !== undefined && startedBy !== undefined && startedBy !== primary;
}

/** Whether the service's deployments may end while old tasks still run. */
function succeedsEarly({ deploymentConfiguration }: Service): boolean {
  return deploymentConfiguration?.earlySuccessCriteria?.enable === true;
}

function primaryOf({ deployments }: Service): Service['deployments'][number] | undefined {
  return deployments.find(({ status }) => status === 'PRIMARY');
}

export type OlderTasks = {
  /** Of an earlier deployment: ECS replaces them, or removes them after an early success. */
  readonly older: number;
  /** Older tasks that ECS does not count against the desired count. */
  readonly uncounted: number;
};

/**
 * Counts the tasks of earlier deployments. AWS does not document whether they count against the
 * desired count after an early success. ECS never starts more tasks than it counts, so more tasks
 * than desired show that ECS does not count the older ones. Exception: the new tasks alone are more
 * than desired, which means that somebody lowered the count (docs/adr/0026). Another deployment may
 * begin meanwhile: it too ends early, so a count that includes them would launch as many again.
 */
export function countOlder(tasks: readonly Pick<TaskView, 'task'>[], service: Service): OlderTasks {
  const older = tasks.filter(({ task }) => isOlder(task, service) && isOldRevision(task, service)).length;
  const { desiredCount } = service;
  const mayBeOver = primaryOf(service)?.rolloutState === 'COMPLETED' || succeedsEarly(service);
  const isUncounted = mayBeOver && tasks.length > desiredCount && tasks.length - older <= desiredCount;
  return { older, uncounted: isUncounted ? older : 0 };
}

/**
 * Failing, too, are starts while old tasks hold leases, no new task has one, and one has waited for its own in
 * vain in the last hour: ECS may refuse all until the old ones have left (docs/internals/aws.md §1).
 */
export function withShutOut(failing: StartFailures, pool: ShutOutInput): FailingStarts {
  if (!isShutOut(failing, pool)) return { ...failing, isShutOut: false };
  return { ...failing, isShutOut: true, isTripped: true, isPaused: true, lacksLease: true, reason: SHUT_OUT };
}

function isShutOut({ refusedAt }: StartFailures, { tasks, service, hasGuards, now }: ShutOutInput): boolean {
  if (service === undefined || !hasGuards) return false;
  const [old, fresh] = partition(tasks, ({ task }) => isOldRevision(task, service));
  const holdsLease = ({ leaseMs = 0 }: TaskView): boolean => leaseMs > 0;
  const hasWaited = fresh.some(({ state, shouldHaveLease }) => state === 'starting' && shouldHaveLease);
  const isRefused = hasWaited || now - refusedAt < HOUR_MS;
  return isRefused && old.some(holdsLease) && !fresh.some(holdsLease);
}

const SHUT_OUT = 'old tasks hold leases, and new ones get none. ECS may refuse it until the old builds end';

type ShutOutInput = {
  readonly tasks: readonly TaskView[];
  readonly service: Service | undefined;
  /** Whether each new task starts with a guard, which waits for its lease. */
  readonly hasGuards: boolean;
  readonly now: EpochMs;
};
