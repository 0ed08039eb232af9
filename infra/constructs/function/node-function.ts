/** What both functions of the stack have in common: their props, settings and permissions. */
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Architecture, Code, type FunctionProps, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { AwsSettings } from '../../../lambda/config/rules/deployment.ts';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';
import type { ConfigParameters } from '../plain/config-parameters.ts';
import { allOf, allow, writeLogs } from '../shared/iam.ts';
import type { Wildcard } from '../shared/nag.ts';

export type NodeFunctionProps = {
  readonly cluster: ICluster;
  /** The VPC of the function if `settings.inVpc`. */
  readonly vpc: IVpc;
  /** @default the VPC's private subnets */
  readonly vpcSubnets?: SubnetSelection;
  /** @default a new one without ingress rules */
  readonly securityGroups?: ISecurityGroup[];
  /** The secret that holds coderd's API token. */
  readonly token: SecretRef;
  /** The directory that `bundleFunction` wrote. */
  readonly functionDir: string;
  /** @default the configuration is in `functionDir` */
  readonly parameters?: ConfigParameters | undefined;
  readonly settings: AwsSettings['function'];
  readonly logGroup: ILogGroup;
  /** Encrypts the environment, the schedule and the queues. @default AWS's own keys */
  readonly kmsKey?: IKey;
};

export function nodeFunction(props: NodeFunctionProps) {
  const { settings, vpc, vpcSubnets, securityGroups } = props;
  return {
    code: Code.fromAsset(props.functionDir),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    ...(settings.inVpc && { vpc, vpcSubnets, securityGroups }),
    environmentEncryption: props.kmsKey,
    logGroup: props.logGroup,
    // Lambda writes its own lines as JSON too. It does not wrap the lines of logger and metrics,
    // which are JSON already: Powertools uses its own console, and Lambda wraps only the global
    // one (aws/aws-durable-execution-sdk-js#305).
    loggingFormat: LoggingFormat.JSON,
  } satisfies FunctionProps;
}

/** Its configuration, its log, its key and its network. */
export function permitRunning(props: NodeFunctionProps): PolicyStatement[] {
  const { parameters, logGroup, kmsKey, settings } = props;
  return [
    ...(parameters === undefined ? [] : [parameters.statement]),
    writeLogs(logGroup),
    ...(kmsKey === undefined ? [] : [allow('kms:Decrypt', kmsKey.keyArn)]),
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

/** The wildcards of both functions whose reason is the same. */
export function runningWildcards(
  scope: Construct,
  { cluster, logGroup }: NodeFunctionProps,
): readonly Wildcard[] {
  return [
    {
      resource: allOf('task', scope, cluster),
      reason: 'ECS makes the task id when a task starts. The resource covers tasks of this cluster only',
    },
    {
      resource: logGroup.logGroupArn,
      reason: 'The log streams of this log group. Lambda names them',
    },
  ];
}
