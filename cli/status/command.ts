import type { Command } from 'commander';
import { deliberate } from '../../lambda/decision/decide.ts';
import { whileWorking } from '../shared/activity.ts';
import { shown } from '../shared/brief.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { lookLive, unreadLists } from '../shared/live.ts';
import { type JsonOptions, withJsonOption, withLiveOptions } from '../shared/live-options.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { readLog } from './read-log.ts';
import { statusOf } from './report.ts';
import { statusScreen } from './screen.ts';

/** `autoscaler status`: exit code 1 if a list is missing or stale. Findings about pools do not count. */
export function addStatusCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('status')), 'the status')
    .description('show waiting jobs, findings and pools on one screen')
    .option('--explain', 'print long sentences whole: causes, and what else to do')
    .action(async (options: StatusOptions) => exitWith(await printStatus(options, cliEnvironment)));
}

type StatusOptions = JsonOptions & { readonly explain?: true };

async function printStatus(options: StatusOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const { snapshot, config } = await lookLive(options, cliEnvironment);
  const log = await whileWorking("reading the function's log", cliEnvironment, () =>
    readLog(snapshot, config, cliEnvironment),
  );
  const status = statusOf(snapshot, deliberate(snapshot, config), config, log);
  const { columns: width } = cliEnvironment;
  const text = options.json
    ? JSON.stringify(status, null, 2)
    : wrapLines(
        shown((wording) => statusScreen(status, { width, wording }), options.explain === true),
        width,
      );
  cliEnvironment.out(`${text}\n`);
  return unreadLists(snapshot).length > 0 ? 1 : 0;
}
