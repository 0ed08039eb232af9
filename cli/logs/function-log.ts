/** Queries the function's log with CloudWatch Logs Insights, for commands that look back in time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { ECSClient } from '@aws-sdk/client-ecs';
import * as z from 'zod';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { AWS_TIMEOUTS } from '../../lambda/adapters/shared/aws-calls.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { LOG_GROUP_TAG, POOL_TAG, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';
import { WAIT_PARTS, type WaitPart, type WaitParts } from '../../lambda/look/waits/wait-parts.ts';
import { AwsCallError } from '../adapters/aws-call-error.ts';
import { type InsightsRow, type InsightsRows, queryLogs } from '../adapters/insights.ts';
import { whileWorking } from '../shared/activity.ts';
import { checkAwsSetup, withAdvice } from '../shared/aws-advice.ts';
import { type CliEnvironment, InputError } from '../shared/cli-environment.ts';
import { type LiveOptions, readConfig } from '../shared/live-options.ts';
import { clusterOf } from '../shared/stack-cluster.ts';

type LogSpan = { readonly from: EpochMs; readonly to: EpochMs };

export type FunctionLog = LogGroup & {
  /** The rows of the commands (without `limit`) about lines with this `message`. Throws InputError. */
  readonly query: (message: string, commands: readonly string[], span: LogSpan) => Promise<InsightsRows>;
};

/** Finds the log group by the tags of the pools' ECS services. Throws InputError if none names it. */
export async function withFunctionLog<T>(
  options: LiveOptions,
  cliEnvironment: CliEnvironment,
  work: (log: FunctionLog) => Promise<T>,
): Promise<T> {
  const { config } = readConfig(options.config, cliEnvironment);
  const cluster = await clusterOf(options, cliEnvironment, config);
  const ecs = new ECSClient({ requestHandler: AWS_TIMEOUTS });
  const logs = new CloudWatchLogsClient({ requestHandler: AWS_TIMEOUTS });
  try {
    await checkAwsSetup(ecs);
    const found = await findLog(new EcsAdapter(ecs, cluster), config);
    return await work({ ...found, query: queryWith(logs, found, cliEnvironment) });
  } finally {
    ecs.destroy();
    logs.destroy();
  }
}

async function findLog(ecs: EcsAdapter, config: Config): Promise<LogGroup> {
  const { status, error, items: services } = await ecs.services();
  if (status !== 'ok') throw new InputError(withAdvice(error ?? `listing services: ${status}`));
  const found = findLogGroup(services, config);
  if (found === undefined)
    throw new InputError(
      `finding the function's log group: none of ${services.length} ECS services of pools in cluster "${ecs.cluster}" has the tag ${LOG_GROUP_TAG}. Deploy this version, or check --cluster`,
    );
  return found;
}

function queryWith(
  client: CloudWatchLogsClient,
  { group, service }: LogGroup,
  cliEnvironment: CliEnvironment,
): FunctionLog['query'] {
  const clock = { sleep: (ms: number) => sleep(cliEnvironment.pollMs ?? ms) };
  return async (message, commands, span) => {
    const query = [linesOf([message], service), ...commands].join('\n| ');
    try {
      return await whileWorking('querying the log', cliEnvironment, () =>
        queryLogs(client, { group, query, ...span }, clock),
      );
    } catch (cause) {
      if (!(cause instanceof AwsCallError)) throw cause;
      throw new InputError(withAdvice(cause.message), { cause });
    }
  };
}

export type LogGroup = {
  readonly group: string;
  /** The stack of the deployment; undefined: unknown. Several deployments may share a log group. */
  readonly service: string | undefined;
};

/** Several deployments may share a cluster: services of configured pools come first. */
export function findLogGroup(
  services: readonly Service[],
  { pools }: Pick<Config, 'pools'>,
): LogGroup | undefined {
  const naming = services.filter((service) => tagOf(service, LOG_GROUP_TAG));
  const names = new Set<string | undefined>(pools.map(({ name }) => name));
  const first = naming.find((service) => names.has(tagOf(service, POOL_TAG))) ?? naming[0];
  const group = first && tagOf(first, LOG_GROUP_TAG);
  return group === undefined ? undefined : { group, service: tagOf(first ?? { tags: [] }, STACK_TAG) };
}

/** The command of Logs Insights that keeps the lines of a deployment with one of these messages. */
export function linesOf(messages: readonly string[], service: string | undefined): string {
  const [message] = messages;
  const lines =
    messages.length === 1
      ? `filter message = ${JSON.stringify(message)}`
      : `filter message in ${JSON.stringify(messages)}`;
  return service === undefined ? lines : `${lines} and service = "${service}"`;
}

const ms = z.coerce.number().nonnegative();
const partFields = Object.fromEntries(WAIT_PARTS.map((part) => [`${part}Ms`, ms.optional()])) as Readonly<
  Record<`${WaitPart}Ms`, z.ZodOptional<typeof ms>>
>;

const rowSchema = z.object({
  id: z.string(),
  pool: z.string(),
  task: z.string().optional(),
  waitMs: ms,
  promisedFromMs: z.coerce.number().optional(),
  promisedToMs: z.coerce.number().optional(),
  ...partFields,
});

export const WAIT_FIELDS: readonly string[] = Object.keys(rowSchema.shape);

export type LoggedWait = {
  readonly id: string;
  readonly pool: string;
  readonly task: string | null;
  readonly waitMs: number;
  /** What the first look that saw the job promised, p50 and p95 in milliseconds from the submission. Null: unknown. */
  readonly promised: { readonly fromMs: number; readonly toMs: number } | null;
  readonly parts: WaitParts;
};

/** Undefined for a row of an unknown version. */
export function loggedWait(row: InsightsRow): LoggedWait | undefined {
  const { data } = rowSchema.safeParse(row);
  if (data === undefined) return undefined;
  const { id, pool, task = null, waitMs, promisedFromMs: fromMs, promisedToMs: toMs } = data;
  const parts = WAIT_PARTS.flatMap((part) => {
    const partMs = data[`${part}Ms`] ?? 0;
    return partMs > 0 ? [[part, partMs]] : [];
  });
  const promised = fromMs === undefined || toMs === undefined ? null : { fromMs, toMs };
  return { id, pool, task, waitMs, promised, parts: Object.fromEntries(parts) };
}
