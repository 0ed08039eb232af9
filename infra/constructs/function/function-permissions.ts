/**
 * Exactly what a look needs, resource by resource. Of what it may do, only UpdateService and UpdateTaskProtection change ECS;
 * it can neither start nor stop a task: a task leaves by itself (docs/architecture.md, "The lease").
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { importSecret, readSecrets, secretKeys } from '../shared/imported-secret.ts';
import { acknowledgeWildcards, type Wildcard } from '../shared/wildcards.ts';
import type { AutoscalerFunctionProps } from './function-props.ts';

/** Lets the function's role do what a look needs. */
export function permitLooks(role: Role, props: AutoscalerFunctionProps): void {
  for (const statement of statements(role, props)) role.addToPolicy(statement);
  acknowledgeWildcards(role, ...wildcards(role, props));
}

function statements(role: Role, props: AutoscalerFunctionProps): PolicyStatement[] {
  const { cluster, token, logGroup, kmsKey, settings } = props;
  return [
    // the two lists know no resource of ours, only the condition (docs/aws.md §1, IAM)
    new PolicyStatement({
      actions: ['ecs:ListServices', 'ecs:ListTasks'],
      resources: ['*'],
      conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
    }),
    // finding the services of the pools means reading the tags of all services in the cluster
    new PolicyStatement({ actions: ['ecs:DescribeServices'], resources: [allOf('service', role, props)] }),
    // in a cluster that is shared, only the services of this stack: those of pools that were removed from the file drain too
    new PolicyStatement({
      actions: ['ecs:UpdateService'],
      resources: [allOf('service', role, props)],
      conditions: { StringEquals: { [`aws:ResourceTag/${STACK_TAG}`]: Stack.of(role).stackName } },
    }),
    // tasks of earlier deployments carry no tag of ours
    new PolicyStatement({
      actions: ['ecs:DescribeTasks', 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
      resources: [allOf('task', role, props)],
    }),
    ...readSecrets([importSecret(role, 'Token', token)]),
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
 * Lambda makes and removes the function's network interfaces with the function's own role. The code is denied the same calls:
 * what runs in a function carries its ARN (Lambda developer guide, "Using source function ARN to control function access behavior"),
 * what Lambda does for it doesn't.
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
        'ecs:ListServices and ecs:ListTasks know no resource of ours, so a condition narrows them to the cluster. In a VPC, Lambda makes network interfaces, whose ids nobody knows before, with this role; a second statement denies the code the same calls. With tracing on, X-Ray knows no resources at all',
    },
    {
      resource: allOf('service', role, props),
      reason:
        'Services are replaced and get new names, so pools are found by a tag: reading tags means describing all services of this cluster. Only services with the tag of this stack can be updated (condition aws:ResourceTag)',
    },
    {
      resource: allOf('task', role, props),
      reason: 'Task ids are made by ECS when a task starts; the tasks are those of this cluster alone',
    },
    {
      resource: secretKeys(),
      reason:
        'A secret may have a key of its own, which is not known here. It can be used only by way of Secrets Manager and only for the one secret that the encryption context names',
    },
    {
      resource: props.logGroup.logGroupArn,
      reason: 'The log streams of this one log group; Lambda names them',
    },
  ];
}

function allOf(resource: 'service' | 'task', scope: Construct, { cluster }: AutoscalerFunctionProps): string {
  const resourceName = `${cluster.clusterName}/*`;
  const arnFormat = ArnFormat.SLASH_RESOURCE_NAME;
  return Stack.of(scope).formatArn({ service: 'ecs', resource, resourceName, arnFormat });
}
