import type { Command } from 'commander';
import type { CommandContext } from '../../../../cli/shared/cli-environment.ts';
import { addTraceCheckCommand } from './check.ts';
import { addTraceExportCommand } from './export.ts';
import { addTraceGenerateCommand } from './generate.ts';

/** `autoscaler trace`: the jobs of a coderd, real or generated, as JSON lines (docs/backtest.md). */
export function addTraceCommand(program: Command, context: CommandContext): void {
  const trace = program
    .command('trace')
    .description('make and check traces: the jobs of a coderd over time, for backtests');
  addTraceGenerateCommand(trace, context);
  addTraceExportCommand(trace, context);
  addTraceCheckCommand(trace, context);
}
