import { CfnResource, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import {
  AvailabilityZoneRebalancing,
  type CapacityProviderStrategy,
  CfnService,
  FargateService,
  type ICluster,
  PropagatedTagSource,
} from 'aws-cdk-lib/aws-ecs';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct, type IDependable } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import {
  LOG_GROUP_TAG,
  ORGANIZATION_TAG,
  POOL_TAG,
  SCALE_IN_TAG,
  STACK_TAG,
} from '../../../lambda/decision/model/service-tags.ts';
import { type LogSettings, logGroup } from '../shared/log-group.ts';
import type { Network } from '../shared/network.ts';
import { PoolTask } from './pool-task.ts';

export type PoolServiceProps = {
  readonly network: Network;
  readonly cluster: ICluster;
  /** From then on tasks can start in that network and cluster. */
  readonly ready: IDependable;
  readonly coderUrl: string;
  readonly pool: DeployedPool;
  /** Whether a deployment ends while old tasks are still there. */
  readonly earlySuccess: boolean;
  /** The text of guard.sh. */
  readonly guard: string;
  /** PEM text: whom the tasks trust for coderd beside their image's own authorities. */
  readonly caBundle?: string | undefined;
  readonly logs: LogSettings;
  /** Whether the tasks' role is bound to their own pool. */
  readonly bindTaskRoles: boolean;
  /** Where the autoscaler logs: `autoscaler status` finds its last look there. */
  readonly autoscalerLogGroup: ILogGroup;
};

/** One pool: a task definition that holds one provisioner daemon, and the ECS service that the autoscaler sizes. */
export class PoolService extends Construct {
  readonly service: FargateService;

  constructor(scope: Construct, id: string, props: PoolServiceProps) {
    super(scope, id);
    const { network, cluster, ready, pool, autoscalerLogGroup } = props;
    const task = new PoolTask(this, 'Task', { ...props, logGroup: logGroup(this, props.logs) });
    this.service = new FargateService(this, 'Service', {
      cluster,
      taskDefinition: task.definition,
      // no desiredCount: the count is the autoscaler's, and CloudFormation would set it back on each update;
      // no serviceName and no launchType: to change them would replace the service (docs/aws.md §7)
      capacityProviderStrategies: capacityProviders(pool),
      // old tasks leave before new ones come: with both at once the counts run away (docs/architecture.md, "The lease")
      minHealthyPercent: 0,
      maxHealthyPercent: 100,
      // it stops tasks, and is on unless switched off (docs/aws.md §1)
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.DISABLED,
      circuitBreaker: { rollback: true },
      // tasks are what Fargate bills; of the service's own tags they need none but those of the task definition
      propagateTags: PropagatedTagSource.TASK_DEFINITION,
      vpcSubnets: network.subnets,
      securityGroups: network.securityGroups,
    });
    // the first task starts with the service: by then the cluster must have the capacity provider, the task
    // a way to the registry and the permission to read its secrets, or the circuit breaker trips
    this.service.node.addDependency(ready, task.executionRole);
    if (props.earlySuccess) {
      succeedEarly(this.service);
      retainRights(task);
    }
    const tags = {
      [POOL_TAG]: pool.name,
      [LOG_GROUP_TAG]: autoscalerLogGroup.logGroupName,
      [STACK_TAG]: Stack.of(this).stackName,
      [ORGANIZATION_TAG]: pool.organization,
      [SCALE_IN_TAG]: pool.scaleIn,
    };
    for (const [key, value] of Object.entries(tags))
      Tags.of(this.service).add(key, value, { includeResourceTypes: ['AWS::ECS::Service'] });
  }
}

/** One healthy task ends a deployment: until then the circuit breaker goes back, and old builds hold nothing up (docs/adr/0026). */
function succeedEarly(service: FargateService): void {
  // CDK's construct has no property for it yet
  for (const child of service.node.children)
    if (child instanceof CfnService)
      child.addPropertyOverride('DeploymentConfiguration.EarlySuccessCriteria', {
        Enable: true,
        HealthyPercent: 1,
        SourceServiceRevisionCleanup: 'DEFERRED',
      });
}

const RIGHTS = new Set(['AWS::IAM::Role', 'AWS::IAM::Policy']);

/** CloudFormation removes what the template no longer has as soon as a deployment ends, and guards of old tasks still renew then. */
function retainRights(task: PoolTask): void {
  for (const child of task.node.findAll())
    if (CfnResource.isCfnResource(child) && RIGHTS.has(child.cfnResourceType))
      child.applyRemovalPolicy(RemovalPolicy.RETAIN);
}

/** Of a Spot pool so many tasks as its base run on demand: a floor that AWS doesn't take back. */
function capacityProviders({ spot, spotBase }: DeployedPool): CapacityProviderStrategy[] {
  if (!spot) return [{ capacityProvider: 'FARGATE', weight: 1 }];
  const spotProvider = { capacityProvider: 'FARGATE_SPOT', weight: 1 };
  return spotBase > 0
    ? [{ capacityProvider: 'FARGATE', base: spotBase, weight: 0 }, spotProvider]
    : [spotProvider];
}
