/**
 * `npm run bench:policies`: what the autoscaler costs at several prices of waiting, beside what one would run instead, over the same traces.
 * The autoscaler knows the price alone; the others are tuned for the very trace and price. `-- --json`: the last line is one JSON object, the
 * same for the same options. Ends with 0 whatever it finds.
 */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { SCENARIOS } from '../backtest/scenarios/index.ts';
import { startCrew } from '../backtest/search/worker-pool.ts';
import type { Scenario } from '../backtest/trace/generate/scenario.ts';
import { showProgress } from '../cli/backtest/progress.ts';
import { wholeNumber } from '../simulator/base/whole-number.ts';
import { holdContest, type PolicyComparison } from './policies/policy-comparison.ts';
import { benchText } from './policies/show.ts';
import { matchesOf, overallOf } from './policies/standings.ts';

/** So long that all of it takes a few minutes on two cores. Each begins with a Monday; a week has a weekend. */
const DAYS: Readonly<Record<string, number>> = {
  ...{ '1k-users': 2, '3k-users': 2, '10k-users': 1, 'prebuild-heavy': 2 },
};
const WEEK = 7;
const MOST = 1000;
/** Prices of waiting: dollars a minute of a person. */
const VALUES = [0.02, 0.1, 1];
const REGION = 'us-east-1';

type Options = {
  readonly json: boolean;
  readonly scenarios: readonly Scenario[];
  readonly values: readonly number[];
  readonly seeds: number;
  readonly days?: number;
  readonly workers: number;
};

const { json, scenarios, values, seeds, days, workers } = new Command('bench:policies')
  .description('compare the autoscaler with what one would run instead, at several prices of waiting')
  .option('--json', 'end with one JSON object on the last line', false)
  .option('--scenarios <names>', 'only these, with commas between them', parseScenarios, SCENARIOS)
  .option(
    '--values <dollars>',
    'prices of one minute of a person, with commas between them',
    parseValues,
    VALUES,
  )
  .option('--seeds <number>', 'how many traces of each', parseCount, 1)
  .option(
    '--days <number>',
    'how long each trace is (default: a week; 1k-users, 3k-users and prebuild-heavy 2 days, 10k-users 1)',
    parseCount,
  )
  .option('--workers <number>', 'threads; the figures are the same', parseCount, availableParallelism())
  .parse()
  .opts<Options>();

const stream = json ? process.stderr : process.stdout;
const startedAt = performance.now();
const progress = showProgress(process.stderr.isTTY ? process.stderr : undefined);
const crew = startCrew(workers);
const shares = new Map<Scenario, number>();
const contests = await Promise.all(
  scenarios.map((scenario) =>
    holdContest(scenario, {
      ...{ seeds: Array.from({ length: seeds }, (_, index) => index + 1), crew },
      ...{ days: days ?? DAYS[scenario.name] ?? WEEK, values, region: REGION },
      onProgress: (share) => {
        shares.set(scenario, share);
        progress.show(
          [...shares.values()].reduce((sum, each) => sum + each, 0) / scenarios.length,
          scenario.name,
        );
      },
    }).then(tellEnd),
  ),
);
progress.end();
await crew.close();
process.stderr.write(`${secondsSoFar()} s on ${workers} threads\n`);
const matches = contests.flatMap(matchesOf);
const result = { region: REGION, values, matches, overall: overallOf(matches) };
stream.write(`${benchText(result)}\n`);
if (json) process.stdout.write(`${JSON.stringify(result)}\n`);

function tellEnd(contest: PolicyComparison): PolicyComparison {
  if (!process.stderr.isTTY) process.stderr.write(`${contest.scenario}: done after ${secondsSoFar()} s\n`);
  return contest;
}

function secondsSoFar(): number {
  return Math.round((performance.now() - startedAt) / 1000);
}

function parseScenarios(text: string): readonly Scenario[] {
  return text.split(',').map((name) => {
    const found = SCENARIOS.find((scenario) => scenario.name === name);
    if (found !== undefined) return found;
    const known = SCENARIOS.map((scenario) => scenario.name).join(', ');
    throw new InvalidArgumentError(`there is no scenario "${name}"; there are ${known}`);
  });
}

/** Throws InvalidArgumentError, which commander tells with the option's name. */
function parseValues(text: string): readonly number[] {
  return text.split(',').map((part) => {
    const value = Number(part);
    if (part.trim() !== '' && value > 0 && value <= MOST) return value;
    throw new InvalidArgumentError(
      `"${part}" is not a price; write dollars above 0 and up to ${MOST}, such as 0.02,0.1,1`,
    );
  });
}

function parseCount(text: string): number {
  const number = wholeNumber(text);
  if (number >= 1 && number <= MOST) return number;
  throw new InvalidArgumentError(`it must be from 1 to ${MOST}`);
}
