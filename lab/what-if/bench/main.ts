/**
 * `npm run bench:what-if`: what the autoscaler, which knows only the price of waiting, costs beside the other
 * policies, each with the best settings for this trace and price. Launches cost what the deployment says.
 */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { plainTable } from '../../../cli/shared/plain-table.ts';
import { loadConfig } from '../../../lambda/config/load.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import { configFileOf, SCENARIOS } from '../scenarios/index.ts';
import { startWorkerPool } from '../search/worker-pool.ts';
import { readTraceFile } from '../trace/file.ts';
import { generateTrace } from '../trace/generate/generate.ts';
import { compareColdDays } from './cold-days.ts';
import { comparePolicies } from './policies.ts';
import { REGION, type Subject, subjectOf } from './runs.ts';

/** All scenarios take some minutes on two cores. */
const DAYS: Readonly<Record<string, number>> = {
  ...{ '1k-users': 2, '3k-users': 2, '10k-users': 1, 'prebuild-heavy': 2 },
};

type Options = {
  readonly scenario?: string;
  readonly trace?: string;
  readonly coldDays?: true;
  readonly config: string;
  readonly seeds: readonly number[];
};

const options = new Command('bench:what-if')
  .description('cost and waits of the autoscaler and of other policies, at several prices of waiting')
  .addOption(new Option('--scenario <name>', 'only this one').choices(SCENARIOS.map(({ name }) => name)))
  .option('--trace <file>', 'a trace instead of the scenarios')
  .option('--config <file>', 'the configuration of the trace', 'autoscaler.yaml')
  .option(
    '--cold-days',
    'ten days, each by a process that knows nothing and by one that has seen the days before',
  )
  .option('--seeds <list>', 'seeds of start times and of ends of processes', seedsOf, [1])
  .parse()
  .opts<Options>();

const threads = startWorkerPool(availableParallelism());
const bench = { threads, seeds: options.seeds };
const { columns, rows, notes } = options.coldDays
  ? await compareColdDays(bench)
  : await comparePolicies(subjectsOf(options), bench);
await threads.close();
process.stdout.write(`${plainTable(columns, rows)}

${notes.join('\n')}
Prices of ${REGION}; seeds ${options.seeds.join(', ')}. Sums and means are for one seed.
`);

function subjectsOf({ scenario, trace, config }: Options): readonly Subject[] {
  if (trace !== undefined) return [subjectOf(readTraceFile(trace).trace, loadConfig(config).config)];
  return SCENARIOS.filter(({ name }) => scenario === undefined || scenario === name).map((each) =>
    subjectOf(
      generateTrace(each, { seed: 1, days: ownValue(DAYS, each.name) ?? 7 }),
      loadConfig(configFileOf(each)).config,
    ),
  );
}

function seedsOf(text: string): readonly number[] {
  const seeds = text.split(',').map(Number);
  if (seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)) return seeds;
  throw new InvalidArgumentError('write whole numbers with commas between them, such as 1,2,3.');
}
