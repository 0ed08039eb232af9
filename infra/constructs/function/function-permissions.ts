/**
 * The permissions of the function: exactly what a look needs, for each resource. Only UpdateService
 * and UpdateTaskProtection change ECS. The function can neither start nor stop a task: a task
 * drains and exits by itself (docs/internals/architecture.md, "The lease").
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { importSecret, readSecrets, secretKeys } from '../shared/imported-secret.ts';
import { allSecrets, listSecrets } from '../shared/pool-secrets.ts';
import { acknowledgeWildcards, type Wildcard } from '../shared/wildcards.ts';
import type { AutoscalerFunctionProps, LookFunctionProps } from './function-props.ts';

/** Grants the role the permissions that a look needs. */
export function permitLooks(role: Role, props: LookFunctionProps): void {
  for (const statement of statements(role, props)) role.addToPolicy(statement);
  acknowledgeWildcards(role, ...wildcards(role, props));
}

function statements(role: Role, props: LookFunctionProps): PolicyStatement[] {
  const { cluster, token } = props;
  return [
    // The two list actions have no resource level, so a condition restricts them
    // (docs/internals/aws.md §1, IAM).
    new PolicyStatement({
      actions: ['ecs:ListServices', 'ecs:ListTasks'],
      resources: ['*'],
      conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
    }),
    // A look finds the services of pools by tag, so it reads the tags of all services in the
    // cluster.
    new PolicyStatement({ actions: ['ecs:DescribeServices'], resources: [allOf('service', role, props)] }),
    // In a shared cluster, only services of this stack, including those of removed pools, which
    // drain too.
    new PolicyStatement({
      actions: ['ecs:UpdateService'],
      resources: [allOf('service', role, props)],
      conditions: {
        StringEquals: { [`aws:ResourceTag/${STACK_TAG}`]: Stack.of(role).stackName },
        ...onlyTheCount(role, props),
      },
    }),
    // No condition on tags: tasks of earlier deployments may have none.
    new PolicyStatement({
      actions: ['ecs:DescribeTasks', 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
      resources: [allOf('task', role, props)],
    }),
    ...readSecrets([importSecret(role, 'Token', token)]),
    ...listSecrets(props.poolSecrets ?? []),
    ...permitRunning(props),
  ];
}

/**
 * The function sends a count only. AWS does not say whether the request of such a call has the keys
 * of parameters that it lacks, perhaps with the service's own values (docs/internals/aws.md §1,
 * IAM). So these conditions hold for a missing key and for the values of the stack's services.
 */
function onlyTheCount(scope: Construct, { taskFamilies }: LookFunctionProps) {
  const resourceName = taskFamilies;
  const arn = Stack.of(scope).formatArn({ service: 'ecs', resource: 'task-definition', resourceName });
  return {
    ArnLikeIfExists: { 'ecs:task-definition': arn },
    StringNotEqualsIfExists: Object.fromEntries(
      ['ebs-volumes', 'execute-command', 'service-connect', 'vpc-lattice'].map((feature) => [
        `ecs:enable-${feature}`,
        'true',
      ]),
    ),
  };
}

/** What every function of the stack needs: its configuration, its log, its key and its network. */
export function permitRunning(props: AutoscalerFunctionProps): PolicyStatement[] {
  const { parameters, logGroup, kmsKey, settings } = props;
  return [
    ...(parameters === undefined ? [] : [parameters.statement]),
    new PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [logGroup.logGroupArn],
    }),
    ...(kmsKey === undefined
      ? []
      : [new PolicyStatement({ actions: ['kms:Decrypt'], resources: [kmsKey.keyArn] })]),
    ...(settings.inVpc ? networkInterfaces() : []),
  ];
}

/**
 * Lambda makes and removes the function's network interfaces with the function's role. A second
 * statement denies the code the same calls: requests of the code carry the function's ARN, requests
 * of Lambda do not (Lambda developer guide, "Using source function ARN to control function access
 * behavior").
 */
function networkInterfaces(): PolicyStatement[] {
  const interfaces = {
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
  };
  const byCode = { Null: { 'lambda:SourceFunctionArn': 'false' } };
  return [
    new PolicyStatement(interfaces),
    new PolicyStatement({ ...interfaces, effect: Effect.DENY, conditions: byCode }),
  ];
}

function wildcards(role: Role, props: AutoscalerFunctionProps): readonly Wildcard[] {
  return [
    {
      resource: '*',
      reason:
        'ecs:ListServices and ecs:ListTasks have no resource level, so a condition restricts them to the cluster. secretsmanager:ListSecrets has none either, and returns names, tags and times, never values. In a VPC, Lambda creates network interfaces with this role, and their ids are not known before. A second statement denies the code these calls. With tracing on, X-Ray has no resource level',
    },
    {
      resource: allOf('service', role, props),
      reason:
        'A replaced service gets a new name, so the autoscaler finds pools by tag and describes all services of this cluster. It can update only services with the tag of this stack (condition aws:ResourceTag)',
    },
    {
      resource: allOf('task', role, props),
      reason: 'ECS makes the task id when a task starts. The resource covers tasks of this cluster only',
    },
    {
      resource: secretKeys(),
      reason:
        'A secret may have its own KMS key, which is not known here. The role can use it only through Secrets Manager and only for the secret in the encryption context',
    },
    {
      resource: allSecrets(role),
      reason:
        'IAM limits the length of a policy, so a stack with many secrets does not name each of them. The action returns ids and times of versions, never values',
    },
    {
      resource: props.logGroup.logGroupArn,
      reason: 'The log streams of this log group. Lambda names them',
    },
  ];
}

/** The ARNs of all services or tasks of a cluster, as an IAM resource. */
export function allOf(
  resource: 'service' | 'task',
  scope: Construct,
  { cluster }: Pick<AutoscalerFunctionProps, 'cluster'>,
): string {
  const resourceName = `${cluster.clusterName}/*`;
  const arnFormat = ArnFormat.SLASH_RESOURCE_NAME;
  return Stack.of(scope).formatArn({ service: 'ecs', resource, resourceName, arnFormat });
}
