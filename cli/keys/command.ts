/** `autoscaler keys`: what the daemons of the pools authenticate with (docs/credentials.md). */
import type { Command } from 'commander';
import { connectAsPerson } from '../doctor/keys-connection.ts';
import { whileWorking } from '../shared/activity.ts';
import { checkAwsSetup } from '../shared/aws-advice.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import {
  clusterOf,
  type JsonOptions,
  readConfig,
  withJsonOption,
  withLiveOptions,
} from '../shared/live-options.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { type KeysReport, reportOf } from './report.ts';
import { addKeysRotateCommand } from './rotate.ts';
import { keysScreen } from './screen.ts';
import { surveyKeys } from './survey.ts';

/** `list`: exit code 1 if something could not be read; problems of pools do not count. */
export function addKeysCommand(program: Command, context: CommandContext): void {
  const { cliEnvironment, exitWith } = context;
  const keys = program.command('keys').description('list and rotate the credentials of the pools');
  withJsonOption(withLiveOptions(keys.command('list')), 'the keys')
    .description('show how each pool authenticates, which tasks and daemons use which key, and unused keys')
    .action(async (options: JsonOptions) => {
      const report = await listKeys(options, cliEnvironment);
      const text = options.json
        ? JSON.stringify(report, null, 2)
        : wrapLines(keysScreen(report), cliEnvironment.columns);
      cliEnvironment.out(`${text}\n`);
      exitWith(report.unread.length > 0 ? 1 : 0);
    });
  addKeysRotateCommand(keys, context);
}

async function listKeys(options: JsonOptions, environment: CliEnvironment): Promise<KeysReport> {
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
