import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  Schedule,
  ScheduleExpression,
  ScheduleGroup,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { plainName } from '../plain/plain-stack.ts';
import { acknowledge } from '../shared/acknowledge.ts';
import { ownService } from '../shared/own-service.ts';

export type LookScheduleProps = {
  readonly target: IFunction;
  /** Encrypts the schedule and the queue. @default AWS's own keys */
  readonly kmsKey?: IKey;
};

/** A failed or late look is not retried, because the next look reads everything again. */
export const NEVER_LATE = { retryAttempts: 0, maxEventAge: Duration.seconds(60) };

/**
 * Runs the function once a minute. If EventBridge Scheduler cannot invoke it, the invocation goes
 * to a queue with the reason.
 */
export class LookSchedule extends Construct {
  readonly undelivered: Queue;

  constructor(scope: Construct, id: string, { target, kmsKey }: LookScheduleProps) {
    super(scope, id);
    this.undelivered = undeliveredQueue(this, kmsKey);
    // Its own schedule group, so that only schedules of this group can assume the role.
    const scheduleGroup = new ScheduleGroup(this, 'Group', {
      scheduleGroupName: plainName(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = invokerRole(this, scheduleGroup, { target, queue: this.undelivered, kmsKey });
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
        deadLetterQueue: this.undelivered,
        ...NEVER_LATE,
      }),
    }).node.addDependency(role);
  }
}

function undeliveredQueue(scope: Construct, kmsKey: IKey | undefined): Queue {
  const queue = new Queue(scope, 'Undelivered', {
    encryption: kmsKey === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS,
    encryptionMasterKey: kmsKey,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  const reason = 'This is a dead-letter queue. Only a person reads it, to find the reason';
  acknowledge(queue, { id: 'AwsSolutions-SQS3', reason }, { id: 'Serverless-SQSRedrivePolicy', reason });
  return queue;
}

type Invoker = { readonly target: IFunction; readonly queue: Queue; readonly kmsKey: IKey | undefined };

function invokerRole(scope: Construct, group: ScheduleGroup, { target, queue, kmsKey }: Invoker): Role {
  const role = new Role(scope, 'Role', {
    description: "Invokes the autoscaler's function on its schedule",
    assumedBy: ownService(scope, 'scheduler.amazonaws.com', {
      ArnEquals: { 'aws:SourceArn': group.scheduleGroupArn },
    }),
  });
  role.addToPolicy(
    new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [target.functionArn] }),
  );
  role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] }));
  if (kmsKey !== undefined) {
    const actions = ['kms:Decrypt', 'kms:GenerateDataKey'];
    role.addToPolicy(new PolicyStatement({ actions, resources: [kmsKey.keyArn] }));
  }
  return role;
}
