/** Recommends a price of waiting for a trace and a target, and the limits that the trace needs. */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { withoutUnservedJobs } from '../bounds/of-a-trace.ts';
import { atPriceOfWaiting, priceOfWaiting } from '../replay/prices.ts';
import type { Trace } from '../trace/trace.ts';
import { orderOf } from './compare.ts';
import {
  correctionOf,
  findPrice,
  type PriceSearch,
  pricePoint,
  type Target,
  USUAL_PRICES,
} from './price-search.ts';
import { type Recommendation, recommend, startTimeOf, withStartTime } from './recommendation.ts';
import { sketch } from './sketch.ts';
import { type Order, Progress, type WorkerPool } from './worker-pool.ts';

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
  const { trace, target, seeds, region, workerPool } = options;
  const config = withStartTime(options.config, trace.startSeconds);
  const configured = priceOfWaiting(config);
  const prices = [...new Set([...USUAL_PRICES, configured])].sort((a, b) => a - b);
  const progress = new Progress(options, 2);
  const days = busiestDays(trace);
  const [seed = 1] = seeds;
  const orderAt = (price: number): Order => {
    const order = { trace: days, config: atPriceOfWaiting(config, price), region, seed, valueOfMinute: 0 };
    return { ...orderOf(order, { policy: 'autoscaler' }, false), leavesOutLooks: true };
  };
  const sketchOf = (price: number, played: Trace) => {
    const { dollarsPerHour, config: priced } = orderAt(price);
    return sketch({
      trace: played,
      config: priced,
      seeds,
      dollarsPerHour: (pool) => dollarsPerHour[pool] ?? 0,
    });
  };
  const search = await findPrice(target, {
    prices,
    configured,
    sketchAt: (price) =>
      pricePoint({ price, isConfigured: price === configured }, sketchOf(price, trace), trace),
    replayAt: async (price) => {
      const run = await workerPool.run(orderAt(price), progress.add(`$${price}`, 1));
      return correctionOf(run, sketchOf(price, days));
    },
  });
  const startTimeMs = startTimeOf(trace.startSeconds);
  return { ...search, choices: search.worth.map((point) => recommend(config, point, startTimeMs)), config };
}

/** A replay takes a second or more for each day. */
const REPLAYED_DAYS = 3;

function busiestDays(trace: Trace): Trace {
  const count = Math.floor((trace.to - trace.from) / DAY_MS);
  if (count <= REPLAYED_DAYS) return trace;
  const spans = Array.from({ length: count - REPLAYED_DAYS + 1 }, (_, day) => {
    const from = plusMs(trace.from, day * DAY_MS);
    const to = plusMs(from, REPLAYED_DAYS * DAY_MS);
    return { from, to, jobs: trace.jobs.filter(({ at }) => at >= from && at < to) };
  });
  const busiest = spans.reduce((most, each) => (each.jobs.length > most.jobs.length ? each : most));
  return { ...trace, ...busiest };
}
