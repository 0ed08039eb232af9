/** Tasks of old revisions and of earlier deployments. */
import type { Service, Task } from '../model/snapshot.ts';

/** Of another task definition than the service's, or of a deployment that ECS is replacing or has replaced. */
export function isOldRevision(task: Task, service: Service): boolean {
  const { taskDefinition } = service;
  if (taskDefinition !== undefined && task.taskDefinitionArn !== taskDefinition) return true;
  // without an early success, tasks of several deployments that stay after the last one are what a rollback leaves
  return isOlder(task, service) && (service.deployments.length > 1 || succeedsEarly(service));
}

/** Whether an earlier deployment than the primary one started it. */
function isOlder({ startedBy }: Task, service: Service): boolean {
  const primary = primaryOf(service)?.id;
  return primary !== undefined && startedBy !== undefined && startedBy !== primary;
}

/** Whether its deployments may end while old tasks are still there. */
function succeedsEarly({ deploymentConfiguration }: Service): boolean {
  return deploymentConfiguration?.earlySuccessCriteria?.enable === true;
}

function primaryOf({ deployments }: Service): Service['deployments'][number] | undefined {
  return deployments.find(({ status }) => status === 'PRIMARY');
}

export type OlderTasks = {
  /** Tasks that an earlier deployment started: ECS is replacing them, or removes them after an early success. */
  readonly older: number;
  /** Of these: those that ECS does not count against the desired count. */
  readonly uncounted: number;
};

/**
 * Counts the tasks of earlier deployments. After an early success AWS does not say whether they count against the desired count.
 * ECS never starts more tasks than it counts, so more tasks than desired tell that it does not count them; unless there are
 * more new ones alone, which only a count that somebody else lowered explains (docs/adr/0026).
 */
export function countOlder(tasks: readonly Task[], service: Service): OlderTasks {
  const older = tasks.filter((task) => isOlder(task, service) && isOldRevision(task, service)).length;
  const { desiredCount } = service;
  const isOver = primaryOf(service)?.rolloutState === 'COMPLETED';
  const isUncounted = isOver && tasks.length > desiredCount && tasks.length - older <= desiredCount;
  return { older, uncounted: isUncounted ? older : 0 };
}
