/** Queries the function's log with CloudWatch Logs Insights, for commands that look back in time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { ECSClient } from '@aws-sdk/client-ecs';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { type InsightsRows, LogQueryError, queryLogs } from '../../lambda/adapters/insights.ts';
import { AWS_TIMEOUTS } from '../../lambda/connect.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { LOG_GROUP_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';
import { whileWorking } from '../shared/activity.ts';
import { checkAwsSetup, withAdvice } from '../shared/aws-advice.ts';
import { type CliEnvironment, InputError } from '../shared/cli-environment.ts';
import { clusterOf, type LiveOptions, readConfig } from '../shared/live-options.ts';
import { findLogGroup, type LogGroup, linesOf } from './log-group.ts';

export type LogSpan = { readonly from: EpochMs; readonly to: EpochMs };

export type FunctionLog = LogGroup & {
  /** The ECS services of the pools, with their tags. */
  readonly services: readonly Service[];
  /**
   * The rows of these commands (without `limit`) about the lines of this deployment with this
   * `message`. Throws InputError.
   */
  readonly query: (message: string, commands: readonly string[], span: LogSpan) => Promise<InsightsRows>;
  /** As `query`, for any log group and without a filter. Throws InputError. */
  readonly queryGroups: (
    groups: readonly string[],
    commands: readonly string[],
    span: LogSpan,
  ) => Promise<InsightsRows>;
};

/**
 * Finds the function's log group by the tags of the pools' ECS services, and runs `work` with it.
 * Throws InputError if the services cannot be listed or do not name a log group.
 */
export async function withFunctionLog<T>(
  options: LiveOptions,
  cliEnvironment: CliEnvironment,
  work: (log: FunctionLog) => Promise<T>,
): Promise<T> {
  const { config } = readConfig(options.config, cliEnvironment);
  const cluster = clusterOf(options, cliEnvironment, config);
  const ecs = new ECSClient({ requestHandler: AWS_TIMEOUTS });
  const logs = new CloudWatchLogsClient({ requestHandler: AWS_TIMEOUTS });
  try {
    await checkAwsSetup(ecs);
    const found = await findLog(new EcsAdapter(ecs, cluster), config);
    const queryGroups = queryWith(logs, cliEnvironment);
    const query: FunctionLog['query'] = (message, commands, span) =>
      queryGroups([found.group], [linesOf([message], found.service), ...commands], span);
    return await work({ ...found, query, queryGroups });
  } finally {
    ecs.destroy();
    logs.destroy();
  }
}

async function findLog(
  ecs: EcsAdapter,
  config: Config,
): Promise<Pick<FunctionLog, 'group' | 'service' | 'services'>> {
  const { status, error, items: services } = await ecs.services();
  if (status !== 'ok') throw new InputError(withAdvice(error ?? `listing services: ${status}`));
  const found = findLogGroup(services, config);
  if (found === undefined)
    throw new InputError(
      `finding the function's log group: none of ${services.length} ECS services of pools in cluster "${ecs.cluster}" has the tag ${LOG_GROUP_TAG}. Deploy this version, or check --cluster`,
    );
  return { ...found, services };
}

function queryWith(client: CloudWatchLogsClient, cliEnvironment: CliEnvironment): FunctionLog['queryGroups'] {
  const clock = { sleep: (ms: number) => sleep(cliEnvironment.pollMs ?? ms) };
  return async (groups, commands, span) => {
    const query = commands.join('\n| ');
    try {
      return await whileWorking('querying the log', cliEnvironment, () =>
        queryLogs(client, { groups, query, ...span }, clock),
      );
    } catch (cause) {
      if (!(cause instanceof LogQueryError)) throw cause;
      throw new InputError(withAdvice(cause.message), { cause });
    }
  };
}
