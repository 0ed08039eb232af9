/** The names of the function's metrics, for the code that emits them and for alarms. */
import type { WaitPart } from '../look/waits/wait-parts.ts';

/** The stack sets it as `POWERTOOLS_METRICS_NAMESPACE`. */
export const METRICS_NAMESPACE = 'CoderProvisionerAutoscaler';
/**
 * What alarms need: each look emits one value per metric that it could read, with the dimension `service`: the name of
 * the deployment, which the stack sets as `POWERTOOLS_SERVICE_NAME`. CloudWatch charges about $0.30
 * a month for each, by the hours in which it gets a value.
 */
export const ALARM_METRICS = [
  /**
   * How long the oldest job waits for a daemon of a pool, in seconds, without prebuilds and jobs of pools that a
   * person has paused. For an hour after coderd has failed a job that
   * no daemon took, at least as long as that one had waited.
   */
  'OldestPendingAge',
  /** Unschedulable jobs. */
  'UnservedJobs',
  /**
   * Tasks that stopped before their daemon registered (last 10 minutes), and tasks that ECS cannot place. Without a
   * success since then, several failures count for as long as ECS lists them: about an hour.
   */
  'FailedStarts',
  /** Pools whose jobs wait because of `max` or `maxTasks`, unless all of them are prebuilds. */
  'PoolsAtMax',
  /**
   * Seconds since the last look with a full view, or since this instance of the function started. A look that can
   * judge no pool emits none, and "no-tick" counts it as no look.
   */
  'TickAge',
] as const;
/** Above these values the alarms call a look bad (infra/constructs/watching/alarm-rows.ts). */
export const BAD_ABOVE = {
  OldestPendingAge: 300,
  UnservedJobs: 0,
  FailedStarts: 0,
  PoolsAtMax: 0,
  TickAge: 300,
} as const satisfies Readonly<Record<(typeof ALARM_METRICS)[number], number>>;
/** Emitted by looks for which at least one of them is not zero. */
export const ACTIVITY_METRICS = [
  /** Jobs that wait for a daemon of a pool. */
  'PendingJobs',
  'BusyDaemons',
  'IdleDaemons',
  /** Desired tasks whose daemon has not registered yet. */
  'StartingDaemons',
  /** Tasks that this look requests from ECS. Each look counts them again until ECS lists them. */
  'Launches',
] as const;
type ActivityMetricName = (typeof ACTIVITY_METRICS)[number];
export type MetricName = (typeof ALARM_METRICS)[number] | ActivityMetricName;

/** Emitted only while the plan has the finding `token-expires`. */
export const TOKEN_METRIC = 'TokenDaysLeft';

/** Tasks that drain for too long. Emitted only if there are any. */
export const STUCK_METRIC = 'StuckTasks';

/** 1 while coderd's license is missing or in its grace period. Emitted only then. */
export const LICENSE_METRIC = 'LicenseProblem';

/** Builds that died with tasks that ECS still lists: for about an hour. Emitted only if there are any. */
export const DEAD_METRIC = 'DeadBuilds';

/** Jobs that coderd has failed because no daemon took them: for an hour. Emitted only if there are any. */
export const LOST_METRIC = 'LostJobs';

/** Pools whose desired count others keep changing. Emitted only if there are any. */
export const CONTESTED_METRIC = 'ContestedPools';

export type RareMetricName =
  | typeof TOKEN_METRIC
  | typeof STUCK_METRIC
  | typeof LICENSE_METRIC
  | typeof DEAD_METRIC
  | typeof LOST_METRIC
  | typeof CONTESTED_METRIC;

/** Below so many days the alarm token-expires rings. */
export const TOKEN_DAYS = 14;

/** The alarm on each metric, by the end of its name (infra/constructs/watching/alarm-rows.ts). */
export const ALARM_OF = {
  OldestPendingAge: 'job-waits',
  UnservedJobs: 'unserved-jobs',
  FailedStarts: 'starts-failing',
  PoolsAtMax: 'pool-at-max',
  TickAge: 'sight-lost',
  [STUCK_METRIC]: 'drain-stuck',
  [DEAD_METRIC]: 'builds-died',
  [CONTESTED_METRIC]: 'count-contested',
  [LICENSE_METRIC]: 'license-ends',
  [TOKEN_METRIC]: 'token-expires',
} as const satisfies Partial<Readonly<Record<MetricName | RareMetricName, string>>>;

/**
 * Seconds that the jobs which started since the last look had waited, by part (docs/waits.md).
 * Emitted only if the part is longer than zero. Few, because CloudWatch charges for each: some
 * parts of `WAIT_PARTS` share a metric, and pools have none. The log has all parts of each job.
 */
export const WAIT_METRICS = {
  WaitForLaunch: ['notNoticed', 'held', 'launching', 'notLaunched'],
  WaitForImagePull: ['imagePull'],
  WaitForTaskStart: ['provisioning', 'containerStart'],
  WaitForRegistration: ['registration'],
  WaitInQueue: ['queued'],
  WaitUnknown: ['unknown'],
} as const satisfies Readonly<Record<string, readonly WaitPart[]>>;
export type WaitMetricName = keyof typeof WAIT_METRICS;

/** With `aws.metrics.perPool`: one value per look and pool, with the dimensions `service` and `pool`. */
export const POOL_METRICS = ['PendingJobs', 'BusyDaemons', 'DesiredTasks'] as const;
export type PoolMetricName = (typeof POOL_METRICS)[number];
