/**
 * `autoscaler keys check`: tries the credential of each pool as `doctor` does, and runs the check of
 * the key function here. It writes nothing. Exit codes are those of `doctor`.
 */
import type { Command } from 'commander';
import { checkAccess, type DoctorContext } from '../doctor/access.ts';
import type { Check } from '../doctor/base/check.ts';
import { type CheckOptions, printChecks } from '../doctor/command.ts';
import { checkPoolCredentials, readCoder } from '../doctor/diagnosis.ts';
import type { CommandContext } from '../shared/cli-environment.ts';
import { withJsonOption, withLiveOptions } from '../shared/live-options.ts';
import { checkKeyFunction } from './key-function.ts';

export function addKeysCheckCommand(keys: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(keys.command('check')), 'the checks')
    .description('try the credential of each pool; every failed check tells you how to fix it')
    .action(async (options: CheckOptions) => exitWith(await printChecks(options, cliEnvironment, checkKeys)));
}

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
