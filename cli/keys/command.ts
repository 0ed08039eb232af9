/** `autoscaler keys`: what the daemons of the pools authenticate with (docs/credentials.md). */
import type { Command } from 'commander';
import { checkAccess, type DoctorContext } from '../doctor/access.ts';
import type { Check } from '../doctor/check.ts';
import { type CheckOptions, printChecks } from '../doctor/command.ts';
import { checkPoolCredentials, readCoder } from '../doctor/diagnosis.ts';
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
import { connectAsPerson } from './connect.ts';
import { checkKeyFunction } from './key-function.ts';
import { type KeysReport, reportOf } from './report.ts';
import { addKeysRotateCommand } from './rotate.ts';
import { keysScreen } from './screen.ts';
import { surveyKeys } from './survey.ts';

/** `list`: exit code 1 if something could not be read; problems of pools do not count. `check`: as `doctor`. */
export function addKeysCommand(program: Command, context: CommandContext): void {
  const { cliEnvironment, exitWith } = context;
  const keys = program.command('keys').description('list, check and rotate the credentials of the pools');
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
  withJsonOption(withLiveOptions(keys.command('check')), 'the checks')
    .description('try the credential of each pool; every failed check tells you how to fix it')
    .action(async (options: CheckOptions) => exitWith(await printChecks(options, cliEnvironment, checkKeys)));
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

/** Tries the credentials as `doctor` does, and runs the check of the key function here. Writes nothing. */
async function checkKeys(context: DoctorContext): Promise<readonly Check[]> {
  const access = await checkAccess(context);
  const [pools, keyFunction] = await Promise.all([
    checkPoolCredentials(context, access, readCoder(context, access)),
    checkKeyFunction(context, access),
  ]);
  const { aws, server, secret, token } = access;
  const first = [aws, server, secret, token].flatMap(({ checks }) => checks);
  return [...first, ...pools.flat(), ...keyFunction];
}
