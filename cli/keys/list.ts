/** `autoscaler keys list`: exit code 1 if something could not be read. Problems of pools do not count. */
import type { Command } from 'commander';
import { whileWorking } from '../shared/activity.ts';
import { checkAwsSetup } from '../shared/aws-advice.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import {
  clusterOf,
  type LiveOptions,
  readConfig,
  withJsonOption,
  withLiveOptions,
} from '../shared/live-options.ts';
import { connectAsPerson } from './connect.ts';
import { type KeysReport, reportOf } from './report.ts';
import { keysScreen } from './screen.ts';
import { surveyKeys } from './survey.ts';

type ListOptions = LiveOptions & { readonly json: boolean };

export function addKeysListCommand(keys: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(keys.command('list')), 'the keys')
    .description('show how each pool authenticates, which tasks and daemons use which key, and unused keys')
    .action(async (options: ListOptions) => {
      const report = await listKeys(options, cliEnvironment);
      cliEnvironment.out(`${options.json ? JSON.stringify(report, null, 2) : keysScreen(report)}\n`);
      exitWith(report.unread.length > 0 ? 1 : 0);
    });
}

async function listKeys(options: ListOptions, environment: CliEnvironment): Promise<KeysReport> {
  const { config, caBundle } = readConfig(options.config, environment);
  const cluster = clusterOf(options, environment, config);
  const connection = connectAsPerson(config, { caBundle, cluster, token: config.coder.token });
  try {
    const survey = await whileWorking('reading coderd and AWS', environment, async () => {
      await checkAwsSetup(connection.clients.ecs);
      return surveyKeys(config, connection);
    });
    return reportOf(config.pools, survey);
  } finally {
    await connection.close();
  }
}
