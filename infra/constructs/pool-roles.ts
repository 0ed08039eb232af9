import { Aws, Stack, Validations } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { type IRole, ManagedPolicy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { DeployedPool } from '../../lambda/adapters/config/deployment.ts';
import { readSecrets, secretKeys } from './imported-secret.ts';
import { acknowledgeWildcards } from './wildcards.ts';

export type TaskRoleProps = { readonly cluster: ICluster; readonly pool: DeployedPool };

/**
 * What a task may do: protect tasks of its cluster, and what the user adds for Terraform. An existing role stays as it is; it must
 * trust ecs-tasks.amazonaws.com and, with scaleIn "lease", allow what `protectTasks` does.
 */
export function taskRole(scope: Construct, { cluster, pool }: TaskRoleProps): IRole {
  if (pool.taskRole.kind === 'existing')
    return Role.fromRoleArn(scope, 'TaskRole', pool.taskRole.arn, { mutable: false });
  const { policies, statements } = pool.taskRole;
  const role = new Role(scope, 'TaskRole', {
    description: `Terraform in the provisioner daemons of pool ${pool.name}`,
    assumedBy: ecsTasks,
    managedPolicies: policies.map((arn, index) =>
      ManagedPolicy.fromManagedPolicyArn(scope, `TaskPolicy${index + 1}`, arn),
    ),
  });
  // whatever its rung: after a change of it, tasks with a guard go on until their builds are done
  role.addToPrincipalPolicy(protectTasks(cluster));
  for (const { actions, resources } of statements)
    role.addToPrincipalPolicy(new PolicyStatement({ actions: [...actions], resources: [...resources] }));
  acknowledgeWildcards(role, {
    resource: tasksOf(cluster),
    reason:
      'Task ids are made by ECS when a task starts, so a task is allowed to protect those of this cluster, itself among them',
  });
  acknowledgeOperator(role, pool.name, pool.taskRole);
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

/** A task guards itself against scale-in while it may hold a job. Which task it is, its role can't know (aws-facts §1, IAM). */
function protectTasks(cluster: ICluster): PolicyStatement {
  return new PolicyStatement({
    actions: ['ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
    resources: [tasksOf(cluster)],
  });
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
