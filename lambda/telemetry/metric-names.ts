/** The metrics of the function, by name: what emits them, and what alarms and draws by them. */

/** As the stack sets `POWERTOOLS_METRICS_NAMESPACE`. */
export const METRICS_NAMESPACE = 'CoderProvisionerAutoscaler';
/**
 * One value each a look, with the dimension `service`: the name of the deployment, which the stack
 * sets as `POWERTOOLS_SERVICE_NAME`. CloudWatch bills each about $0.30 a month, so there are ten.
 */
export const METRICS = [
  /** Jobs that wait for a daemon of a pool. */
  'PendingJobs',
  /** Of those: how long the oldest has waited, in seconds. */
  'OldestPendingAge',
  /** Jobs that nobody can run. */
  'UnservedJobs',
  'BusyDaemons',
  'IdleDaemons',
  /** Tasks that are desired and whose daemon has not registered yet. */
  'StartingDaemons',
  /** Tasks that this look's raises ask ECS for: again at each look until ECS shows them. */
  'Launches',
  /**
   * Tasks that stopped before their daemon registered, in the last 10 minutes, and tasks that ECS
   * cannot place.
   */
  'FailedStarts',
  /** Pools whose jobs wait because `max` or `maxTasks` holds them. */
  'PoolsAtMax',
  /**
   * Seconds since the last look that saw everything, or since this instance of the function
   * started.
   */
  'TickAge',
] as const;
export type MetricName = (typeof METRICS)[number];

/** Only while the finding `token-expires` is there. */
export const TOKEN_METRIC = 'TokenDaysLeft';

/** Tasks that drain and do not leave. Only while there are any. */
export const STUCK_METRIC = 'StuckTasks';

/**
 * With `aws.metrics.perPool`: one value each a look and pool, with the dimension `pool` beside
 * `service`.
 */
export const POOL_METRICS = ['PendingJobs', 'BusyDaemons', 'DesiredTasks'] as const;
export type PoolMetricName = (typeof POOL_METRICS)[number];
