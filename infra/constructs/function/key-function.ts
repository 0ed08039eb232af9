import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { acknowledge } from '../shared/acknowledge.ts';
import { importSecret, readSecrets, secretKeys } from '../shared/imported-secret.ts';
import { ownService } from '../shared/own-service.ts';
import { allSecrets } from '../shared/pool-secrets.ts';
import { acknowledgeWildcards } from '../shared/wildcards.ts';
import { allOf, permitRunning } from './function-permissions.ts';
import { type AutoscalerFunctionProps, functionNetwork } from './function-props.ts';

/**
 * The function that creates, rotates and deletes provisioner keys. Only it has a token that may
 * write to coderd, and only it can write the secrets.
 */
export class KeyFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: AutoscalerFunctionProps) {
    super(scope, id);
    const { stackName, stackId } = Stack.of(this);
    this.function = new LambdaFunction(this, 'Function', {
      description: "Creates, rotates and deletes the provisioner keys of Coder's pools",
      code: Code.fromAsset(props.functionDir),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 256,
      timeout: TIMEOUT,
      role: keyRole(this, props),
      ...functionNetwork(props),
      environment: {
        AUTOSCALER_CLUSTER: props.cluster.clusterName,
        AUTOSCALER_STACK: stackName,
        AUTOSCALER_STACK_ID: stackId,
        POWERTOOLS_SERVICE_NAME: stackName,
        NODE_OPTIONS: '--enable-source-maps',
        ...props.parameters?.environment,
      },
      environmentEncryption: props.kmsKey,
      logGroup: props.logGroup,
      loggingFormat: LoggingFormat.JSON,
    });
    acknowledge(
      this.function,
      { id: 'Serverless-LambdaDLQ', reason: RETRIED },
      { id: 'Serverless-LambdaAsyncFailureDestination', reason: RETRIED },
      { id: 'Serverless-LambdaTracing', reason: 'It runs a few times a month, and its log has each step' },
    );
  }
}

/** A deletion gives up after 60 s; the rest is for slow answers of coderd. */
const TIMEOUT = Duration.minutes(3);

const RETRIED =
  'CloudFormation and Secrets Manager report a failed step and repeat it, and the next sweep repeats the one before';

function keyRole(scope: Construct, props: AutoscalerFunctionProps): Role {
  const role = new Role(scope, 'Role', {
    description: 'Permissions of the function that manages provisioner keys',
    assumedBy: ownService(scope, 'lambda.amazonaws.com'),
  });
  for (const statement of statements(role, props)) role.addToPolicy(statement);
  acknowledgeWildcards(role, ...wildcards(role, props));
  return role;
}

function statements(role: Role, props: AutoscalerFunctionProps): PolicyStatement[] {
  const { cluster, token } = props;
  return [
    ...readSecrets([importSecret(role, 'Token', token)]),
    // By tag, not by ARN: when a pool is removed, the function deletes its key after this policy has
    // changed.
    new PolicyStatement({
      actions: [
        'secretsmanager:DescribeSecret',
        'secretsmanager:GetSecretValue',
        'secretsmanager:PutSecretValue',
        'secretsmanager:TagResource',
        'secretsmanager:UpdateSecretVersionStage',
      ],
      resources: [allSecrets(role)],
      conditions: { StringEquals: { [`aws:ResourceTag/${STACK_TAG}`]: Stack.of(role).stackName } },
    }),
    // The action has no resource level. It returns names and tags, never values.
    new PolicyStatement({ actions: ['secretsmanager:ListSecrets'], resources: ['*'] }),
    new PolicyStatement({
      actions: ['ecs:ListServices', 'ecs:ListTasks'],
      resources: ['*'],
      conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
    }),
    new PolicyStatement({ actions: ['ecs:DescribeServices'], resources: [allOf('service', role, props)] }),
    new PolicyStatement({ actions: ['ecs:DescribeTasks'], resources: [allOf('task', role, props)] }),
    ...permitRunning(props),
  ];
}

function wildcards(role: Role, props: AutoscalerFunctionProps) {
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
      resource: allOf('service', role, props),
      reason: 'The key function finds the services of pools by tag, so it reads those of this cluster',
    },
    {
      resource: allOf('task', role, props),
      reason: 'ECS makes the task id when a task starts. The resource covers tasks of this cluster only',
    },
    {
      resource: secretKeys(),
      reason:
        'The secret with the token may have its own KMS key, which is not known here. The role can use it only through Secrets Manager and only for the secret in the encryption context',
    },
    {
      resource: props.logGroup.logGroupArn,
      reason: 'The log streams of this log group. Lambda names them',
    },
  ];
}
