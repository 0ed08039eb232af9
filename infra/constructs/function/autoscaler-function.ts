import { Duration, Stack, Validations } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
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
import { permitLooks } from './function-permissions.ts';
import type { AutoscalerFunctionProps } from './function-props.ts';
import { LookSchedule, NEVER_LATE } from './look-schedule.ts';

/** The autoscaler itself: the function, what it may do, and the schedule that runs it every minute. */
export class AutoscalerFunction extends Construct {
  readonly function: LambdaFunction;
  /** Tells the metrics of this deployment from those of others in the account: the value of their dimension `service`. */
  readonly service: string;

  constructor(scope: Construct, id: string, props: AutoscalerFunctionProps) {
    super(scope, id);
    const { settings } = props;
    this.service = Stack.of(this).stackName;
    this.function = new LambdaFunction(this, 'Function', {
      description: "Sizes the ECS services of Coder's provisioner daemons",
      code: Code.fromAsset(props.functionDir),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: settings.memory,
      // ends before the next invocation starts
      timeout: Duration.seconds(55),
      // off unless asked for: two looks at once do no harm, an account with a quota of 10 cannot reserve
      // at all (docs/aws.md §5), and a dry run would be refused while a look runs
      reservedConcurrentExecutions: settings.reservedConcurrency,
      role: functionRole(this, props),
      ...network(props),
      tracing: settings.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: environment(props.cluster, this.service),
      environmentEncryption: props.kmsKey,
      logGroup: props.logGroup,
      // Lambda's own lines become JSON too. Those of logger and metrics are JSON already and stay as they are: Powertools writes
      // through a console of its own, and only the global one is wrapped (aws/aws-durable-execution-sdk-js#305)
      loggingFormat: LoggingFormat.JSON,
      ...NEVER_LATE,
    });
    new LookSchedule(this, 'Schedule', { target: this.function, kmsKey: props.kmsKey });
    acknowledgeFindings(this.function, settings);
  }
}

function functionRole(scope: Construct, props: AutoscalerFunctionProps): Role {
  const role = new Role(scope, 'Role', {
    description: "What the autoscaler's function may do",
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  permitLooks(role, props);
  return role;
}

function network({ settings, vpc, vpcSubnets, securityGroups }: AutoscalerFunctionProps): object {
  return settings.inVpc ? { vpc, vpcSubnets, securityGroups } : {};
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
    "A look that failed is worth nothing a minute later: the next one looks again at everything. Why it failed is in the log, and that it failed in Lambda's metric Errors, which has an alarm";
  Validations.of(lambda).acknowledge(
    { id: 'Serverless-LambdaDLQ', reason },
    { id: 'Serverless-LambdaAsyncFailureDestination', reason },
  );
  if (!tracing) {
    const off =
      'Tracing is a setting (aws.function.tracing), off by default: one log event a look tells the calls and durations, and X-Ray bills every trace';
    Validations.of(lambda).acknowledge({ id: 'Serverless-LambdaTracing', reason: off });
  }
}
