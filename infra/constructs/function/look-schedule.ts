/** What starts looks: a schedule every minute, and a queue within the minute. */
import { Aws, CfnCondition, Duration, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type CfnFunction, EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  Schedule,
  ScheduleExpression,
  ScheduleGroup,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { plainName } from '../plain/plain-stack.ts';
import { allow, ownService, permit, useKey } from '../shared/iam.ts';
import { acknowledge, acknowledgeAll } from '../shared/nag.ts';

/** The key encrypts the schedule and the queues. */
type Encryption = { readonly kmsKey?: IKey | undefined };

/** A failed or late look is not retried, because the next look reads everything again. */
export const NEVER_LATE = { retryAttempts: 0, maxEventAge: Duration.seconds(60) };

/**
 * Runs the function once a minute. If EventBridge Scheduler cannot invoke it, the invocation goes
 * to a queue with the reason.
 */
export class LookSchedule extends Construct {
  constructor(scope: Construct, id: string, { target, kmsKey }: Encryption & { readonly target: IFunction }) {
    super(scope, id);
    const queue = encryptedQueue(this, 'Undelivered', {
      kmsKey,
      retentionPeriod: Duration.days(14),
      reason: 'This is a dead-letter queue. Only a person reads it, to find the reason',
    });
    // Its own schedule group, so that only schedules of this group can assume the role.
    const scheduleGroup = new ScheduleGroup(this, 'Group', {
      scheduleGroupName: plainName(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', {
      description: "Invokes the autoscaler's function on its schedule",
      assumedBy: ownService(this, 'scheduler.amazonaws.com', {
        ArnEquals: { 'aws:SourceArn': scheduleGroup.scheduleGroupArn },
      }),
    });
    permit(role, [
      allow('lambda:InvokeFunction', target.functionArn),
      allow('sqs:SendMessage', queue.queueArn),
      ...useKey(kmsKey),
    ]);
    new Schedule(this, 'Schedule', {
      description: 'Runs the autoscaler once a minute',
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      timeWindow: TimeWindow.off(),
      scheduleGroup,
      key: kmsKey,
      target: new LambdaInvoke(target, {
        input: ScheduleTargetInput.fromObject({ tick: true }),
        // Without this CDK would add every version and alias of the function to the policy.
        role: role.withoutPolicyUpdates(),
        deadLetterQueue: queue,
        ...NEVER_LATE,
      }),
    }).node.addDependency(role);
  }
}

const NO_SECOND_TRY =
  'A message that is lost or fails needs no second try: the schedule starts the next looks within a minute';

/** Regions of the partition `aws`. China and GovCloud are partitions of their own (docs/internals/aws.md §5). */
const WITHOUT_LOOP_DETECTION = ['mx-central-1', 'ap-southeast-6'];

/**
 * Starts the looks within a minute: the function sends a message with a delay, which invokes it
 * again. A failed look is not repeated: its message becomes visible again when it has expired.
 */
export class LookQueue extends Construct {
  readonly #queue: Queue;
  readonly #kmsKey: IKey | undefined;

  constructor(scope: Construct, id: string, { kmsKey }: Encryption) {
    super(scope, id);
    this.#kmsKey = kmsKey;
    this.#queue = encryptedQueue(this, 'Queue', {
      kmsKey,
      // The least that SQS allows.
      retentionPeriod: Duration.seconds(60),
      // Lambda requires at least the function's timeout.
      visibilityTimeout: Duration.seconds(60),
      reason: NO_SECOND_TRY,
    });
  }

  get url(): string {
    return this.#queue.queueUrl;
  }

  /** Allows the role to send messages, and Lambda to receive them for a function with this role. */
  grant(role: Role): void {
    const actions = ['sqs:SendMessage', 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
    permit(role, [allow(actions, this.#queue.queueArn), ...useKey(this.#kmsKey)]);
  }

  /** Invokes the function with each message. */
  invoke(target: IFunction): void {
    this.#allowLoop(target);
    const source = new EventSourceMapping(this, 'Source', {
      target,
      eventSourceArn: this.#queue.queueArn,
      batchSize: 1,
      // The least that Lambda allows: repeated messages must not multiply.
      maxConcurrency: 2,
    });
    acknowledge(source, { id: 'Serverless-LambdaEventSourceMappingDestination', reason: NO_SECOND_TRY });
  }

  /**
   * Lambda would drop the message after 16 looks. A message ends its loop itself after a minute
   * (lambda/look/invocation.ts). Where Lambda detects no loops it may refuse the property.
   */
  #allowLoop(target: IFunction): void {
    const isDetecting = new CfnCondition(this, 'DetectsLoops', {
      expression: Fn.conditionAnd(
        Fn.conditionEquals(Aws.PARTITION, 'aws'),
        ...WITHOUT_LOOP_DETECTION.map((region) => Fn.conditionNot(Fn.conditionEquals(Aws.REGION, region))),
      ),
    });
    const resource = target.node.defaultChild as CfnFunction;
    resource.addPropertyOverride(
      'RecursiveLoop',
      Fn.conditionIf(isDetecting.logicalId, 'Allow', Aws.NO_VALUE),
    );
  }
}

type QueueSettings = Encryption &
  Pick<QueueProps, 'retentionPeriod' | 'visibilityTimeout'> & {
    /** Why it needs no dead-letter queue. */
    readonly reason: string;
  };

function encryptedQueue(scope: Construct, id: string, { kmsKey, reason, ...times }: QueueSettings): Queue {
  const queue = new Queue(scope, id, {
    encryption: kmsKey === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS,
    encryptionMasterKey: kmsKey,
    enforceSSL: true,
    ...times,
  });
  acknowledgeAll(queue, reason, 'AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy');
  return queue;
}
