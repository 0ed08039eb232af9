import { Aspects, Aws, CfnResource, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { type IRole, ManagedPolicy, PolicyDocument, type PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct, IConstruct } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { allOf, allow, ownService, permit, writeLogs } from '../shared/iam.ts';
import { acknowledgeAll, acknowledgeWildcards } from '../shared/nag.ts';
import { readSecrets, secretKeys } from '../shared/secrets.ts';

export type TaskRoleProps = {
  readonly cluster: ICluster;
  readonly pool: DeployedPool;
  /** Whether the role of new tasks can change the protection of tasks of their own pool only. */
  readonly isBound: boolean;
};

/**
 * The task role of a pool: it allows a task to protect tasks of its cluster, and what you add for
 * Terraform. An existing role is not changed. It must trust ecs-tasks.amazonaws.com and allow what
 * `protectTasks` allows.
 *
 * A policy change affects running tasks at once, and these may have no tags. So the condition on
 * tags comes with a second role, and the first role stays as it is for the running tasks. The
 * second role is retained: a rollback must not delete it while tasks use it.
 */
export function taskRole(scope: Construct, props: TaskRoleProps): IRole {
  const { taskRole: setting } = props.pool;
  if (setting.kind === 'existing')
    return Role.fromRoleArn(scope, 'TaskRole', setting.arn, { mutable: false });
  const role = ownRole(scope, 'TaskRole', { ...props, isBound: false });
  if (!props.isBound) return role;
  const bound = ownRole(scope, 'BoundTaskRole', props);
  bound.applyRemovalPolicy(RemovalPolicy.RETAIN);
  Aspects.of(bound).add({ visit: retainPolicy });
  return bound;
}

/** Retains the policy of what a CDK app grants to the role, as the role itself. */
function retainPolicy(node: IConstruct): void {
  if (CfnResource.isCfnResource(node) && node.cfnResourceType === 'AWS::IAM::Policy')
    node.applyRemovalPolicy(RemovalPolicy.RETAIN);
}

function ownRole(scope: Construct, id: string, { cluster, pool, isBound }: TaskRoleProps): Role {
  const { policies } = pool.taskRole as OwnTaskRole;
  const allowed = protectTasks(scope, cluster, isBound ? pool.name : undefined);
  const role = new Role(scope, id, {
    description: `Terraform in the provisioner daemons of pool ${pool.name}`,
    assumedBy: ownService(scope, 'ecs-tasks.amazonaws.com'),
    managedPolicies: policies.map((arn, index) =>
      ManagedPolicy.fromManagedPolicyArn(scope, `${isBound ? 'Bound' : ''}TaskPolicy${index + 1}`, arn),
    ),
    // Inline, so that they are retained with the role.
    ...(isBound && { inlinePolicies: { Task: new PolicyDocument({ statements: allowed }) } }),
  });
  if (!isBound) permit(role, allowed);
  acknowledgeWildcards(role, {
    resource: allOf('task', scope, cluster),
    reason:
      'ECS makes the task id when a task starts, so a task may protect all tasks of this cluster, including itself',
  });
  acknowledgeAll(
    role,
    `Written by the operator for Terraform: taskRole of pool ${pool.name}`,
    ...policies.map((arn) => `AwsSolutions-IAM4[Policy::${arn}]`),
  );
  return role;
}

type OwnTaskRole = Extract<DeployedPool['taskRole'], { readonly kind: 'own' }>;

/**
 * A task protects itself against scale-in while it may have a job. IAM has no condition for "this
 * task", so the statement covers all tasks of the cluster or pool (docs/internals/aws.md §1, IAM).
 */
function protectTasks(scope: Construct, cluster: ICluster, onlyOf: string | undefined): PolicyStatement[] {
  const tasks = allOf('task', scope, cluster);
  const [look, change] = ['ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'];
  if (onlyOf === undefined) return [allow([look, change], tasks)];
  const tags = Object.entries(taskTags(scope, onlyOf)).map(([tag, value]) => [
    `aws:ResourceTag/${tag}`,
    value,
  ]);
  return [allow(look, tasks), allow(change, tasks, { StringEquals: Object.fromEntries(tags) })];
}

/** The tags of a pool's tasks. A pool name is unique only within its stack, so both tags are needed. */
export function taskTags(scope: Construct, pool: string): Record<string, string> {
  return { [POOL_TAG]: pool, [STACK_TAG]: Stack.of(scope).stackName };
}

export type ExecutionRoleProps = {
  readonly pool: DeployedPool;
  readonly logGroup: ILogGroup;
  readonly secrets: readonly ISecret[];
  /** Whether the role may pull GuardDuty's agent. */
  readonly guardDuty: boolean;
};

/**
 * The role with which ECS starts tasks of a pool: read its secrets, write its logs and pull its
 * image from ECR.
 */
export function executionRole(scope: Construct, props: ExecutionRoleProps): Role {
  const { pool, logGroup, secrets, guardDuty } = props;
  const role = new Role(scope, 'ExecutionRole', {
    description: `Starts the provisioner daemons of pool ${pool.name}`,
    assumedBy: ownService(scope, 'ecs-tasks.amazonaws.com'),
  });
  permit(
    role,
    [
      ...readSecrets(secrets),
      writeLogs(logGroup),
      ...pullImage(pool.image),
      ...(guardDuty ? pull(AGENT) : []),
    ],
    [
      {
        resource: secretKeys(),
        reason:
          'A secret may have its own KMS key, which is not known here. The role can use it only through Secrets Manager and only for the secrets in the encryption context',
      },
      { resource: '*', reason: 'ecr:GetAuthorizationToken has no resource level' },
      { resource: AGENT, reason: 'AWS has an account for this repository in each Region' },
      {
        resource: logGroup.logGroupArn,
        reason: 'The log streams of this log group. ECS names them after the tasks',
      },
    ],
  );
  return role;
}

/** `123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder/provisioner:v2.30.0` */
const ECR_IMAGE = /^(\d{12})\.dkr\.ecr(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/([^:@]+)/;

/** Empty for a public registry, which needs no permission. */
function pullImage(image: string): PolicyStatement[] {
  const [, account, region, repository] = ECR_IMAGE.exec(image) ?? [];
  if (repository === undefined) return [];
  return pull(`arn:${Aws.PARTITION}:ecr:${region}:${account}:repository/${repository}`);
}

/** docs/internals/aws.md §2 */
const AGENT = `arn:${Aws.PARTITION}:ecr:${Aws.REGION}:*:repository/aws-guardduty-agent-fargate`;

function pull(repository: string): PolicyStatement[] {
  return [
    // The action has no resource level.
    allow('ecr:GetAuthorizationToken', '*'),
    allow(['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'], repository),
  ];
}
