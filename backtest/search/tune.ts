/** Recommends a price of waiting for a trace and a target, and the limits that the trace needs. */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { withoutUnservedJobs } from '../bounds/of-a-trace.ts';
import { atPriceOfWaiting, priceOfWaiting } from '../replay/prices.ts';
import type { Run } from '../replay/run.ts';
import type { Trace } from '../trace/trace.ts';
import { orderOf } from './compare.ts';
import { findPrice, type PriceSearch, pricePoint, type Target, USUAL_PRICES } from './price-search.ts';
import { type Recommendation, recommend, startTimeOf, withStartTime } from './recommendation.ts';
import { Progress, type WorkerPool } from './worker-pool.ts';

export type TuneOptions = {
  readonly trace: Trace;
  readonly config: Deployment;
  /** Undefined: shows what each price costs. */
  readonly target: Target | undefined;
  readonly seeds: readonly number[];
  readonly region: string;
  readonly workerPool: WorkerPool;
  /** Called with the share of the work that is done, 0 to 1, and the name of the run. */
  readonly onProgress?: (share: number, doing: string) => void;
};

export type Tuning = PriceSearch & {
  /** The settings for each price worth choosing, lowest price first. */
  readonly choices: readonly Recommendation[];
  /** The present configuration, with the start time of the trace. */
  readonly config: Deployment;
};

/** The same options give the same settings, with any number of threads. */
export async function tune(given: TuneOptions): Promise<Tuning> {
  const options = { ...given, ...withoutUnservedJobs(given) };
  const { trace, target, seeds } = options;
  const config = withStartTime(options.config, trace.startSeconds);
  const configured = priceOfWaiting(config);
  const prices = [...new Set([...USUAL_PRICES, configured])].sort((a, b) => a - b);
  const progress = new Progress(options, prices.length + 3 * (seeds.length - 1));
  const known = new Map<string, Promise<Run>>();
  const runOf = (price: number, seed: number): Promise<Run> => {
    const name = `$${price}, seed ${seed}`;
    const order = { ...options, config: atPriceOfWaiting(config, price), seed, valueOfMinute: 0 };
    const run =
      known.get(name) ??
      options.workerPool.run(orderOf(order, { policy: 'autoscaler' }, false), progress.add(name, 1));
    known.set(name, run);
    return run;
  };
  const runsOf = (price: number, count: number): Promise<readonly Run[]> =>
    Promise.all(seeds.slice(0, count).map((seed) => runOf(price, seed)));
  const search = await findPrice(target, {
    prices,
    configured,
    runAt: async (price, which) => {
      const runs = await runsOf(price, which === 'one' ? 1 : seeds.length);
      return pricePoint({ price, isConfigured: price === configured }, runs, trace);
    },
  });
  const startTimeMs = startTimeOf(trace.startSeconds);
  return { ...search, choices: search.worth.map((point) => recommend(config, point, startTimeMs)), config };
}
