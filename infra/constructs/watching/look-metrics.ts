/** The metrics that the function emits, as alarms and dashboard read them. */
import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  METRICS_NAMESPACE,
  type MetricName,
  type PoolMetricName,
  type STUCK_METRIC,
  type TOKEN_METRIC,
} from '../../../lambda/telemetry/metric-names.ts';

/** Several looks fall into a minute. `SampleCount` counts them. */
export type Statistic = 'Minimum' | 'Maximum' | 'Sum' | 'SampleCount';

export type LookMetric = {
  /** Of the deployment: the value of the dimension `service`. */
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
