import { SQSClient } from '@aws-sdk/client-sqs';
import { SqsQueue } from './adapters/sqs-queue.ts';
import { AWS_TIMEOUTS } from './connect.ts';
import { messageOf } from './decision/model/message-of.ts';
import { Relay } from './look/relay/relay.ts';
import { logger } from './telemetry/telemetry.ts';

/** Undefined without a queue: then invocations wait between their looks. */
export function connectRelay(queueUrl: string | undefined): Relay | undefined {
  if (queueUrl === undefined) return undefined;
  // nothing is lost but a few seconds of the wait for the next look
  const client = new SQSClient({
    requestHandler: { ...AWS_TIMEOUTS, requestTimeout: 2_000 },
    maxAttempts: 2,
  });
  return new Relay(new SqsQueue(client, queueUrl), (cause) =>
    logger.warn(
      `sending the message for the next look: ${messageOf(cause)}; invocations wait between their looks for an hour, which costs $0.02. Check that the function reaches SQS and that its role may call sqs:SendMessage on ${queueUrl}`,
    ),
  );
}
