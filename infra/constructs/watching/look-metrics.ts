/** The metrics that the function publishes, as CDK metrics for the alarms and the dashboard. */
import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  METRICS_NAMESPACE,
  type MetricName,
  type PoolMetricName,
  type STUCK_METRIC,
  type TOKEN_METRIC,
} from '../../../lambda/telemetry/metric-names.ts';

/** A minute may have several looks. `SampleCount` counts them. */
export type Statistic = 'Minimum' | 'Maximum' | 'Sum' | 'SampleCount';

export type LookMetric = {
  /** The value of the dimension `service`, which identifies the deployment. */
  readonly service: string;
  readonly name: MetricName | typeof TOKEN_METRIC | typeof STUCK_METRIC;
  readonly statistic: Statistic;
  /** @default the metric's name */
  readonly label?: string;
  /** @default one minute */
  readonly period?: Duration;
};

export function lookMetric({ service, name, statistic, label, period }: LookMetric): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: name,
    dimensionsMap: { service },
    statistic,
    period: period ?? Duration.minutes(1),
    label: label ?? name,
  });
}

export type PoolMetric = { readonly service: string; readonly name: PoolMetricName; readonly pool: string };

export function poolMetric({ service, name, pool }: PoolMetric): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: name,
    dimensionsMap: { service, pool },
    statistic: 'Maximum',
    period: Duration.minutes(1),
    label: pool,
  });
}
