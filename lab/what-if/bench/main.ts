/**
 * `npm run bench:what-if`: what the autoscaler, which knows only the price of waiting, costs beside the other
 * policies, each with the best settings for this trace and price. Launches cost what the deployment says.
 */
import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { plainTable } from '../../../cli/shared/plain-table.ts';
import { loadConfig } from '../../../lambda/config/load.ts';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import { MONTH_MS } from '../../../lambda/decision/model/units.ts';
import { monthlyOwnDollars } from '../cli/backtest/subject.ts';
import { BASELINES } from '../policies/index.ts';
import type { Policy } from '../policies/policy.ts';
import { withoutUnservedJobs } from '../replay/fitting.ts';
import { atPriceOfWaiting } from '../replay/prices.ts';
import { type Figures, lostJobs } from '../replay/result.ts';
import { configFileOf, SCENARIOS } from '../scenarios/index.ts';
import { orderOf } from '../search/compare.ts';
import { cheapestOf, type Tried } from '../search/search.ts';
import { type Order, startWorkerPool } from '../search/worker-pool.ts';
import { readTraceFile } from '../trace/file.ts';
import { generateTrace } from '../trace/generate/generate.ts';
import type { Trace } from '../trace/trace.ts';

/** All scenarios take some minutes on two cores. */
const DAYS: Readonly<Record<string, number>> = {
  ...{ '1k-users': 2, '3k-users': 2, '10k-users': 1, 'prebuild-heavy': 2 },
};
/** Dollars for each minute of a person. */
const PRICES = [0.02, 0.1, 1];
const SEED = 1;
const REGION = 'us-east-1';

type Subject = { readonly trace: Trace; readonly config: Deployment };
type Options = { readonly scenario?: string; readonly trace?: string; readonly config: string };

const options = new Command('bench:what-if')
  .description('cost and waits of the autoscaler and of other policies, at several prices of waiting')
  .addOption(new Option('--scenario <name>', 'only this one').choices(SCENARIOS.map(({ name }) => name)))
  .option('--trace <file>', 'a trace instead of the scenarios')
  .option('--config <file>', 'the configuration of the trace', 'autoscaler.yaml')
  .parse()
  .opts<Options>();

const threads = startWorkerPool(availableParallelism());
const rows: (readonly string[])[] = [];
for (const subject of subjectsOf(options)) {
  const name = subject.trace.name;
  process.stderr.write(`${name}: ${subject.trace.jobs.length} jobs\n`);
  rows.push(...(await rowsOf(subject)));
}
await threads.close();

const HEADS = ['total $', 'tasks $', 'hours', 'launches', 'unused', 'mean s', 'p95 s', 'lost'];
const table = plainTable(
  [
    ...['trace', '$/min', 'policy'].map((head) => ({ head, align: 'left' as const })),
    ...HEADS.map((head) => ({ head, align: 'right' as const })),
  ],
  rows,
);
process.stdout.write(`${table}

total $: tasks, launches, the autoscaler itself, waiting people and failed jobs. Prices of ${REGION}, seed ${SEED}
unused: launches without a job; mean, p95: waits of people; lost: jobs that were killed, given up or never run
`);

function subjectsOf({ scenario, trace, config }: Options): readonly Subject[] {
  if (trace !== undefined)
    return [withoutUnservedJobs({ trace: readTraceFile(trace).trace, ...loadConfig(config) })];
  return SCENARIOS.filter(({ name }) => scenario === undefined || scenario === name).map((each) => ({
    trace: generateTrace(each, { seed: SEED, days: ownValue(DAYS, each.name) ?? 7 }),
    config: loadConfig(configFileOf(each)).config,
  }));
}

/** The other policies run once for all prices: a price changes what waits cost, not what they do. */
async function rowsOf(subject: Subject): Promise<readonly (readonly string[])[]> {
  const ours = PRICES.map((price) => ownRun(subject, price));
  const others = await Promise.all(BASELINES.map((policy) => triedOf(policy, subject)));
  const byPrice = PRICES.map(async (price, at) => {
    const named = [
      { name: 'autoscaler', figures: await ours[at] },
      ...others.map(({ policy, tried }) => {
        const { settings, figures } = cheapestOf(tried, (each) => totalOf(each, price));
        return { name: policy.title(settings, subject.config), figures };
      }),
    ];
    return named.flatMap(({ name, figures }) =>
      figures === undefined ? [] : [[subject.trace.name, `${price}`, name, ...cells(figures, price)]],
    );
  });
  return (await Promise.all(byPrice)).flat();
}

async function ownRun({ trace, config }: Subject, price: number): Promise<Figures> {
  const figures = await run({ trace, config: atPriceOfWaiting(config, price) }, { policy: 'autoscaler' });
  const own = (monthlyOwnDollars({ trace, config }) * (trace.to - trace.from)) / MONTH_MS;
  const tasks = figures.dollars.tasks + own;
  return { ...figures, dollars: { ...figures.dollars, tasks } };
}

async function triedOf(policy: Policy, subject: Subject) {
  const tried = policy.grid.map(async (settings): Promise<Tried> => {
    return { settings, figures: await run(subject, { policy: policy.id, settings }) };
  });
  return { policy, tried: await Promise.all(tried) };
}

/** A minute costs one dollar here; `totalOf` has the price. */
async function run(subject: Subject, driver: Order['driver']): Promise<Figures> {
  const order = orderOf({ ...subject, seed: SEED, valueOfMinute: 1, region: REGION }, driver, false);
  return (await threads.run(order)).figures;
}

function totalOf({ dollars }: Figures, price: number): number {
  return dollars.tasks + price * (dollars.waiting + dollars.failures);
}

function cells(figures: Figures, price: number): readonly string[] {
  const { dollars, tasks, waitOfPeople: wait } = figures;
  return [
    ...[totalOf(figures, price), dollars.tasks].map((cost) => cost.toFixed(2)),
    ...[tasks.hours.toFixed(1), `${tasks.launches}`, `${tasks.idleLaunches}`],
    ...[wait.meanS.toFixed(1), wait.p95S.toFixed(0), `${lostJobs(figures)}`],
  ];
}
