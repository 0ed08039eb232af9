/**
 * The key function. Errors escape, so that CloudFormation, Secrets Manager and the schedule see them. A deletion
 * tries for a minute; the rest of the timeout of 3 minutes is for slow answers of coderd.
 */
import { fileURLToPath } from 'node:url';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { loadFunctionConfig } from '../environment.ts';
import { logger } from '../telemetry/telemetry.ts';
import { connectKeys, readKeysEnvironment } from './connect.ts';
import { managedPoolsOf, serveKeyEvent } from './serve.ts';

const environment = readKeysEnvironment(
  process.env,
  fileURLToPath(new URL('autoscaler.yaml', import.meta.url)),
);
const { config, warnings, caBundle } = await loadFunctionConfig(environment);
for (const { path, message } of warnings) logger.warn(`${path}: ${message}`);
const { cluster, deployment } = environment;
const log = {
  info: (message: string, fields: object = {}): void => logger.info(message, { ...fields }),
  warn: (message: string, fields: object = {}): void => logger.warn(message, { ...fields }),
};
const { ports } = connectKeys(config, { cluster, caBundle, deployment, log });
const pools = managedPoolsOf(config);

/** Throws KeysError. */
export const handler = middy((event: unknown) => serveKeyEvent(event, ports, pools)).use(
  injectLambdaContext(logger),
);
