import { Duration } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from '../shared/acknowledge.ts';

export type LookQueueProps = {
  /** Encrypts the queue. @default SQS's own key */
  readonly kmsKey?: IKey | undefined;
};

const REASON =
  'A message that is lost or fails needs no second try: the schedule starts the next looks within a minute';

/**
 * Starts the looks within a minute: the function sends a message with a delay, which invokes it
 * again. A failed look is not repeated: its message becomes visible again when it has expired.
 */
export class LookQueue extends Construct {
  readonly #queue: Queue;
  readonly #kmsKey: IKey | undefined;

  constructor(scope: Construct, id: string, { kmsKey }: LookQueueProps) {
    super(scope, id);
    this.#kmsKey = kmsKey;
    this.#queue = new Queue(this, 'Queue', {
      encryption: kmsKey === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS,
      encryptionMasterKey: kmsKey,
      enforceSSL: true,
      // The least that SQS allows.
      retentionPeriod: Duration.seconds(60),
      // Lambda requires at least the function's timeout.
      visibilityTimeout: Duration.seconds(60),
    });
    acknowledge(
      this.#queue,
      { id: 'AwsSolutions-SQS3', reason: REASON },
      { id: 'Serverless-SQSRedrivePolicy', reason: REASON },
    );
  }

  get url(): string {
    return this.#queue.queueUrl;
  }

  /** Allows the role to send messages, and Lambda to receive them for a function with this role. */
  grant(role: Role): void {
    const actions = ['sqs:SendMessage', 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
    role.addToPolicy(new PolicyStatement({ actions, resources: [this.#queue.queueArn] }));
    if (this.#kmsKey !== undefined)
      role.addToPolicy(
        new PolicyStatement({
          actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
          resources: [this.#kmsKey.keyArn],
        }),
      );
  }

  /** Invokes the function with each message. */
  invoke(target: IFunction): void {
    const source = new EventSourceMapping(this, 'Source', {
      target,
      eventSourceArn: this.#queue.queueArn,
      batchSize: 1,
      // The least that Lambda allows: repeated messages must not multiply.
      maxConcurrency: 2,
    });
    acknowledge(source, { id: 'Serverless-LambdaEventSourceMappingDestination', reason: REASON });
  }
}
