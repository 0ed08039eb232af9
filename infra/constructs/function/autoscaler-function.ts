import { Duration, Stack } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Role } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { AwsSettings } from '../../../lambda/config/rules/deployment.ts';
import { METRICS_NAMESPACE } from '../../../lambda/telemetry/metric-names.ts';
import { acknowledge } from '../shared/acknowledge.ts';
import { ownService } from '../shared/own-service.ts';
import { BuildRecord } from './build-record.ts';
import { permitLooks } from './function-permissions.ts';
import { functionNetwork, type LookFunctionProps } from './function-props.ts';
import { LookQueue } from './look-queue.ts';
import { LookSchedule, NEVER_LATE } from './look-schedule.ts';

/**
 * The Lambda function of the autoscaler, its role, the schedule that runs it every minute, and the
 * queue that runs it more often.
 */
export class AutoscalerFunction extends Construct {
  readonly function: LambdaFunction;
  /**
   * The value of the metrics' dimension `service`. It identifies this deployment in the account.
   */
  readonly service: string;

  constructor(scope: Construct, id: string, props: LookFunctionProps) {
    super(scope, id);
    const { settings } = props;
    this.service = Stack.of(this).stackName;
    const record = new BuildRecord(this, 'Record');
    const { kmsKey } = props;
    const role = functionRole(this, props, record);
    const looks = new LookQueue(this, 'Looks', { kmsKey });
    looks.grant(role);
    this.function = new LambdaFunction(this, 'Function', {
      description: "Sizes the ECS services of Coder's provisioner daemons",
      code: Code.fromAsset(props.functionDir),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: settings.memory,
      // An invocation ends before the next one starts.
      timeout: Duration.seconds(55),
      // Off by default: concurrent looks do no harm, an account with a quota of 10 cannot reserve
      // any (docs/internals/aws.md §5), and Lambda would refuse a dry run while a look runs.
      reservedConcurrentExecutions: settings.reservedConcurrency,
      role,
      ...functionNetwork(props),
      tracing: settings.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: {
        ...environment(props.cluster, this.service),
        AUTOSCALER_QUEUE_URL: looks.url,
        ...record.environment,
        ...props.parameters?.environment,
      },
      environmentEncryption: kmsKey,
      logGroup: props.logGroup,
      // Lambda writes its own lines as JSON too. It does not wrap the lines of logger and metrics,
      // which are JSON already: Powertools uses its own console, and Lambda wraps only the global
      // one (aws/aws-durable-execution-sdk-js#305).
      loggingFormat: LoggingFormat.JSON,
      ...NEVER_LATE,
    });
    new LookSchedule(this, 'Schedule', { target: this.function, kmsKey });
    looks.invoke(this.function);
    acknowledgeFindings(this.function, settings);
  }
}

function functionRole(scope: Construct, props: LookFunctionProps, record: BuildRecord): Role {
  const role = new Role(scope, 'Role', {
    description: "Permissions of the autoscaler's function",
    assumedBy: ownService(scope, 'lambda.amazonaws.com'),
  });
  permitLooks(role, props);
  role.addToPolicy(record.statement);
  return role;
}

function environment(cluster: ICluster, service: string): Record<string, string> {
  return {
    AUTOSCALER_CLUSTER: cluster.clusterName,
    AUTOSCALER_STACK: service,
    POWERTOOLS_SERVICE_NAME: service,
    POWERTOOLS_METRICS_NAMESPACE: METRICS_NAMESPACE,
    NODE_OPTIONS: '--enable-source-maps',
  };
}

function acknowledgeFindings(lambda: LambdaFunction, { tracing }: AwsSettings['function']): void {
  const reason =
    "A failed look needs no retry: the next look reads everything again. The log has the cause, and Lambda's metric Errors has an alarm";
  acknowledge(
    lambda,
    { id: 'Serverless-LambdaDLQ', reason },
    { id: 'Serverless-LambdaAsyncFailureDestination', reason },
  );
  if (!tracing) {
    const off =
      'Tracing is a setting (aws.function.tracing) and off by default. The log event of each look already has calls and durations, and X-Ray bills every trace';
    acknowledge(lambda, { id: 'Serverless-LambdaTracing', reason: off });
  }
}
