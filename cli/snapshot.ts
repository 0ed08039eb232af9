import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { snapshotToJson } from '../lambda/adapters/snapshot-schema.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from './shared/cli-environment.ts';
import { lookLive, unreadLists } from './shared/live.ts';
import { type LiveOptions, withLiveOptions } from './shared/live-options.ts';

type SnapshotOptions = LiveOptions & { readonly out?: string; readonly json: boolean };

export function addSnapshotCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('snapshot'))
    .description('read coderd and ECS once and write the result to a file')
    .option('--out <file>', 'output file; - for standard output (default: snapshot.json)')
    .option('--json', 'print the snapshot to standard output, like --out -', false)
    .action(async (options: SnapshotOptions) => exitWith(await takeSnapshot(options, cliEnvironment)));
}

async function takeSnapshot(options: SnapshotOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const file = outOf(options);
  const { snapshot } = await lookLive(options, cliEnvironment);
  const text = `${JSON.stringify(snapshotToJson(snapshot), null, 2)}\n`;
  if (file === '-') cliEnvironment.out(text);
  else writeText(file, text);
  const unread = unreadLists(snapshot);
  for (const line of unread) cliEnvironment.err(`${line}\n`);
  if (file !== '-')
    cliEnvironment.err(`wrote ${file}${unread.length > 0 ? ', without the lists above' : ''}\n`);
  return unread.length > 0 ? 1 : 0;
}

function outOf({ out, json }: SnapshotOptions): string {
  if (json && out !== undefined && out !== '-')
    throw new UsageError('--json prints the snapshot to standard output. Omit --out, which writes a file');
  return out ?? (json ? '-' : 'snapshot.json');
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
