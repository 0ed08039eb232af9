import { Duration, Stack } from 'aws-cdk-lib';
import { type PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { allOf, allow, listIn, ownService, permit } from '../shared/iam.ts';
import { acknowledge, acknowledgeAll, type Wildcard } from '../shared/nag.ts';
import { allSecrets, importSecret, listAllSecrets, readSecrets, secretKeys } from '../shared/secrets.ts';
import { type NodeFunctionProps, nodeFunction, permitRunning, runningWildcards } from './node-function.ts';

/**
 * The function that creates, rotates and deletes provisioner keys. Only it has a token that may
 * write to coderd, and only it can write the secrets.
 */
export class KeyFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: NodeFunctionProps) {
    super(scope, id);
    const { stackName, stackId } = Stack.of(this);
    this.function = new LambdaFunction(this, 'Function', {
      ...nodeFunction(props),
      description: "Creates, rotates and deletes the provisioner keys of Coder's pools",
      memorySize: 256,
      // A deletion gives up after 60 s; the rest is for slow answers of coderd.
      timeout: Duration.minutes(3),
      role: keyRole(this, props),
      environment: {
        AUTOSCALER_CLUSTER: props.cluster.clusterName,
        AUTOSCALER_STACK: stackName,
        AUTOSCALER_STACK_ID: stackId,
        POWERTOOLS_SERVICE_NAME: stackName,
        NODE_OPTIONS: '--enable-source-maps',
        ...props.parameters?.environment,
      },
    });
    acknowledgeAll(
      this.function,
      'CloudFormation and Secrets Manager report a failed step and repeat it, and the next sweep repeats the one before',
      'Serverless-LambdaDLQ',
      'Serverless-LambdaAsyncFailureDestination',
    );
    const reason = 'It runs a few times a month, and its log has each step';
    acknowledge(this.function, { id: 'Serverless-LambdaTracing', reason });
  }
}

function keyRole(scope: Construct, props: NodeFunctionProps): Role {
  const role = new Role(scope, 'Role', {
    description: 'Permissions of the function that manages provisioner keys',
    assumedBy: ownService(scope, 'lambda.amazonaws.com'),
  });
  permit(role, statements(role, props), wildcards(role, props));
  return role;
}

function statements(role: Role, props: NodeFunctionProps): PolicyStatement[] {
  const { cluster, token } = props;
  const writing = [
    'secretsmanager:DescribeSecret',
    'secretsmanager:GetSecretValue',
    'secretsmanager:PutSecretValue',
    'secretsmanager:TagResource',
    'secretsmanager:UpdateSecretVersionStage',
  ];
  return [
    ...readSecrets([importSecret(role, 'Token', token)]),
    // By tag, not by ARN: when a pool is removed, the function deletes its key after this policy has
    // changed.
    allow(writing, allSecrets(role), {
      StringEquals: { [`aws:ResourceTag/${STACK_TAG}`]: Stack.of(role).stackName },
    }),
    listAllSecrets(),
    listIn(cluster, 'ecs:ListServices', 'ecs:ListTasks'),
    allow('ecs:DescribeServices', allOf('service', role, cluster)),
    allow('ecs:DescribeTasks', allOf('task', role, cluster)),
    ...permitRunning(props),
  ];
}

function wildcards(role: Role, props: NodeFunctionProps): readonly Wildcard[] {
  return [
    {
      resource: '*',
      reason:
        'secretsmanager:ListSecrets has no resource level and returns no values. ecs:ListServices and ecs:ListTasks have none either, so a condition restricts them to the cluster. In a VPC, Lambda creates network interfaces with this role, and a second statement denies the code these calls',
    },
    {
      resource: allSecrets(role),
      reason: 'A condition restricts it to the secrets with the tag of this stack',
    },
    {
      resource: allOf('service', role, props.cluster),
      reason: 'The key function finds the services of pools by tag, so it reads those of this cluster',
    },
    {
      resource: secretKeys(),
      reason:
        'The secret with the token may have its own KMS key, which is not known here. The role can use it only through Secrets Manager and only for the secret in the encryption context',
    },
    ...runningWildcards(role, props),
  ];
}
