/**
 * `npm run backtest:promises`: measures how often promised starts are right, over 30 seeds of each
 * scenario. `-- --json`: the last line is one JSON object. The exit code is always 0.
 */
import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { startWorkerPool } from '../../world/base/worker-pool.ts';
import { SCENARIOS } from '../scenarios/index.ts';
import type { Scenario } from '../trace/generate/scenario.ts';
import { CALIBRATING, type CalibrationOrder, calibrate } from './calibrate.ts';
import { parseCount, parsePercent, parseScenarios } from './options.ts';
import { type Calibration, calibrationText, joined, rowText, type ScenarioCalibration } from './tally.ts';

/** Hours from Monday 0:00 in Berlin: with each site's morning, and enough promises in small scenarios. */
const HOURS: Readonly<Record<string, number>> = {
  ...{ 'small-team': 120, bursts: 72, agents: 8, 'gpu-pools': 18 },
  ...{ '1k-users': 12, '3k-users': 12, '10k-users': 10, 'prebuild-heavy': 12 },
};
const DAY = 24;

type Options = {
  readonly json: boolean;
  readonly scenarios: readonly Scenario[];
  readonly seeds: number;
  readonly from: number;
  readonly hours?: number;
  readonly cancelled: number;
  readonly workers: number;
};

const { json, scenarios, seeds, from, hours, cancelled, workers } = new Command('backtest:promises')
  .description('compare promised starts with actual ones')
  .option('--json', 'print one JSON object as the last line', false)
  .addOption(
    new Option('--scenarios <names>', 'run only these scenarios, separated by commas')
      .argParser(parseScenarios)
      .default(SCENARIOS, SCENARIOS.map(({ name }) => name).join(',')),
  )
  .option('--seeds <number>', 'number of traces of each scenario', parseCount, 30)
  .option('--from <seed>', 'the first seed', parseCount, 1)
  .option('--hours <number>', 'length of each trace (default: 8 hours to 5 days, by scenario)', parseCount)
  .option(
    '--cancelled <percent>',
    'share of the jobs of people that these cancel within 3 minutes',
    parsePercent,
    0,
  )
  .option(
    '--workers <number>',
    'number of threads; no figure depends on it',
    parseCount,
    availableParallelism(),
  )
  .parse()
  .opts<Options>();

const startedAt = performance.now();
const pool = startWorkerPool<CalibrationOrder, Calibration>({
  module: CALIBRATING,
  handle: calibrate,
  threads: workers,
  describe: ({ scenario, seed }) => `scenario "${scenario}", seed ${seed}`,
});
const rows: ScenarioCalibration[] = [];
for (const { name: scenario } of scenarios) {
  const row = await calibrateAll(scenario, hours ?? HOURS[scenario] ?? DAY);
  rows.push(row);
  process.stderr.write(`${secondsSoFar()} s: ${rowText(row)}\n`);
}
await pool.close();
(json ? process.stderr : process.stdout).write(
  `${calibrationText(rows)}\n${secondsSoFar()} s on ${workers} threads\n`,
);
if (json) process.stdout.write(`${JSON.stringify(rows)}\n`);

async function calibrateAll(scenario: string, length: number): Promise<ScenarioCalibration> {
  const numbers = Array.from({ length: seeds }, (_, index) => from + index);
  const done = await Promise.all(
    numbers.map((seed) => pool.run({ scenario, seed, hours: length, cancelled })),
  );
  const every = joined(done.map((one) => one.every));
  return { scenario, hours: length, seeds, every, first: joined(done.map((one) => one.first)) };
}

function secondsSoFar(): number {
  return Math.round((performance.now() - startedAt) / 1000);
}
