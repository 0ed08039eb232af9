import { CfnResource, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Connections, ISecurityGroup, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import {
  AvailabilityZoneRebalancing,
  type CapacityProviderStrategy,
  CfnService,
  FargateService,
  type FargateTaskDefinition,
  PropagatedTagSource,
} from 'aws-cdk-lib/aws-ecs';
import type { IPrincipal, IRole } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct, type IConstruct, type IDependable } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import {
  LOG_GROUP_TAG,
  ORGANIZATION_TAG,
  POOL_TAG,
  SCALE_IN_TAG,
  STACK_TAG,
} from '../../../lambda/decision/model/service-tags.ts';
import type { PoolMetricName } from '../../../lambda/telemetry/metric-names.ts';
import { StackError } from '../shared/errors.ts';
import { type LogSettings, logGroup } from '../shared/log-group.ts';
import { publishedMetric } from '../watching/look-metrics.ts';
import { PoolTask, type PoolTaskProps } from './pool-task.ts';
import type { ProvisionerPool } from './provisioner-pool.ts';

export type PoolServiceProps = Omit<PoolTaskProps, 'logGroup'> & {
  readonly network: { readonly subnets: SubnetSelection; readonly securityGroups: ISecurityGroup[] };
  /** Tasks can start once these resources exist. */
  readonly ready: IDependable;
  /** Whether a deployment ends while old tasks are still there. */
  readonly earlySuccess: boolean;
  readonly logs: LogSettings;
  /** The log group of the function, where `autoscaler status` reads the last look. */
  readonly autoscalerLogGroup: ILogGroup;
  /** Whether the function publishes metrics for each pool. */
  readonly perPoolMetrics: boolean;
};

/**
 * One pool: a task definition with one provisioner daemon, and the ECS service that the autoscaler
 * scales.
 */
export class PoolService extends Construct implements ProvisionerPool {
  readonly poolName: string;
  readonly service: FargateService;
  readonly taskDefinition: FargateTaskDefinition;
  readonly executionRole: IRole;
  readonly logGroup: ILogGroup;
  readonly #props: PoolServiceProps;

  constructor(scope: Construct, id: string, props: PoolServiceProps) {
    super(scope, id);
    const { network, cluster, ready, pool, autoscalerLogGroup } = props;
    this.#props = props;
    this.poolName = pool.name;
    this.logGroup = logGroup(this, props.logs);
    const task = new PoolTask(this, 'Task', { ...props, logGroup: this.logGroup });
    this.taskDefinition = task.definition;
    this.executionRole = task.executionRole;
    this.service = new FargateService(this, 'Service', {
      cluster,
      taskDefinition: task.definition,
      // No desiredCount: the autoscaler sets it, and CloudFormation would reset it on each update.
      // No serviceName and no launchType: a change of them would replace the service
      // (docs/internals/aws.md §7).
      capacityProviderStrategies: capacityProviders(pool),
      // Old tasks stop before new ones start. With both at once the counts would grow without limit
      // (docs/internals/architecture.md, "The lease").
      minHealthyPercent: 0,
      maxHealthyPercent: 100,
      // Rebalancing stops tasks, and it is on by default (docs/internals/aws.md §1).
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.DISABLED,
      circuitBreaker: { rollback: true },
      // Fargate bills tasks, so they need the tags of the task definition for cost allocation. They
      // do not need the service's own tags.
      propagateTags: PropagatedTagSource.TASK_DEFINITION,
      vpcSubnets: network.subnets,
      securityGroups: network.securityGroups,
    });
    // The first task starts with the service. By then the cluster needs its capacity provider, and
    // the task needs a route to the registry and permission to read its secrets. Otherwise the
    // circuit breaker trips.
    this.service.node.addDependency(ready, task.executionRole);
    if (props.managedKey) this.service.node.addDependency(props.managedKey.ready);
    for (const child of this.service.node.children)
      if (child instanceof CfnService) override(child, props.earlySuccess);
    if (props.earlySuccess) retainPermissions(task);
    const tags = {
      [POOL_TAG]: pool.name,
      [LOG_GROUP_TAG]: autoscalerLogGroup.logGroupName,
      [STACK_TAG]: Stack.of(this).stackName,
      [ORGANIZATION_TAG]: pool.organization,
      [SCALE_IN_TAG]: 'lease',
    };
    for (const [key, value] of Object.entries(tags))
      Tags.of(this.service).add(key, value, { includeResourceTypes: ['AWS::ECS::Service'] });
  }

  get taskRole(): IRole {
    return this.taskDefinition.taskRole;
  }

  get connections(): Connections {
    return this.service.connections;
  }

  get grantPrincipal(): IPrincipal {
    const { taskRole } = this.#props.pool;
    if (taskRole.kind === 'own') return this.taskRole.grantPrincipal;
    // CDK would drop the grant without a word.
    throw new StackError(
      `cannot grant to pool ${this.poolName}: its taskRole.arn is the existing role ${taskRole.arn}, which this stack does not change; grant to that role instead, or remove taskRole.arn`,
    );
  }

  metricPendingJobs(options?: MetricOptions): Metric {
    return this.#metric('PendingJobs', options);
  }

  metricBusyDaemons(options?: MetricOptions): Metric {
    return this.#metric('BusyDaemons', options);
  }

  metricDesiredTasks(options?: MetricOptions): Metric {
    return this.#metric('DesiredTasks', options);
  }

  #metric(name: PoolMetricName, options: MetricOptions = {}): Metric {
    // An alarm on a metric without data would never go off.
    if (!this.#props.perPoolMetrics)
      throw new StackError(
        `cannot use the metric ${name} of pool ${this.poolName}: aws.metrics.perPool is false, so the function does not publish it; set aws.metrics.perPool to true`,
      );
    const service = Stack.of(this).stackName;
    return publishedMetric({ service, pool: this.poolName }, name, 'Maximum').with(options).attachTo(this);
  }
}

function capacityProviders({ spot, instances }: DeployedPool): CapacityProviderStrategy[] {
  return [{ capacityProvider: spot ? 'FARGATE_SPOT' : (instances?.provider ?? 'FARGATE'), weight: 1 }];
}

/** What the service needs in CloudFormation and CDK's construct has no property for. */
function override(service: CfnService, earlySuccess: boolean): void {
  // Independent of the feature flags of the CDK app: three of them change the service, and
  // CloudFormation replaces a service that gains or loses a deployment controller: its tasks stop.
  service.addPropertyDeletionOverride('DeploymentController');
  service.addPropertyDeletionOverride('DeploymentConfiguration.Alarms');
  service.addPropertyOverride('LoadBalancers', []);
  if (!earlySuccess) return;
  // Ends a deployment with the first healthy task, so old builds do not delay it. Until then the
  // circuit breaker can roll back (docs/adr/0026).
  service.addPropertyOverride('DeploymentConfiguration.EarlySuccessCriteria', {
    Enable: true,
    HealthyPercent: 1,
    SourceServiceRevisionCleanup: 'DEFERRED',
  });
}

/**
 * Retains roles and policies. CloudFormation deletes what the template no longer has as soon as the
 * deployment ends, but guards of old tasks still have to renew their leases.
 */
function retainPermissions(task: IConstruct): void {
  for (const child of task.node.findAll())
    if (CfnResource.isCfnResource(child) && /^AWS::IAM::(Role|Policy)$/.test(child.cfnResourceType))
      child.applyRemovalPolicy(RemovalPolicy.RETAIN);
}
