import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { snapshotToJson } from '../lambda/adapters/snapshot/schema.ts';
import { type CliEnvironment, type CommandContext, InputError } from './shared/cli-environment.ts';
import { type LiveOptions, lookLive, withLiveOptions } from './shared/live.ts';
import { unreadLists } from './shared/unread-lists.ts';

type SnapshotOptions = LiveOptions & { readonly out: string };

/** `autoscaler snapshot` */
export function addSnapshotCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('snapshot'))
    .description('read coderd and ECS once and write the result to a file')
    .option('--out <file>', 'output file; - for standard output', 'snapshot.json')
    .action(async (options: SnapshotOptions) => exitWith(await takeSnapshot(options, cliEnvironment)));
}

async function takeSnapshot(options: SnapshotOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const { snapshot } = await lookLive(options, cliEnvironment);
  const text = `${JSON.stringify(snapshotToJson(snapshot), null, 2)}\n`;
  if (options.out === '-') cliEnvironment.out(text);
  else writeText(options.out, text);
  const unread = unreadLists(snapshot);
  for (const line of unread) cliEnvironment.err(`${line}\n`);
  if (options.out !== '-')
    cliEnvironment.err(`wrote ${options.out}${unread.length > 0 ? ', without the lists above' : ''}\n`);
  return unread.length > 0 ? 1 : 0;
}

function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new InputError(`writing ${file}: ${(cause as Error).message}. Give another file with --out`, {
      cause,
    });
  }
}
