import type { Command } from 'commander';
import { deliberate } from '../../lambda/decision/decide.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { type LiveOptions, lookLive, withLiveOptions } from '../shared/live.ts';
import { unreadLists } from '../shared/unread-lists.ts';
import { findLastLook } from './last-look.ts';
import { statusOf } from './report.ts';
import { statusScreen } from './screen.ts';

type StatusOptions = LiveOptions & { readonly json: boolean };

/**
 * `autoscaler status`: exit code 1 when coderd or ECS could not be read, whatever else is found is
 * no failure of it.
 */
export function addStatusCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('status'))
    .description('show waiting jobs, problems and pools on one screen')
    .option('--json', 'print the status as one JSON document', false)
    .action(async (options: StatusOptions) => exitWith(await printStatus(options, cliEnvironment)));
}

async function printStatus(options: StatusOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const { snapshot, config } = await lookLive(options, cliEnvironment);
  const lastLook = await findLastLook(snapshot, cliEnvironment.now());
  const status = statusOf(snapshot, deliberate(snapshot, config), config, lastLook);
  cliEnvironment.out(`${options.json ? JSON.stringify(status, null, 2) : statusScreen(status)}\n`);
  return unreadLists(snapshot).length > 0 ? 1 : 0;
}
