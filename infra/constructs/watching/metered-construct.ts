import { Stack } from 'aws-cdk-lib';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import {
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  STUCK_METRIC,
  TOKEN_METRIC,
} from '../../../lambda/telemetry/metric-names.ts';
import { StackError } from '../shared/errors.ts';
import { type AutoscalerMetric, publishedMetric, STATISTICS } from './look-metrics.ts';

/**
 * A construct with a method for each metric of its deployment. The default period is one minute,
 * and the default statistic is the maximum, unless the method says otherwise.
 */
export abstract class MeteredConstruct extends Construct {
  /**
   * One of the metrics of this deployment, with the period and the statistic of its own method. The
   * metrics of waits have none: their statistic is the sum, in seconds.
   * Throws a StackError for a wrong name.
   */
  metric(name: AutoscalerMetric, options: MetricOptions = {}): Metric {
    if (!Object.hasOwn(STATISTICS, name))
      throw new StackError(
        `cannot find the metric "${name}": there are only ${Object.keys(STATISTICS).join(', ')}; name one of them`,
      );
    const service = Stack.of(this).stackName;
    return publishedMetric({ service }, name, STATISTICS[name]).with(options).attachTo(this);
  }

  /** The number of pending jobs that a pool can run. */
  metricPendingJobs(options?: MetricOptions): Metric {
    return this.metric('PendingJobs', options);
  }

  /** How long the oldest of these jobs has been pending, in seconds. */
  metricOldestPendingAge(options?: MetricOptions): Metric {
    return this.metric('OldestPendingAge', options);
  }

  /** The number of unschedulable jobs: no pool can run them. */
  metricUnservedJobs(options?: MetricOptions): Metric {
    return this.metric('UnservedJobs', options);
  }

  /** The number of daemons that run a job. */
  metricBusyDaemons(options?: MetricOptions): Metric {
    return this.metric('BusyDaemons', options);
  }

  /** The number of daemons that are online and run no job. */
  metricIdleDaemons(options?: MetricOptions): Metric {
    return this.metric('IdleDaemons', options);
  }

  /** The number of desired tasks whose daemon has not registered yet. */
  metricStartingDaemons(options?: MetricOptions): Metric {
    return this.metric('StartingDaemons', options);
  }

  /**
   * The number of tasks that looks requested from ECS. Statistic: the sum. A task counts again in
   * each look until ECS lists it.
   */
  metricLaunches(options?: MetricOptions): Metric {
    return this.metric('Launches', options);
  }

  /**
   * The number of tasks that stopped before their daemon registered (last 10 minutes), and of tasks
   * that ECS cannot place.
   */
  metricFailedStarts(options?: MetricOptions): Metric {
    return this.metric('FailedStarts', options);
  }

  /** The number of pools whose jobs wait because of `max` or `maxTasks`. */
  metricPoolsAtMax(options?: MetricOptions): Metric {
    return this.metric('PoolsAtMax', options);
  }

  /**
   * The time since the last look that could read everything, in seconds. Statistic: the minimum. No
   * data means that no look ended.
   */
  metricTickAge(options?: MetricOptions): Metric {
    return this.metric('TickAge', options);
  }

  /**
   * The days until coderd's API token expires. Statistic: the minimum. The function writes it only
   * while there are fewer than 14.
   */
  metricTokenDaysLeft(options?: MetricOptions): Metric {
    return this.metric(TOKEN_METRIC, options);
  }

  /** The number of tasks that have drained for too long. The function writes it only if there are any. */
  metricStuckTasks(options?: MetricOptions): Metric {
    return this.metric(STUCK_METRIC, options);
  }

  /**
   * The number of builds that died with their tasks in about the last hour. The function writes it
   * only if there are any.
   */
  metricDeadBuilds(options?: MetricOptions): Metric {
    return this.metric(DEAD_METRIC, options);
  }

  /**
   * The number of pools whose desired count others keep changing. The function writes it only if
   * there are any.
   */
  metricContestedPools(options?: MetricOptions): Metric {
    return this.metric(CONTESTED_METRIC, options);
  }

  /**
   * 1 while coderd's license for external provisioner daemons is missing or in its grace period. The
   * function writes it only then.
   */
  metricLicenseProblem(options?: MetricOptions): Metric {
    return this.metric(LICENSE_METRIC, options);
  }
}
