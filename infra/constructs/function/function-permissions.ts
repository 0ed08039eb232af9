/**
 * The permissions of the function: exactly what a look needs, for each resource. Only UpdateService
 * and UpdateTaskProtection change ECS. The function can neither start nor stop a task: a task
 * drains and exits by itself (docs/internals/architecture.md, "The lease").
 */
import { Stack } from 'aws-cdk-lib';
import type { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { allOf, allow, listIn, permit } from '../shared/iam.ts';
import type { Wildcard } from '../shared/nag.ts';
import { allSecrets, importSecret, listSecrets, readSecrets, secretKeys } from '../shared/secrets.ts';
import { type NodeFunctionProps, permitRunning, runningWildcards } from './node-function.ts';

export type LookFunctionProps = NodeFunctionProps & {
  /** IAM resources: the secrets that the pools' tasks get. @default none */
  readonly poolSecrets?: readonly string[];
  /** Whether the stack made the cluster. @default false */
  readonly ownsCluster?: boolean;
  /** IAM pattern of the families of the pools' task definitions, those of removed pools too. */
  readonly taskFamilies: string;
};

/** Grants the role the permissions that a look needs. */
export function permitLooks(role: Role, props: LookFunctionProps): void {
  permit(role, statements(role, props), wildcards(role, props));
}

function statements(role: Role, props: LookFunctionProps): PolicyStatement[] {
  const { cluster, token, poolSecrets = [] } = props;
  const services = allOf('service', role, cluster);
  return [
    listIn(cluster, 'ecs:ListServices', 'ecs:ListTasks'),
    // A look finds the services of pools by tag, so it reads the tags of all services in the
    // cluster.
    allow('ecs:DescribeServices', services),
    // In a shared cluster, only services of this stack, including those of removed pools, which
    // drain too.
    allow('ecs:UpdateService', services, {
      StringEquals: { [`aws:ResourceTag/${STACK_TAG}`]: Stack.of(role).stackName },
      ...onlyTheCount(role, props),
    }),
    // No condition on tags: tasks of earlier deployments may have none.
    allow(
      ['ecs:DescribeTasks', 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
      allOf('task', role, cluster),
    ),
    ...readSecrets([importSecret(role, 'Token', token)]),
    ...listSecrets(poolSecrets),
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
  const features = ['ebs-volumes', 'execute-command', 'service-connect', 'vpc-lattice'];
  return {
    ArnLikeIfExists: { 'ecs:task-definition': arn },
    StringNotEqualsIfExists: Object.fromEntries(features.map((feature) => [`ecs:enable-${feature}`, 'true'])),
  };
}

function wildcards(role: Role, props: LookFunctionProps): readonly Wildcard[] {
  return [
    {
      resource: '*',
      reason:
        'ecs:ListServices and ecs:ListTasks have no resource level, so a condition restricts them to the cluster. secretsmanager:ListSecrets has none either, and returns names, tags and times, never values. In a VPC, Lambda creates network interfaces with this role, and their ids are not known before. A second statement denies the code these calls.',
    },
    {
      resource: allOf('service', role, props.cluster),
      reason:
        'A replaced service gets a new name, so the autoscaler finds pools by tag and describes all services of this cluster. It can update only services with the tag of this stack (condition aws:ResourceTag)',
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
    ...runningWildcards(role, props),
  ];
}
