/** Recommends a price of waiting for a trace and a target, and the limits that the trace needs. */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { withoutUnservedJobs } from '../bounds/of-a-trace.ts';
import { atPriceOfWaiting, priceOfWaiting, pricesOf } from '../replay/prices.ts';
import type { Trace } from '../trace/trace.ts';
import { findPrice, type PriceSearch, pricePoint, type Target, USUAL_PRICES } from './price-search.ts';
import { type Recommendation, recommend, startTimeOf, withStartTime } from './recommendation.ts';
import { sketch } from './sketch.ts';

export type TuneOptions = {
  readonly trace: Trace;
  readonly config: Deployment;
  /** Undefined: shows what each price costs. */
  readonly target: Target | undefined;
  readonly seeds: readonly number[];
  readonly region: string;
  /** Called with the share of the work that is done, 0 to 1, and the price. */
  readonly onProgress?: (share: number, doing: string) => void;
};

export type Tuning = PriceSearch & {
  /** The settings for each price worth choosing, lowest price first. */
  readonly choices: readonly Recommendation[];
  /** The present configuration, with the start time of the trace. */
  readonly config: Deployment;
};

/** The same options give the same settings. */
export function tune(given: TuneOptions): Tuning {
  const options = { ...given, ...withoutUnservedJobs(given) };
  const { trace, target, seeds, region, onProgress } = options;
  const config = withStartTime(options.config, trace.startSeconds);
  const configured = priceOfWaiting(config);
  const prices = [...new Set([...USUAL_PRICES, configured])].sort((a, b) => a - b);
  const perHour = pricesOf(config, region);
  const points = prices.map((price, index) => {
    const sketches = sketch({
      trace,
      config: atPriceOfWaiting(config, price),
      seeds,
      dollarsPerHour: (pool) => perHour[pool] ?? 0,
    });
    onProgress?.((index + 1) / prices.length, `$${price}`);
    return pricePoint({ price, isConfigured: price === configured }, sketches, trace);
  });
  const search = findPrice(target, points);
  const startTimeMs = startTimeOf(trace.startSeconds);
  return { ...search, choices: search.worth.map((point) => recommend(config, point, startTimeMs)), config };
}
