/**
 * `npm run sim:leaves`: random worlds with all faults and the real look, in virtual time, until
 * enough tasks have left. Exits with 1 if the product killed a build, a world does not settle, or a bound
 * is exceeded (bounds.ts).
 */
import { Command } from 'commander';
import { wholeNumber } from '../../world/base/whole-number.ts';
import { boundTable, exceededBounds } from './bounds.ts';
import { sumUp, tableOf, type WorldResult } from './figures.ts';
import { exceededByTwin, twinTable } from './twins.ts';
import { planOfRequest, runRequest, runWorlds } from './worlds.ts';

type Options = {
  readonly leaves: number;
  readonly worlds?: number;
  readonly seed: number;
  readonly workers: number;
  readonly json: boolean;
  readonly guards: boolean;
  readonly quiet: boolean;
  readonly twins: boolean;
  readonly world?: number;
};

/** Problems to print for each world; the rest are only counted. */
const PROBLEMS_SHOWN = 10;
const PROGRESS_EVERY_MS = 30_000;

const options = new Command('sim:leaves')
  .description(
    'simulate random worlds with all faults at once, and count the builds that are killed while tasks leave',
  )
  .option('--leaves <number>', 'stop after at least this many tasks have left', wholeNumber, 10_000)
  .option('--seed <number>', 'seed of the worlds; another seed gives other worlds', wholeNumber, 1)
  .option('--workers <number>', 'number of threads; does not change the figures', wholeNumber, 1)
  .option('--world <seed>', 'run one world alone, and print every event in it', wholeNumber)
  .option('--no-guards', 'run tasks without a guard, to check that the simulation then finds killed builds')
  .option('--worlds <number>', 'stop after this many worlds, however many tasks have left', wholeNumber)
  .option('--quiet', 'run worlds in which nothing fails and nobody intervenes', false)
  .option(
    '--twins',
    'run worlds in which looks cannot see all and nothing else fails, and compare launches and waits with those of the same worlds if looks see all',
    false,
  )
  .option('--json', 'print the figures as one JSON object on the last line', false)
  .parse()
  .opts<Options>();

const startedAt = performance.now();
const results = options.world === undefined ? await runAll(options) : [await runOne(options.world, options)];
const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
const figures = sumUp(results, { seed: options.seed, seconds });
process.stdout.write(`${tableOf(figures)}\n`);
const kind = options.quiet ? 'quiet' : 'faulty';
const isAsDrawn = options.guards && options.world === undefined && !options.twins;
if (options.twins) process.stdout.write(`${twinTable(results)}\n`);
if (isAsDrawn) process.stdout.write(`${boundTable(results, kind)}\n`);
for (const result of results) process.stdout.write(problemsText(result, options));
if (options.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
const dear = results.flatMap(exceededByTwin);
for (const text of dear) process.stdout.write(`${text}\n`);
const exceeded = isAsDrawn ? exceededBounds(results, { seed: options.seed, kind }) : [];
for (const text of exceeded) process.stdout.write(`${text}\n`);
process.exitCode =
  exceeded.length + dear.length > 0 || results.some(({ problems }) => problems.length > 0) ? 1 : 0;

async function runAll(options: Options): Promise<readonly WorldResult[]> {
  let progress = { leaves: 0, worlds: 0 };
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const { leaves, worlds } = progress;
    process.stderr.write(
      `${seconds} s: ${leaves.toLocaleString('en')} tasks have left in ${worlds} worlds\n`,
    );
  }, PROGRESS_EVERY_MS);
  try {
    return await runWorlds({
      ...options,
      workers: Math.max(1, options.workers),
      isUnguarded: !options.guards,
      isQuiet: options.quiet,
      hasTwins: options.twins,
      onProgress: (now) => {
        progress = now;
      },
    });
  } finally {
    clearInterval(timer);
  }
}

function runOne(seed: number, options: Options): Promise<WorldResult> {
  const { guards, quiet, twins } = options;
  const request = { seed, isUnguarded: !guards, isQuiet: quiet, hasTwin: twins };
  process.stdout.write(`${JSON.stringify(planOfRequest(request), undefined, 2)}\n`);
  return runRequest(request, { print: (line) => void process.stdout.write(`${line}\n`) });
}

function problemsText({ seed, problems }: WorldResult, options: Options): string {
  if (problems.length === 0) return '';
  const { guards, quiet, twins } = options;
  const flags = [
    ...(guards ? [] : ['--no-guards']),
    ...(quiet ? ['--quiet'] : []),
    ...(twins ? ['--twins'] : []),
  ];
  const again = ['npm run sim:leaves -- --world', seed, ...flags].join(' ');
  const more = problems.length - PROBLEMS_SHOWN;
  return [
    `\nworld ${seed} (run it alone: ${again})`,
    ...problems.slice(0, PROBLEMS_SHOWN),
    ...(more > 0 ? [`and ${more} more problems`] : []),
    '',
  ].join('\n');
}
