/**
 * `npm run bench`: how fast the decision and a whole look are on large deployments, how much memory they take, and
 * how large the bundle is; and how fast a backtest. `-- --json`: the last line is one JSON object. Ends with 0 whatever it measures.
 */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { wholeNumber } from '../simulator/base/whole-number.ts';
import { measureBundle } from './bundle.ts';
import { growthOf, measureCore } from './core.ts';
import { BUSY, LARGEST, QUIET } from './fleet/size.ts';
import { measureForecast } from './forecast.ts';
import { measureFunction } from './function.ts';
import { bundleText, coreText, forecastText, functionText, GOALS, weekText } from './show.ts';
import { measureWeek } from './week.ts';

const OUT_DIR = 'dist/bench';

const { json, seed } = new Command('bench')
  .description('measure the decision, the forecast, a whole look, the bundle and a backtest')
  .option('--json', 'end with one JSON object on the last line', false)
  .option('--seed <number>', 'another seed gives other deployments', wholeNumber, 1)
  .parse()
  .opts<{ json: boolean; seed: number }>();

const stream = json ? process.stderr : process.stdout;
const say = (text: string): void => void stream.write(`${text}\n`);

say(`Node ${process.version}, ${availableParallelism()} cores, seed ${seed}; about two minutes`);
const core = measureCore(seed);
const growth = growthOf(core);
say(coreText(core, growth));
const forecast = measureForecast(seed);
say(forecastText(forecast));
const looks = [
  await measureFunction({ ...QUIET, seed }, `${OUT_DIR}/tick`),
  await measureFunction({ ...BUSY, seed }, `${OUT_DIR}/tick`),
  await measureFunction({ ...LARGEST, seed }, `${OUT_DIR}/tick`),
];
say(functionText(looks));
const bundle = measureBundle('autoscaler.example.yaml', `${OUT_DIR}/function`);
say(bundleText(bundle));
const week = await measureWeek(seed);
say(weekText(week));
if (json)
  process.stdout.write(
    `${JSON.stringify({ node: process.version, seed, goals: GOALS, core, growth, forecast, ticks: looks, bundle, week })}\n`,
  );
