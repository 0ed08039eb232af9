import type { Command } from 'commander';
import type { CommandContext } from '../shared/cli-environment.ts';
import { addTraceCheckCommand } from './check.ts';
import { addTraceExportCommand } from './export.ts';
import { addTraceGenerateCommand } from './generate.ts';

/**
 * `autoscaler trace`: what a coderd had to build, real or made up, as a file of JSON lines
 * (docs/traces.md).
 */
export function addTraceCommand(program: Command, context: CommandContext): void {
  const trace = program.command('trace').description('what was to be built, and when: for backtests');
  addTraceGenerateCommand(trace, context);
  addTraceExportCommand(trace, context);
  addTraceCheckCommand(trace, context);
}
