/** The metrics that the function publishes, as CDK metrics for the alarms and the dashboard. */
import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  METRICS_NAMESPACE,
  type MetricName,
  type PoolMetricName,
  type RareMetricName,
  type WaitMetricName,
} from '../../../lambda/telemetry/metric-names.ts';

/** A minute may have several looks. `SampleCount` counts them. */
export type Statistic = 'Minimum' | 'Maximum' | 'Sum' | 'SampleCount';

export type LookMetric = {
  /** The value of the dimension `service`, which identifies the deployment. */
  readonly service: string;
  readonly name: MetricName | RareMetricName | WaitMetricName;
  readonly statistic: Statistic;
  /** @default the metric's name */
  readonly label?: string;
  /** @default one minute */
  readonly period?: Duration;
};

export function lookMetric({ service, name, statistic, label, period }: LookMetric): Metric {
  return publishedMetric({ service }, name, statistic).with({
    label: label ?? name,
    ...(period !== undefined && { period }),
  });
}

export type PoolMetric = { readonly service: string; readonly name: PoolMetricName; readonly pool: string };

export function poolMetric({ service, name, pool }: PoolMetric): Metric {
  return publishedMetric({ service, pool }, name, 'Maximum').with({ label: pool });
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
