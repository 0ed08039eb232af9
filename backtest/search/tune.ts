/**
 * Recommends settings for a trace and a target, and compares a run with them to the present
 * configuration.
 */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { withoutUnservedJobs } from '../bounds/of-a-trace.ts';
import type { Run } from '../replay/run.ts';
import { atPriceOfWaiting, priceOfWaiting } from '../replay/waiting-price.ts';
import type { Trace } from '../trace/trace.ts';
import { orderOf } from './compare.ts';
import { type PricePoint, pricePoint, USUAL_PRICES, withConfigured } from './price-point.ts';
import { findPrice, type Target } from './price-search.ts';
import { Progress } from './progress.ts';
import {
  type Recommendation,
  recommend,
  startTimeOf,
  withRecommendation,
  withStartTime,
} from './recommendation.ts';
import type { WorkerPool } from './worker-pool.ts';

export type TuneOptions = {
  readonly trace: Trace;
  readonly config: Deployment;
  readonly target: Target;
  readonly seed: number;
  readonly region: string;
  readonly workerPool: WorkerPool;
  /** Called with the share of the work that is done, 0 to 1, and the name of the run. */
  readonly onProgress?: (share: number, doing: string) => void;
};

export type Tuning = {
  /** The run with the present configuration. */
  readonly before: PricePoint;
  /** All runs of the price search, lowest price first. All other settings are as configured. */
  readonly points: readonly PricePoint[];
  /** Undefined: no price meets the target. */
  readonly found?: {
    readonly recommendation: Recommendation;
    /** The run with the recommended configuration. */
    readonly after: PricePoint;
    /** The recommended configuration. */
    readonly config: Deployment;
  };
};

/** The same options give the same settings, with any number of threads. */
export async function tune(given: TuneOptions): Promise<Tuning> {
  const options = { ...given, ...withoutUnservedJobs(given) };
  const { trace, target } = options;
  // all runs but the first use the start time of the trace
  const config = withStartTime(options.config, trace.startSeconds);
  const configured = priceOfWaiting(config);
  const runs = new Map<number, Run>();
  const prices = withConfigured(USUAL_PRICES, configured);
  // the bisection adds some more runs
  const progress = new Progress(options, prices.length + 2);
  const runAt = async (price: number): Promise<PricePoint> => {
    const run = await runOf(options, atPriceOfWaiting(config, price), progress.add(`$${price}`, 1));
    runs.set(price, run);
    return pricePoint({ price, isConfigured: price === configured }, run, trace);
  };
  const [asIs, { best, points }] = await Promise.all([
    runOf(options, options.config, progress.add('as configured', 1)),
    findPrice(target, prices, runAt),
  ]);
  const before = pricePoint({ price: configured, isConfigured: true }, asIs, trace);
  const bestRun = best && runs.get(best.price);
  if (best === undefined || bestRun === undefined) return { before, points };
  const recommendation = recommend(config, best.price, bestRun.figures, startTimeOf(trace.startSeconds));
  const recommended = withRecommendation(config, recommendation);
  const run = await runOf(options, recommended, progress.add('the recommendation', 1));
  const after = pricePoint({ price: best.price, isConfigured: false }, run, trace);
  return { before, points, found: { recommendation, after, config: recommended } };
}

function runOf(
  { trace, seed, region, workerPool }: TuneOptions,
  config: Deployment,
  onProgress: (share: number) => void,
): Promise<Run> {
  const order = orderOf({ trace, config, seed, region, valueOfMinute: 0 }, { policy: 'autoscaler' }, false);
  return workerPool.run(order, onProgress);
}
