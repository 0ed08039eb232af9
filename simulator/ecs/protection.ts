/** When ECS lets a task be protected (docs/aws.md §1). */

import type { CleanupReading } from './rollout.ts';

/** Which calls a service with too many protected tasks refuses: AWS's text leaves it open (docs/aws.md §1). */
export type DeploymentBlocked =
  /** Only tasks that are not protected yet. */
  | 'new-only'
  /** Renewals and asks as well. */
  | 'all'
  /** None. */
  | 'off';

/** Whose calls a deployment that is held open refuses: AWS's text leaves that open too. */
export type BlockedTasks = 'all' | 'old-revision';

export type ProtectionFailure = 'DEPLOYMENT_BLOCKED' | 'MISSING' | 'TASK_NOT_VALID';

export const DEFAULT_MINUTES = 120;
export const MAX_MINUTES = 2880;

type Protectable = { readonly isProtected: boolean; readonly startedBy: string | undefined };

type ServiceView = {
  readonly desiredCount: number;
  readonly primaryId: string;
  /** The service's tasks whose desired status is RUNNING. */
  readonly tasks: Iterable<Protectable>;
  /** Of a deployment that has succeeded early: whether its old tasks block and count. Absent: there is none. */
  readonly cleanup?: CleanupReading | undefined;
};

/** How AWS's text is read. */
export type Reading = {
  readonly calls: DeploymentBlocked;
  readonly tasks: BlockedTasks;
  /** Where deployments may succeed early: what holds then. */
  readonly cleanup?: CleanupReading;
};

/**
 * Whether the service refuses to protect the task: it has more protected tasks than its desired count, or protected tasks of an
 * old revision hold a deployment open.
 */
export function isBlocked(task: Protectable, service: ServiceView, reading: Reading): boolean {
  if (reading.calls === 'off' || (reading.calls === 'new-only' && task.isProtected)) return false;
  // a task of another deployment than the primary one is there only as long as a deployment is open
  const isOld = ({ startedBy }: Protectable): boolean => startedBy !== service.primaryId;
  const minds = service.cleanup?.blocks !== false && (reading.tasks === 'all' || isOld(task));
  let held = 0;
  for (const other of service.tasks) {
    if (!other.isProtected) continue;
    if (service.cleanup?.counts !== false || !isOld(other)) held++;
    if (minds && isOld(other)) return true;
  }
  return held > service.desiredCount;
}
