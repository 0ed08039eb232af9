/** When ECS lets a task be protected (aws-facts §1). */

/** Which calls a service with too many protected tasks refuses: AWS's text leaves it open (aws-facts §1, design.md). */
export type DeploymentBlocked =
  /** Only tasks that are not protected yet. */
  | 'new-only'
  /** Renewals and asks as well. */
  | 'all'
  /** None. */
  | 'off';

export const DEFAULT_MINUTES = 120;
export const MAX_MINUTES = 2880;

type Protectable = { readonly isProtected: boolean; readonly startedBy: string | undefined };

type ServiceSight = {
  readonly desiredCount: number;
  readonly primaryId: string;
  /** The service's tasks whose desired status is RUNNING. */
  readonly tasks: Iterable<Protectable>;
};

/**
 * Whether the service refuses to protect the task: it has more protected tasks than its desired count, or protected tasks of an
 * old revision hold a deployment open.
 */
export function isBlocked(task: Protectable, service: ServiceSight, reading: DeploymentBlocked): boolean {
  if (reading === 'off' || (reading === 'new-only' && task.isProtected)) return false;
  let held = 0;
  // a task of another deployment than the primary one is there only as long as a deployment is open
  for (const { isProtected, startedBy } of service.tasks) {
    if (!isProtected) continue;
    held++;
    if (startedBy !== service.primaryId) return true;
  }
  return held > service.desiredCount;
}
