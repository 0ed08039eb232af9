/** Decides when ECS accepts a task protection (docs/internals/aws.md §1). */
import type { CleanupReading } from './rollout.ts';

/** Which calls are refused if too many tasks are protected: AWS leaves it open (docs/internals/aws.md §1). */
export type DeploymentBlocked =
  /** Only new protections. */
  | 'new-only'
  /** Renewals and drain requests as well. */
  | 'all'
  /** None. */
  | 'off';

/** For which tasks a blocked deployment refuses calls. AWS's text leaves that open too. */
export type BlockedTasks = 'all' | 'old-revision';

export type ProtectionFailure = 'DEPLOYMENT_BLOCKED' | 'MISSING' | 'TASK_NOT_VALID';

/** What an ECS can do otherwise than `autoscaler prove` assumes. */
export const WRONG_ECS = [
  /** It stops protected tasks. */
  'protection',
  /** It stops them once a scale-in is 10 minutes old. */
  'protection-10min',
  /** It stops them once a deployment is 5 minutes old. */
  'protection-deployment',
  /** It keeps the later end of a protection. */
  'end',
  /** An earlier end removes the protection. */
  'end-removed',
  'end-2h',
  'end-1min',
  /** An earlier end becomes one of 2 h, and the answer names the one that was asked for. */
  'end-answer',
  /** No guard can protect its task. */
  'lease',
  /** It refuses the condition of bound roles: no task with one can protect itself. */
  'bound-role',
  /** No guard can renew its lease; calls from outside can. */
  'lease-renewal',
  /** No guard sees that its protection has changed. */
  'request',
  /** It refuses a renewal with another reason than DEPLOYMENT_BLOCKED. */
  'renewal',
  'renewal-missing',
  /** GetTaskProtection answers with failures. */
  'protection-reads',
  /** A forced deployment never starts. */
  'deployment',
  /** DescribeServices shows only the newest deployment. */
  'deployment-reads',
  /** `stoppingAt` is the time of the choice, not that of the signal. */
  'stopping-at',
] as const;
export type WrongEcs = (typeof WRONG_ECS)[number];

/** What an earlier end becomes, in minutes; 0: there is no protection. */
export const EARLIER_ENDS: Readonly<Partial<Record<WrongEcs, number>>> = {
  'end-removed': 0,
  'end-2h': 120,
  'end-1min': 1,
  'end-answer': 120,
};

/** How a renewal is refused. */
export const WRONG_REFUSALS: Readonly<Partial<Record<WrongEcs, ProtectionFailure>>> = {
  renewal: 'TASK_NOT_VALID',
  'renewal-missing': 'MISSING',
};

export const DEFAULT_MINUTES = 120;
export const MAX_MINUTES = 2880;

type Protectable = { readonly isProtected: boolean; readonly startedBy: string };

export type ServiceView = {
  readonly desiredCount: number;
  readonly primaryId: string;
  /** The service's tasks whose desired status is RUNNING. */
  readonly tasks: Iterable<Protectable>;
  /** After an early success: whether old tasks block and count. Absent: there is none. */
  readonly cleanup?: CleanupReading | undefined;
};

export type RuleReading = {
  readonly calls: DeploymentBlocked;
  readonly tasks: BlockedTasks;
  /** What holds after an early success, if deployments may succeed early. */
  readonly cleanup?: CleanupReading;
};

/** Because of more protected tasks than desired ones, or of protected old tasks that block a deployment. */
export function isBlocked(task: Protectable, service: ServiceView, reading: RuleReading): boolean {
  if (reading.calls === 'off' || (reading.calls === 'new-only' && task.isProtected)) return false;
  // Tasks of another deployment exist only while a deployment is open.
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
