/**
 * `npm run bench`: measures the decision and whole looks on large deployments, their memory, the
 * size of the bundle, the start of the command line, and the speed of a backtest. `-- --json`: the
 * last line is one JSON object. The exit code is always 0.
 */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { wholeNumber } from '../simulator/base/whole-number.ts';
import { measureBundle } from './bundle.ts';
import { measureCliStart } from './cli-start.ts';
import { growthOf, measureCore } from './core.ts';
import { BUSY, LARGEST, QUIET } from './fleet/size.ts';
import { measureForecast } from './forecast.ts';
import { measureFunction } from './function.ts';
import { bundleText, cliStartText, coreText, forecastText, functionText, GOALS, weekText } from './show.ts';
import { measureWeek } from './week.ts';

const OUT_DIR = 'dist/bench';

const { json, seed } = new Command('bench')
  .description('measure the decision, the forecast, a whole look, the bundle and a backtest')
  .option('--json', 'print one JSON object as the last line', false)
  .option('--seed <number>', 'seed of the generated deployments', wholeNumber, 1)
  .parse()
  .opts<{ json: boolean; seed: number }>();

const stream = json ? process.stderr : process.stdout;
const print = (text: string): void => void stream.write(`${text}\n`);

print(`Node ${process.version}, ${availableParallelism()} cores, seed ${seed}; takes about two minutes`);
const core = measureCore(seed);
const growth = growthOf(core);
print(coreText(core, growth));
const forecast = measureForecast(seed);
print(forecastText(forecast));
const looks = [
  await measureFunction({ ...QUIET, seed }, `${OUT_DIR}/tick`),
  await measureFunction({ ...BUSY, seed }, `${OUT_DIR}/tick`),
  await measureFunction({ ...LARGEST, seed }, `${OUT_DIR}/tick`),
];
print(functionText(looks));
const bundle = measureBundle('autoscaler.example.yaml', `${OUT_DIR}/function`);
print(bundleText(bundle));
const cliStart = measureCliStart('autoscaler.example.yaml');
print(cliStartText(cliStart));
const week = await measureWeek(seed);
print(weekText(week));
if (json)
  process.stdout.write(
    `${JSON.stringify({ node: process.version, seed, goals: GOALS, core, growth, forecast, ticks: looks, bundle, cliStart, week })}\n`,
  );
