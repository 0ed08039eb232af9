/** The metrics that the function publishes, as CDK metrics for the alarms. */
import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS_NAMESPACE } from '../../../lambda/telemetry/metric-names.ts';
import { type AutoscalerMetric, STATISTICS, type Statistic } from '../../../lambda/telemetry/statistics.ts';

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
