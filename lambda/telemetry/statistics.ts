/** What matters of the looks of a minute, for each metric: the table of alarms and of the boards in examples/. */
import {
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  LOST_METRIC,
  type MetricName,
  type RareMetricName,
  STUCK_METRIC,
  TOKEN_METRIC,
  type WaitMetricName,
} from './metric-names.ts';

/**
 * The metrics of a deployment: ten that each look writes, and those that are written on occasion:
 * for problems, and when jobs start. docs/construct.md lists them.
 */
export type AutoscalerMetric = MetricName | RareMetricName | WaitMetricName;

/** A minute may have several looks. `SampleCount` counts them. */
export type Statistic = 'Minimum' | 'Maximum' | 'Sum' | 'SampleCount';

export const STATISTICS: Readonly<Record<AutoscalerMetric, Statistic>> = {
  PendingJobs: 'Maximum',
  OldestPendingAge: 'Maximum',
  UnservedJobs: 'Maximum',
  BusyDaemons: 'Maximum',
  IdleDaemons: 'Maximum',
  StartingDaemons: 'Maximum',
  Launches: 'Sum',
  FailedStarts: 'Maximum',
  PoolsAtMax: 'Maximum',
  TickAge: 'Minimum',
  [TOKEN_METRIC]: 'Minimum',
  [STUCK_METRIC]: 'Maximum',
  [LICENSE_METRIC]: 'Maximum',
  [DEAD_METRIC]: 'Maximum',
  [LOST_METRIC]: 'Maximum',
  [CONTESTED_METRIC]: 'Maximum',
  WaitForLaunch: 'Sum',
  WaitForImagePull: 'Sum',
  WaitForTaskStart: 'Sum',
  WaitForRegistration: 'Sum',
  WaitInQueue: 'Sum',
  WaitUnknown: 'Sum',
};
