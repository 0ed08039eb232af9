import { Arn, ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import { type IVpc, SubnetType } from 'aws-cdk-lib/aws-ec2';
import type { Cluster } from 'aws-cdk-lib/aws-ecs';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';
import type { SecretRef } from '../../lambda/core/config.ts';
import { importSecret, secretArnPatterns } from './imported-secret.ts';

export type AutoscalerFunctionProps = {
  readonly vpc: IVpc;
  readonly cluster: Cluster;
  /** The secret that holds coderd's API token. */
  readonly token: SecretRef;
  /** What `bundleFunction` made. */
  readonly functionDir: string;
};

/** The autoscaler itself: the function, what it may do, and the schedule that runs it every minute. */
export class AutoscalerFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: AutoscalerFunctionProps) {
    super(scope, id);
    this.function = new LambdaFunction(this, 'Function', {
      description: "Sizes the ECS services of Coder's provisioner daemons",
      code: Code.fromAsset(props.functionDir),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      // ends before the next invocation starts
      timeout: Duration.seconds(55),
      vpc: props.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      environment: {
        AUTOSCALER_CLUSTER: props.cluster.clusterName,
        POWERTOOLS_SERVICE_NAME: 'coder-provisioner-autoscaler',
        POWERTOOLS_METRICS_NAMESPACE: 'CoderProvisionerAutoscaler',
        NODE_OPTIONS: '--enable-source-maps',
      },
      logGroup: new LogGroup(this, 'Logs', { retention: RetentionDays.ONE_MONTH }),
      ...neverLate,
    });
    for (const statement of permissions(this, props)) this.function.addToRolePolicy(statement);
    new Schedule(this, 'Schedule', {
      description: 'One tick of the autoscaler a minute',
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      target: new LambdaInvoke(this.function, {
        input: ScheduleTargetInput.fromObject({ tick: true }),
        ...neverLate,
      }),
    });
  }
}

/** A tick that failed or is late is worth nothing: the next one looks again. */
const neverLate = { retryAttempts: 0, maxEventAge: Duration.seconds(60) };

/**
 * Exactly what a tick needs. It can neither start nor stop a task: a task leaves by itself (design, "The lease").
 * `*` is forced on the two lists, which know no resource of ours (aws-facts §1, IAM).
 */
function permissions(scope: Construct, { cluster, token }: AutoscalerFunctionProps): PolicyStatement[] {
  const services = Arn.format(
    {
      service: 'ecs',
      resource: 'service',
      resourceName: `${cluster.clusterName}/*`,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    },
    Stack.of(scope),
  );
  return [
    new PolicyStatement({
      actions: ['ecs:ListServices', 'ecs:ListTasks'],
      resources: ['*'],
      conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
    }),
    new PolicyStatement({ actions: ['ecs:DescribeServices', 'ecs:UpdateService'], resources: [services] }),
    new PolicyStatement({
      actions: ['ecs:DescribeTasks', 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
      resources: [cluster.arnForTasks('*')],
    }),
    new PolicyStatement({
      actions: ['secretsmanager:GetSecretValue'],
      resources: secretArnPatterns(importSecret(scope, 'Token', token)),
    }),
  ];
}
