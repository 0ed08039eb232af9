import type { Command } from 'commander';
import { loadConfig } from '../../lambda/config/load.ts';
import { makeClients } from '../../lambda/connect.ts';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { type LogSpan, withFunctionLog } from '../logs/function-log.ts';
import { whileWorking } from '../shared/activity.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { type LiveOptions, withJsonOption, withLiveOptions } from '../shared/live-options.ts';
import { countTo } from '../shared/option-values.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { readTaskBuilds, readUsageLines } from './readings.ts';
import { sizesOf } from './report.ts';
import { sizesScreen } from './screen.ts';

type SizesOptions = LiveOptions & { readonly days: number; readonly json: boolean };

const MOST_DAYS = 90;
/** No job waits for this command, and coderd can take a while to list many jobs. */
const WAITING = { patience: { silentMs: 120_000, retryMs: 90_000 }, wholeMs: 600_000 } as const;

/** `autoscaler sizes` reads only. Its advice does not change the exit code. */
export function addSizesCommand(program: Command, { cliEnvironment }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('sizes')), 'the sizes')
    .description('show what the tasks of each pool used, and which Fargate size would have held it')
    .option('--days <number>', 'length of the period until now, in days', countTo(MOST_DAYS), 7)
    .action((options: SizesOptions) => printSizes(options, cliEnvironment));
}

async function printSizes(options: SizesOptions, cliEnvironment: CliEnvironment): Promise<void> {
  const to = cliEnvironment.now();
  const span: LogSpan = { from: plusMs(to, -options.days * DAY_MS), to };
  const { config, caBundle } = loadConfig(options.config);
  const pools = config.pools.filter(({ retiring }) => !retiring);
  const clients = makeClients(config, caBundle, WAITING);
  try {
    const logged = await withFunctionLog(options, cliEnvironment, (log) =>
      readUsageLines(log, { ecs: clients.ecs, pools }, span),
    );
    const builds = await whileWorking('reading jobs of coderd', cliEnvironment, () =>
      readTaskBuilds(clients.coderd, pools, span),
    );
    const sizes = sizesOf(pools, { ...logged, builds }, span);
    const text = options.json
      ? JSON.stringify(sizes, null, 2)
      : wrapLines(sizesScreen(sizes, cliEnvironment.columns), cliEnvironment.columns);
    cliEnvironment.out(`${text}\n`);
  } finally {
    await clients.close();
  }
}
