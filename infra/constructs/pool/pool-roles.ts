import { Aws, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import {
  type IRole,
  ManagedPolicy,
  PolicyDocument,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { readSecrets, secretKeys } from '../shared/imported-secret.ts';
import { acknowledgeWildcards } from '../shared/wildcards.ts';

export type TaskRoleProps = {
  readonly cluster: ICluster;
  readonly pool: DeployedPool;
  /** Whether new tasks may change the protection of tasks of their own pool only. */
  readonly isBound: boolean;
};

/**
 * What a task may do: protect tasks of its cluster, and what the user adds for Terraform. An existing role stays as it is; it must
 * trust ecs-tasks.amazonaws.com and, with scaleIn "lease", allow what `protectTasks` does.
 *
 * A policy changes at once for the tasks that run, and theirs may have no tag: the condition comes with a role of its own, and the
 * other role stays as it is for them. Nor may a deployment that goes back delete the bound one under tasks that still have it.
 */
export function taskRole(scope: Construct, props: TaskRoleProps): IRole {
  const { taskRole: setting } = props.pool;
  if (setting.kind === 'existing')
    return Role.fromRoleArn(scope, 'TaskRole', setting.arn, { mutable: false });
  const role = ownRole(scope, 'TaskRole', { ...props, isBound: false });
  if (!props.isBound) return role;
  const bound = ownRole(scope, 'BoundTaskRole', props);
  bound.applyRemovalPolicy(RemovalPolicy.RETAIN);
  return bound;
}

function ownRole(scope: Construct, id: string, { cluster, pool, isBound }: TaskRoleProps): Role {
  const { policies, statements } = pool.taskRole as OwnTaskRole;
  // whatever the pool's rung: after a change of it, tasks with a guard go on until their builds are done
  const allowed = [
    ...protectTasks(scope, cluster, isBound ? pool.name : undefined),
    ...statements.map(
      ({ actions, resources }) => new PolicyStatement({ actions: [...actions], resources: [...resources] }),
    ),
  ];
  const role = new Role(scope, id, {
    description: `Terraform in the provisioner daemons of pool ${pool.name}`,
    assumedBy: ecsTasks,
    managedPolicies: policies.map((arn, index) =>
      ManagedPolicy.fromManagedPolicyArn(scope, `${isBound ? 'Bound' : ''}TaskPolicy${index + 1}`, arn),
    ),
    // in the role itself: what keeps the role keeps them
    ...(isBound && { inlinePolicies: { Task: new PolicyDocument({ statements: allowed }) } }),
  });
  if (!isBound) for (const statement of allowed) role.addToPrincipalPolicy(statement);
  acknowledgeWildcards(role, {
    resource: tasksOf(cluster),
    reason:
      'Task ids are made by ECS when a task starts, so a task is allowed to protect those of this cluster, itself among them',
  });
  acknowledgeOperator(role, pool.name, { kind: 'own', policies, statements });
  return role;
}

/** What the operator grants to Terraform is nobody else's to judge: it is what the settings say. */
function acknowledgeOperator(role: Role, pool: string, { policies, statements }: OwnTaskRole): void {
  const reason = `Written by the operator for Terraform: taskRole of pool ${pool}`;
  const wildcards = statements.flatMap(({ actions, resources }) => [
    ...actions.map((action) => `Action::${action}`),
    ...resources.map((resource) => `Resource::${resource}`),
  ]);
  const ids = [
    ...policies.map((arn) => `AwsSolutions-IAM4[Policy::${arn}]`),
    ...wildcards.filter((id) => id.includes('*')).map((id) => `AwsSolutions-IAM5[${id}]`),
  ];
  Validations.of(role).acknowledge(...ids.map((id) => ({ id, reason })));
}

type OwnTaskRole = Extract<DeployedPool['taskRole'], { readonly kind: 'own' }>;

/** A task guards itself against scale-in while it may hold a job. Which task it is, its role can't know (docs/aws.md §1, IAM). */
function protectTasks(scope: Construct, cluster: ICluster, onlyOf: string | undefined): PolicyStatement[] {
  const resources = [tasksOf(cluster)];
  const [look, change] = ['ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'];
  if (onlyOf === undefined) return [new PolicyStatement({ actions: [look, change], resources })];
  const tags = Object.entries(taskTags(scope, onlyOf)).map(([tag, value]) => [
    `aws:ResourceTag/${tag}`,
    value,
  ]);
  return [
    new PolicyStatement({ actions: [look], resources }),
    new PolicyStatement({
      actions: [change],
      resources,
      conditions: { StringEquals: Object.fromEntries(tags) },
    }),
  ];
}

/** The tags of a pool's tasks: its name is free only within its stack. */
export function taskTags(scope: Construct, pool: string): Record<string, string> {
  return { [POOL_TAG]: pool, [STACK_TAG]: Stack.of(scope).stackName };
}

function tasksOf(cluster: ICluster): string {
  return Stack.of(cluster).formatArn({
    service: 'ecs',
    resource: 'task',
    resourceName: `${cluster.clusterName}/*`,
  });
}

export type ExecutionRoleProps = {
  readonly pool: DeployedPool;
  readonly logGroup: ILogGroup;
  readonly secrets: readonly ISecret[];
};

/** What ECS may do to start a task of this pool: read its secrets, write its logs and, from ECR, pull its image. */
export function executionRole(scope: Construct, { pool, logGroup, secrets }: ExecutionRoleProps): Role {
  const role = new Role(scope, 'ExecutionRole', {
    description: `Starts the provisioner daemons of pool ${pool.name}`,
    assumedBy: ecsTasks,
  });
  const statements = [
    ...readSecrets(secrets),
    new PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [logGroup.logGroupArn],
    }),
    ...pullImage(pool.image),
  ];
  for (const statement of statements) role.addToPrincipalPolicy(statement);
  acknowledgeWildcards(
    role,
    {
      resource: secretKeys(),
      reason:
        'A secret may have a key of its own, which is not known here. It can be used only by way of Secrets Manager and only for the secrets that the encryption context names',
    },
    { resource: '*', reason: 'ecr:GetAuthorizationToken knows no resource' },
    {
      resource: logGroup.logGroupArn,
      reason: 'The log streams of this one log group; ECS names them after the tasks',
    },
  );
  return role;
}

/** `123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder/provisioner:v2.30.0` */
const ECR_IMAGE = /^(\d{12})\.dkr\.ecr(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/([^:@]+)/;

/** Public registries ask for no permission. */
function pullImage(image: string): PolicyStatement[] {
  const [, account, region, repository] = ECR_IMAGE.exec(image) ?? [];
  if (repository === undefined) return [];
  return [
    // it knows no resource
    new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }),
    new PolicyStatement({
      actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      resources: [`arn:${Aws.PARTITION}:ecr:${region}:${account}:repository/${repository}`],
    }),
  ];
}

const ecsTasks = new ServicePrincipal('ecs-tasks.amazonaws.com');
