import type { Command } from 'commander';
import type { CommandContext } from '../shared/cli-environment.ts';
import { addKeysCheckCommand } from './check.ts';
import { addKeysListCommand } from './list.ts';
import { addKeysRotateCommand } from './rotate.ts';

/** `autoscaler keys`: what the daemons of the pools authenticate with (docs/credentials.md). */
export function addKeysCommand(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('list, check and rotate the credentials of the pools');
  addKeysListCommand(keys, context);
  addKeysCheckCommand(keys, context);
  addKeysRotateCommand(keys, context);
}
