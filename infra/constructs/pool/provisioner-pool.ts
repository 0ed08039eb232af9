import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { IConnectable } from 'aws-cdk-lib/aws-ec2';
import type { FargateService, FargateTaskDefinition } from 'aws-cdk-lib/aws-ecs';
import type { IGrantable, IRole } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';

/**
 * One pool of an autoscaler.
 *
 * A grant to a pool is a grant to its task role: `bucket.grantReadWrite(pool)` allows Terraform in
 * the builds of this pool to use the bucket. The builds that run already may do so as soon as the
 * deployment has changed the role. With `taskRole.arn` the stack does not change the role, and a
 * grant to the pool throws a StackError.
 *
 * Its `connections` are the security groups of its tasks. All pools and the function share them.
 */
export interface ProvisionerPool extends IConstruct, IGrantable, IConnectable {
  /** The name of the pool in the settings. */
  readonly poolName: string;
  /** The ECS service. The autoscaler sets its desired count: do not set it, or let others scale it. */
  readonly service: FargateService;
  /** The task definition: one container named `provisioner`. */
  readonly taskDefinition: FargateTaskDefinition;
  /** The role of Terraform in the builds: the stack's own, or the existing one of `taskRole.arn`. */
  readonly taskRole: IRole;
  /** The role with which ECS starts tasks: it reads the pool's secrets and pulls the image. */
  readonly executionRole: IRole;
  /** The log group of the tasks. */
  readonly logGroup: ILogGroup;

  /**
   * The number of pending jobs that this pool can run. Period: 1 minute, statistic: the maximum.
   * Throws a StackError unless `aws.metrics.perPool` is true.
   */
  metricPendingJobs(options?: MetricOptions): Metric;
  /**
   * The number of daemons of this pool that run a job. Period: 1 minute, statistic: the maximum.
   * Throws a StackError unless `aws.metrics.perPool` is true.
   */
  metricBusyDaemons(options?: MetricOptions): Metric;
  /**
   * The desired count of this pool, in tasks. Period: 1 minute, statistic: the maximum. Throws a
   * StackError unless `aws.metrics.perPool` is true.
   */
  metricDesiredTasks(options?: MetricOptions): Metric;
}
