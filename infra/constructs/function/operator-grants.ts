/**
 * Grants for the people and pipelines that operate an autoscaler: what the commands of the CLI call
 * in AWS, and nothing else.
 */
import { Stack } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Grant, type IGrantable, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { OVERRIDE_TAGS, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { allOf, allow, listIn } from '../shared/iam.ts';
import { listAllSecrets, listSecrets, readSecrets } from '../shared/secrets.ts';

/** What `status`, `plan`, `explain` and `trace export` read in AWS. */
export type Readable = {
  readonly cluster: ICluster;
  /** The log group of the function. */
  readonly logGroup: ILogGroup;
  /** The secret that holds coderd's API token. */
  readonly token: ISecret;
  /** IAM resources: the secrets that the pools' tasks get. Their values stay unreadable. */
  readonly poolSecrets: readonly string[];
  /** The record of builds, with the rules that the function has learned. */
  readonly record: IParameter;
};

/** Grants what the reading commands call. */
export function grantReading(scope: Construct, grantee: IGrantable, readable: Readable): Grant {
  const { cluster, logGroup, token, poolSecrets, record } = readable;
  return grantAll(grantee, [
    ...findServices(scope, cluster),
    listIn(cluster, 'ecs:ListTasks'),
    allow(['ecs:DescribeTasks', 'ecs:GetTaskProtection'], allOf('task', scope, cluster)),
    allow(['logs:FilterLogEvents', 'logs:StartQuery'], logGroup.logGroupArn),
    // The action has no resource level. It returns rows of queries whose id the caller knows.
    allow('logs:GetQueryResults', '*'),
    ...readSecrets([token]),
    ...listSecrets(poolSecrets),
    allow('ssm:GetParameters', record.parameterArn),
  ]);
}

/**
 * Grants what `pause`, `resume`, `pin` and `unpin` call: change the tags of overrides, and no other
 * tag, on the services of this stack.
 */
export function grantOverriding(scope: Construct, grantee: IGrantable, cluster: ICluster): Grant {
  return grantAll(grantee, [
    ...findServices(scope, cluster),
    allow(['ecs:TagResource', 'ecs:UntagResource'], allOf('service', scope, cluster), {
      StringEquals: { [`aws:ResourceTag/${STACK_TAG}`]: Stack.of(scope).stackName },
      'ForAllValues:StringEquals': { 'aws:TagKeys': OVERRIDE_TAGS },
    }),
  ]);
}

/** What `keys rotate` needs. */
export type Rotatable = {
  readonly cluster: ICluster;
  /** The secrets of the managed keys. */
  readonly secrets: readonly ISecret[];
  readonly keyFunction: IFunction;
};

/**
 * Grants what `keys rotate` calls. RotateSecret also needs the permission to invoke the key
 * function. A condition denies other invocations: an event of CloudFormation could delete keys.
 */
export function grantRotating(scope: Construct, grantee: IGrantable, rotatable: Rotatable): Grant {
  const { cluster, secrets, keyFunction } = rotatable;
  const arns = secrets.map(({ secretArn }) => secretArn);
  return grantAll(grantee, [
    ...findServices(scope, cluster),
    listAllSecrets(),
    allow(['secretsmanager:DescribeSecret', 'secretsmanager:RotateSecret'], arns),
    allow('lambda:InvokeFunction', keyFunction.functionArn, { Bool: { 'aws:ViaAWSService': 'true' } }),
  ]);
}

/** The outputs of the stack name the cluster. */
function findServices(scope: Construct, cluster: ICluster): readonly PolicyStatement[] {
  const { stackName } = Stack.of(scope);
  const stack = { service: 'cloudformation', resource: 'stack', resourceName: `${stackName}/*` };
  return [
    allow('cloudformation:DescribeStacks', Stack.of(scope).formatArn(stack)),
    listIn(cluster, 'ecs:ListServices'),
    allow('ecs:DescribeServices', allOf('service', scope, cluster)),
  ];
}

function grantAll(grantee: IGrantable, statements: readonly PolicyStatement[]): Grant {
  const grants = statements.map(({ actions, resources, conditions }) =>
    Grant.addToPrincipal({ grantee, actions, resourceArns: resources, conditions }),
  );
  return grants.reduce((all, grant) => all.combine(grant));
}
