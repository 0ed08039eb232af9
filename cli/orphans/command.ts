/** `autoscaler orphans`: lists the builds that died with their tasks. */
import type { Command } from 'commander';
import { loadConfig } from '../../lambda/config/load.ts';
import { isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { withFunctionLog } from '../logs/function-log.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { type LiveOptions, withJsonOption, withLiveOptions } from '../shared/live-options.ts';
import { countTo } from '../shared/option-values.ts';
import { LEDGER_FIELDS, ledgerOf } from './ledger.ts';
import { type OrphansReport, orphansScreen } from './screen.ts';

type OrphansOptions = LiveOptions & { readonly days: number; readonly json: boolean };

/** CloudWatch keeps no log for longer, unless it keeps it for ever. */
const MOST_DAYS = 3_653;

/** Exit code 1 if rows are missing. Builds that died do not count. */
export function addOrphansCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('orphans')), 'the builds')
    .description('list the builds that died with their tasks, and what to check in the cloud')
    .option('--days <number>', 'how many days to look back', countTo(MOST_DAYS), 7)
    .action(async (options: OrphansOptions) => exitWith(await printOrphans(options, cliEnvironment)));
}

async function printOrphans(options: OrphansOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const report = await readReport(options, cliEnvironment);
  cliEnvironment.out(
    options.json ? `${JSON.stringify(report, null, 2)}\n` : orphansScreen(report, cliEnvironment.columns),
  );
  return report.isCut || report.unreadable > 0 ? 1 : 0;
}

function readReport(options: OrphansOptions, cliEnvironment: CliEnvironment): Promise<OrphansReport> {
  const to = cliEnvironment.now();
  const from = plusMs(to, -options.days * DAY_MS);
  return withFunctionLog(options, cliEnvironment, async (log) => {
    const { rows, isCut } = await log.query('orphan', [LEDGER_FIELDS], { from, to });
    return {
      version: 1,
      from: isoTime(from),
      to: isoTime(to),
      logGroup: log.group,
      keptDays: keptDaysOf(options.config),
      days: options.days,
      isCut,
      ...ledgerOf(rows),
    };
  });
}

/** How long CloudWatch keeps the log; null: unknown, as somebody else made the log group. */
function keptDaysOf(file: string): number | null {
  const { logs } = loadConfig(file).config.aws;
  return logs.group === undefined ? logs.retentionDays : null;
}
