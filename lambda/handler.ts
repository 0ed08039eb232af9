/**
 * The Lambda function. It loads configuration and clients once per instance. Errors escape, so that
 * Lambda reports the invocation as failed.
 */
import { fileURLToPath } from 'node:url';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { AWS_TIMEOUTS, BEFORE_EACH_TRY } from './adapters/shared/aws-calls.ts';
import { SqsQueue } from './adapters/sqs-queue.ts';
import { connect, systemClock } from './connect.ts';
import { messageOf } from './decision/model/message-of.ts';
import { loadFunctionConfig, readEnvironment } from './environment.ts';
import { answerOf } from './look/answer.ts';
import { runLooks } from './look/invocation.ts';
import { promisedLook } from './look/look.ts';
import type { Ports } from './look/ports.ts';
import { parsePayload } from './look/relay/payload.ts';
import { Relay } from './look/relay/relay.ts';
import { logger, reporterOf } from './telemetry/telemetry.ts';

const environment = readEnvironment(process.env, fileURLToPath(new URL('autoscaler.yaml', import.meta.url)));
const { config, warnings, caBundle } = await loadFunctionConfig(environment);
for (const { path, message } of warnings) logger.warn(`${path}: ${message}`);
const connection = connect(config, environment.cluster, caBundle, {
  stack: environment.stack,
  ownsCluster: environment.ownsCluster,
  record: environment.record,
  onRecordFailure: (message) => logger.warn(message),
});
const relay = connectRelay(environment.queueUrl);
const newPorts = (): Ports => ({ ...connection.ports(), relay });
/** The looks of a minute share their ports, in one invocation or in several. */
let ports = newPorts();
const report = reporterOf({ clock: systemClock, perPool: config.aws.metrics.perPool });

/** coderd or ECS did not answer before the end of the invocation. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

const OUT_OF_TIME = {
  timeoutEarlyInMillis: 1_000,
  timeoutEarlyResponse: (): never => {
    throw new OutOfTimeError(
      'running out of time: coderd or ECS did not answer before the end of the invocation; the next one looks again',
    );
  },
};

/**
 * `{"tick":true}` looks and acts until no further look is needed, a message requests it, or time is
 * up. A message of the queue does the same. `{"dryRun":true}` returns the plan and changes nothing.
 * Throws PayloadError for any other payload, and InvocationError with one line per cause.
 */
export const handler = middy(
  async (event: unknown, context: Context, { signal }: { signal: AbortSignal }) => {
    const payload = parsePayload(event);
    if (payload.kind === 'dry-run' || payload.message === undefined) ports = newPorts();
    if (payload.kind === 'dry-run') return answerOf(await promisedLook(ports, config, signal));
    return runLooks({
      ports,
      config,
      message: payload.message,
      remainingMs: () => context.getRemainingTimeInMillis(),
      signal,
      onLook: (result, durationMs) => report({ result, durationMs, calls: connection.calls.take() }),
    });
  },
  OUT_OF_TIME,
).use(injectLambdaContext(logger));

/** Undefined without a queue: then invocations wait between their looks. */
function connectRelay(queueUrl: string | undefined): Relay | undefined {
  if (queueUrl === undefined) return undefined;
  // nothing is lost but a few seconds of the wait for the next look
  const client = new SQSClient({
    requestHandler: { ...AWS_TIMEOUTS, requestTimeout: 2_000, ...connection.connections.agents },
    maxAttempts: 2,
  });
  client.middlewareStack.add(connection.connections.closing, BEFORE_EACH_TRY);
  return new Relay(new SqsQueue(client, queueUrl), (cause) =>
    logger.warn(
      `sending the message for the next look: ${messageOf(cause)}; invocations wait between their looks for an hour, which costs $0.02. Check that the function reaches SQS and that its role may call sqs:SendMessage on ${queueUrl}`,
    ),
  );
}
