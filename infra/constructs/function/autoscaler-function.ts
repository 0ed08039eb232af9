import { Duration, Stack } from 'aws-cdk-lib';
import { Role } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, Tracing } from 'aws-cdk-lib/aws-lambda';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { FUNCTION_ROLE, recordNameOf } from '../../../lambda/decision/model/service-tags.ts';
import { METRICS_NAMESPACE } from '../../../lambda/telemetry/metric-names.ts';
import { allow, ownService, permit } from '../shared/iam.ts';
import { acknowledge, acknowledgeAll } from '../shared/nag.ts';
import { type LookFunctionProps, permitLooks } from './function-permissions.ts';
import { LookQueue, LookSchedule, NEVER_LATE } from './look-schedule.ts';
import { nodeFunction } from './node-function.ts';

/**
 * The Lambda function of the autoscaler, its role, the schedule that runs it every minute, and the
 * queue that runs it more often.
 */
export class AutoscalerFunction extends Construct {
  readonly function: LambdaFunction;
  /** The value of the metrics' dimension `service`. It identifies this deployment in the account. */
  readonly service: string;
  readonly record: StringParameter;

  constructor(scope: Construct, id: string, props: LookFunctionProps) {
    super(scope, id);
    const { settings, kmsKey } = props;
    this.service = Stack.of(this).stackName;
    this.record = buildRecord(new Construct(this, 'Record'));
    const role = functionRole(this, props, this.record);
    const looks = new LookQueue(this, 'Looks', { kmsKey });
    looks.grant(role);
    this.function = new LambdaFunction(this, 'Function', {
      ...nodeFunction(props),
      description: "Sizes the ECS services of Coder's provisioner daemons",
      memorySize: settings.memory,
      // An invocation ends before the next one starts.
      timeout: Duration.seconds(55),
      role,
      tracing: Tracing.DISABLED,
      environment: {
        AUTOSCALER_CLUSTER: props.cluster.clusterName,
        AUTOSCALER_STACK: this.service,
        ...(props.ownsCluster && { AUTOSCALER_OWNS_CLUSTER: 'true' }),
        POWERTOOLS_SERVICE_NAME: this.service,
        POWERTOOLS_METRICS_NAMESPACE: METRICS_NAMESPACE,
        NODE_OPTIONS: '--enable-source-maps',
        AUTOSCALER_QUEUE_URL: looks.url,
        AUTOSCALER_RECORD: this.record.parameterName,
        ...props.parameters?.environment,
      },
      ...NEVER_LATE,
    });
    new LookSchedule(this, 'Schedule', { target: this.function, kmsKey });
    looks.invoke(this.function);
    acknowledgeFindings(this.function);
  }
}

/**
 * The parameter in which the function keeps its record of builds. CloudFormation writes the first
 * value only. A deployment that writes it again does no harm: the record is a cache.
 */
function buildRecord(scope: Construct): StringParameter {
  return new StringParameter(scope, 'Parameter', {
    // Names cannot begin with "aws", but the name of a stack can.
    parameterName: recordNameOf(Stack.of(scope).stackName),
    simpleName: false,
    description:
      'When builds came in the last days and how long they took. The autoscaler writes it. It may be deleted',
    tier: ParameterTier.ADVANCED,
    // a value cannot be empty
    stringValue: 'none',
  });
}

function functionRole(scope: Construct, props: LookFunctionProps, record: StringParameter): Role {
  const role = new Role(scope, 'Role', {
    description: FUNCTION_ROLE,
    assumedBy: ownService(scope, 'lambda.amazonaws.com'),
  });
  permitLooks(role, props);
  permit(role, [allow(['ssm:GetParameters', 'ssm:PutParameter'], record.parameterArn)]);
  return role;
}

function acknowledgeFindings(lambda: LambdaFunction): void {
  acknowledgeAll(
    lambda,
    "A failed look needs no retry: the next look reads everything again. The log has the cause, and Lambda's metric Errors has an alarm",
    'Serverless-LambdaDLQ',
    'Serverless-LambdaAsyncFailureDestination',
  );
  const reason = 'The log event of each look already has calls and durations, and X-Ray bills every trace';
  acknowledge(lambda, { id: 'Serverless-LambdaTracing', reason });
}
