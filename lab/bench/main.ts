/**
 * `npm run bench`: measures what the project promises about speed: the decision and whole looks on
 * large deployments, their memory, and the start of the command line. `-- --json`: the last line is
 * one JSON object. The exit code is always 0.
 */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { wholeNumber } from '../world/base/whole-number.ts';
import { measureCliStart } from './cli-start.ts';
import { measureDecisions } from './decision.ts';
import { BUSY, LARGEST, QUIET, REACH } from './fleet/pools.ts';
import { type FunctionFigures, measureFunction } from './function.ts';
import { cliStartText, decisionText, functionText, GOALS, reachText, tuneText } from './show.ts';
import { measureTune } from './tune.ts';

const OUT_DIR = 'dist/bench';

/** A slow network, and coderd's limit of requests (docs/internals/coder.md §9). */
const SLOW = { answerMs: 300, perMinute: 512 } as const;

const { json, seed, reach } = new Command('bench')
  .description('measure the decision, a whole look and the start of the command line')
  .option('--json', 'print one JSON object as the last line', false)
  .option('--reach', 'measure only how far one function reaches; takes some minutes', false)
  .option('--seed <number>', 'seed of the generated deployments', wholeNumber, 1)
  .parse()
  .opts<{ json: boolean; seed: number; reach: boolean }>();

const stream = json ? process.stderr : process.stdout;
const print = (text: string): void => void stream.write(`${text}\n`);

print(`Node ${process.version}, ${availableParallelism()} cores, seed ${seed}; takes some minutes`);
if (reach) {
  const reached: FunctionFigures[] = [];
  for (const size of REACH) reached.push(await measureFunction({ ...size, seed }, OUT_DIR, SLOW));
  print(reachText(reached));
  if (json) process.stdout.write(`${JSON.stringify({ node: process.version, seed, reached })}\n`);
  process.exit();
}
const decisions = await measureDecisions(seed);
print(decisionText(decisions));
const looks = [
  await measureFunction({ ...QUIET, seed }, OUT_DIR),
  await measureFunction({ ...BUSY, seed }, OUT_DIR),
  await measureFunction({ ...LARGEST, seed }, OUT_DIR),
];
print(functionText(looks));
const tuning = await measureTune(seed);
print(tuneText(tuning));
const cliStart = measureCliStart('autoscaler.example.yaml');
print(cliStartText(cliStart));
if (json)
  process.stdout.write(
    `${JSON.stringify({ node: process.version, seed, goals: GOALS, decisions, looks, tuning, cliStart })}\n`,
  );
