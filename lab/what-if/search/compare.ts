/** Computes a backtest: the autoscaler and other policies on one trace. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import { MONTH_MS } from '../../../lambda/decision/model/units.ts';
import { estimatesOf, plus } from '../estimate/estimate.ts';
import { BASELINES } from '../policies/index.ts';
import type { Policy } from '../policies/policy.ts';
import { withoutUnservedJobs } from '../replay/fitting.ts';
import { priceDate, pricesOf } from '../replay/prices.ts';
import type { Backtest, PolicyRun } from '../replay/result.ts';
import { stepOf } from '../replay/sampler.ts';
import { startLatencies, startSecondsOf } from '../replay/start-latencies.ts';
import type { Trace } from '../trace/trace.ts';
import { cheapestOf } from './search.ts';
import { type Order, Progress, type WorkerPool } from './worker-pool.ts';

export type CompareOptions = {
  readonly trace: Trace;
  /** Invalid lines of the file that were left out. */
  readonly skipped: number;
  readonly config: Deployment;
  /** Ids of the policies of `BASELINES` to compare with. */
  readonly against: readonly string[];
  readonly seed: number;
  /** Dollars. */
  readonly valueOfMinute: number;
  readonly region: string;
  /** Dollars a month of the autoscaler itself. @default 0 */
  readonly ownDollars?: number;
  readonly workerPool: WorkerPool;
  /** Called with the share of the work that is done, 0 to 1, and the name of the part that runs. */
  readonly onProgress?: (share: number, doing: string) => void;
};

/** The same options give the same figures, with any number of threads. */
export async function compare(given: CompareOptions): Promise<Backtest> {
  const options = { ...given, ...withoutUnservedJobs(given) };
  const { trace, config, seed, skipped, valueOfMinute, region, unfit } = options;
  const prices = pricesOf(config, region);
  const progress = new Progress(options);
  const [ours, others] = await Promise.all([
    ownRun(options, progress.add('autoscaler', OWN_WEIGHT), true),
    Promise.all(policiesOf(options).map((policy) => policyRun(policy, options, progress))),
  ]);
  return {
    version: 1,
    trace: {
      name: trace.name,
      from: trace.from,
      to: trace.to,
      timezone: trace.timezone,
      skipped,
      unfit,
      jobs: trace.jobs.length,
      kinds: countsOf(trace.jobs.map(({ kind }) => kind)),
    },
    seed,
    settings: {
      valueOfMinute,
      region,
      pricesOf: priceDate(region),
      startSeconds: startSecondsOf(startLatencies(trace.startSeconds)),
    },
    pools: config.pools.map(({ name, organization, tags, min, max }) => ({
      name,
      organization,
      tags,
      max,
      dollarsPerTaskHour: ownValue(prices, name) ?? 0,
      min: min === 'auto' ? 0 : min,
    })),
    stepS: stepOf(trace),
    runs: [ours, ...others],
    prices: [],
  };
}

/** The order of one run: everything that a thread needs. */
export function orderOf(
  options: Pick<CompareOptions, 'trace' | 'config' | 'seed' | 'valueOfMinute' | 'region'>,
  driver: Order['driver'],
  isPictured: boolean,
): Order {
  const { trace, config, seed, valueOfMinute, region } = options;
  const prices = pricesOf(config, region);
  return { driver, trace, config, seed, valueOfMinute, isPictured, dollarsPerHour: prices };
}

function policiesOf({ against }: CompareOptions): readonly Policy[] {
  return BASELINES.filter(({ id }) => against.includes(id));
}

export async function ownRun(
  options: CompareOptions,
  done: (share: number) => void,
  isPictured: boolean,
): Promise<PolicyRun> {
  const order = orderOf(options, { policy: 'autoscaler' }, isPictured);
  const { days, ...run } = await options.workerPool.run(order, done);
  const estimates = estimatesOf([days]);
  const ours = { policy: 'autoscaler', title: 'autoscaler', settings: {}, isTuned: false, estimates, ...run };
  return withOwnDollars(ours, options);
}

/** Adds what the autoscaler itself costs. The fleets of the other policies have no such part. */
function withOwnDollars(run: PolicyRun, { trace, ownDollars = 0 }: CompareOptions): PolicyRun {
  const own = (ownDollars * (trace.to - trace.from)) / MONTH_MS;
  const { tasks, total, ...dollars } = run.figures.dollars;
  return {
    ...run,
    figures: { ...run.figures, dollars: { ...dollars, tasks: tasks + own, total: total + own } },
    estimates: { ...run.estimates, dollarsPerMonth: plus(run.estimates.dollarsPerMonth, ownDollars) },
  };
}

/** Runs a policy with all settings of its grid, and shows the best run. */
async function policyRun(
  { id, source, title, grid }: Policy,
  options: CompareOptions,
  progress: Progress,
): Promise<PolicyRun> {
  const tried = grid.map(async (settings) => {
    const order = orderOf(options, { policy: id, settings }, false);
    return { settings, ...(await options.workerPool.run(order, progress.add(id, 1))) };
  });
  const { days, ...best } = cheapestOf(await Promise.all(tried));
  return {
    ...{ policy: id, title: title(best.settings, options.config), isTuned: grid.length > 1 },
    ...(source === undefined ? {} : { source }),
    ...{ estimates: estimatesOf([days]), ...best },
  };
}

function countsOf<K extends string>(keys: readonly K[]): Readonly<Partial<Record<K, number>>> {
  const counts: Partial<Record<K, number>> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

/** The work of a run of the autoscaler, as a multiple of a run of another policy. */
const OWN_WEIGHT = 8;
