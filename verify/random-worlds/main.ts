/**
 * `npm run sim:leaves`: random worlds with all faults and the real look, in virtual time, until
 * enough tasks have left. Exits with 1 if the product killed a build, or a world does not settle.
 */
import { Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { wholeNumber } from '../../simulator/base/whole-number.ts';
import { sumUp, tableOf, type WorldResult } from './figures.ts';
import { runWorld } from './run-world.ts';
import { drawPlan } from './world/plan.ts';
import { runWorlds } from './worlds.ts';

type Options = {
  readonly leaves: number;
  readonly seed: number;
  readonly workers: number;
  readonly json: boolean;
  readonly guards: boolean;
  readonly world?: number;
};

/** Problems to print for each world; the rest are only counted. */
const PROBLEMS_SHOWN = 10;

const options = new Command('sim:leaves')
  .description(
    'simulate random worlds with all faults at once, and count the builds that are killed while tasks leave',
  )
  .option('--leaves <number>', 'stop after at least this many tasks have left', wholeNumber, 10_000)
  .option('--seed <number>', 'seed of the worlds; another seed gives other worlds', wholeNumber, 1)
  .option('--workers <number>', 'number of threads; does not change the figures', wholeNumber, 1)
  .option('--world <seed>', 'run one world alone, and print every event in it', wholeNumber)
  .option('--no-guards', 'run tasks without a guard, to check that the simulation then finds killed builds')
  .option('--json', 'print the figures as one JSON object on the last line', false)
  .parse()
  .opts<Options>();

const startedAt = performance.now();
const results = options.world === undefined ? await runAll(options) : [await runOne(options.world, options)];
const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
const figures = sumUp(results, { seed: options.seed, seconds });
process.stdout.write(`${tableOf(figures)}\n`);
for (const result of results) process.stdout.write(problemsText(result, options));
if (options.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exitCode = results.some(({ problems }) => problems.length > 0) ? 1 : 0;

async function runAll({ leaves, seed, workers, guards }: Options): Promise<readonly WorldResult[]> {
  const update = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
  const onProgress = (left: number): void =>
    update?.(`${left.toLocaleString('en')} of ${leaves.toLocaleString('en')} tasks have left`);
  const all = await runWorlds({
    leaves,
    seed,
    workers: Math.max(1, workers),
    isUnguarded: !guards,
    onProgress,
  });
  update?.clear();
  return all;
}

function runOne(seed: number, { guards }: Options): Promise<WorldResult> {
  const plan = drawPlan(seed);
  process.stdout.write(`${JSON.stringify(plan, undefined, 2)}\n`);
  return runWorld(plan, { isUnguarded: !guards, print: (line) => void process.stdout.write(`${line}\n`) });
}

function problemsText({ seed, problems }: WorldResult, { guards }: Options): string {
  if (problems.length === 0) return '';
  const again = `npm run sim:leaves -- --world ${seed}${guards ? '' : ' --no-guards'}`;
  const more = problems.length - PROBLEMS_SHOWN;
  return [
    `\nworld ${seed} (run it alone: ${again})`,
    ...problems.slice(0, PROBLEMS_SHOWN),
    ...(more > 0 ? [`and ${more} more problems`] : []),
    '',
  ].join('\n');
}
