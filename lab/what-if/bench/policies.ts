/**
 * `npm run backtest:policies`: compares the cost of the autoscaler, which knows only the price of
 * waiting, with that of policies tuned for each trace and price. `-- --json`: the last line is one
 * JSON object, the same for the same options. The exit code is always 0.
 */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { SCENARIOS } from '../scenarios/index.ts';
import { startWorkerPool } from '../search/worker-pool.ts';
import type { Scenario } from '../trace/generate/scenario.ts';
import { MOST, parseCount, parseScenarios } from './options.ts';
import { benchText } from './policies-text.ts';
import { comparePolicies, scenarioSubject, traceSubject } from './policy-comparison.ts';
import { matchesOf, overallOf } from './standings.ts';

/** All scenarios take a few minutes on two cores. Each trace begins on a Monday; a week has a weekend. */
const DAYS: Readonly<Record<string, number>> = {
  ...{ '1k-users': 2, '3k-users': 2, '10k-users': 1, 'prebuild-heavy': 2 },
};
const WEEK = 7;
/** Prices of waiting: dollars for each minute of a person. */
const VALUES = [0.02, 0.1, 1];
const REGION = 'us-east-1';

type Options = {
  readonly json: boolean;
  readonly scenarios: readonly Scenario[];
  readonly traces?: readonly string[];
  readonly config?: string;
  readonly launch?: number;
  readonly values: readonly number[];
  readonly seeds: number;
  readonly days?: number;
  readonly workers: number;
};

const { json, scenarios, traces, config, launch, values, seeds, days, workers } = new Command(
  'backtest:policies',
)
  .description('compare the autoscaler with other policies, at several prices of waiting')
  .option('--json', 'print one JSON object as the last line', false)
  .addOption(
    new Option('--scenarios <names>', 'run only these scenarios, separated by commas')
      .argParser(parseScenarios)
      .default(SCENARIOS, SCENARIOS.map(({ name }) => name).join(',')),
  )
  .addOption(
    new Option('--traces <files>', 'run these trace files instead of scenarios, separated by commas')
      .argParser((text) => text.split(','))
      .conflicts(['scenarios', 'days']),
  )
  .option('--config <file>', 'configuration for --traces (default: one pool of up to 100 tasks)')
  .option(
    '--launch <dollars>',
    'what one launch costs in addition to the task (default: as configured)',
    parseDollars,
  )
  .option(
    '--values <dollars>',
    'prices of one minute of a person in dollars, separated by commas',
    parseValues,
    VALUES,
  )
  .option('--seeds <number>', 'number of traces of each scenario', parseCount, 1)
  .option(
    '--days <number>',
    'length of each trace (default: 7 days; 1k-users, 3k-users and prebuild-heavy 2 days, 10k-users 1 day)',
    parseCount,
  )
  .option(
    '--workers <number>',
    'number of threads; the figures do not depend on it',
    parseCount,
    availableParallelism(),
  )
  .parse()
  .opts<Options>();

const stream = json ? process.stderr : process.stdout;
const startedAt = performance.now();
const workerPool = startWorkerPool(workers);
const subjects =
  traces?.map((file) => traceSubject(file, config)) ??
  scenarios.map((scenario) => scenarioSubject(scenario, days ?? DAYS[scenario.name] ?? WEEK));
const options = {
  ...{ seeds: Array.from({ length: seeds }, (_, index) => index + 1), workerPool },
  ...{ values, launch, region: REGION },
};
const comparisons = await Promise.all(
  subjects.map(async (subject) => {
    const comparison = await comparePolicies(subject, options);
    process.stderr.write(`${subject.name}: done after ${secondsSoFar()} s\n`);
    return comparison;
  }),
);
await workerPool.close();
process.stderr.write(`${secondsSoFar()} s on ${workers} threads\n`);
const matches = comparisons.flatMap(matchesOf);
const result = { region: REGION, values, matches, overall: overallOf(matches) };
stream.write(`${benchText(result)}\n`);
if (json) process.stdout.write(`${JSON.stringify(result)}\n`);

function secondsSoFar(): number {
  return Math.round((performance.now() - startedAt) / 1000);
}

/** Throws InvalidArgumentError. commander adds the name of the option to its message. */
function parseValues(text: string): readonly number[] {
  return text.split(',').map(parseDollars);
}

/** Throws InvalidArgumentError. commander adds the name of the option to its message. */
function parseDollars(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= MOST) return value;
  throw new InvalidArgumentError(
    `"${text}" is not a price; write dollars above 0 and up to ${MOST}, such as 0.02`,
  );
}
