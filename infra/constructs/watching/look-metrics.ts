/** The metrics that the function publishes, as CDK metrics for the alarms. */
import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import {
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  LOST_METRIC,
  METRICS_NAMESPACE,
  type MetricName,
  type RareMetricName,
  STUCK_METRIC,
  TOKEN_METRIC,
  type WaitMetricName,
} from '../../../lambda/telemetry/metric-names.ts';

/**
 * The metrics of a deployment: ten that each look writes, and those that are written on occasion:
 * for problems, and when jobs start (`WAIT_METRICS`).
 */
export type AutoscalerMetric = MetricName | RareMetricName | WaitMetricName;

/** A minute may have several looks. `SampleCount` counts them. */
export type Statistic = 'Minimum' | 'Maximum' | 'Sum' | 'SampleCount';

/** What matters of the looks of a minute. */
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

/** A metric of the deployment `service`, which is called after itself. */
export function lookMetric(service: string, name: AutoscalerMetric, options: MetricOptions = {}): Metric {
  return publishedMetric({ service }, name, STATISTICS[name]).with({ label: name, ...options });
}

/** Dimensions of a metric: the deployment, and the pool if the metric is about one. */
type Dimensions = { readonly service: string; readonly pool?: string };

/** A metric with a period of one minute and without a label: CloudWatch shows its name. */
export function publishedMetric(dimensions: Dimensions, name: string, statistic: Statistic): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: name,
    dimensionsMap: { ...dimensions },
    statistic,
    period: Duration.minutes(1),
  });
}
