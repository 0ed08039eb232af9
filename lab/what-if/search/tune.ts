/** Recommends a price of waiting for a trace and a target, and the limits that the trace needs. */
import { setImmediate } from 'node:timers/promises';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { withoutUnservedJobs } from '../replay/fitting.ts';
import { atPriceOfWaiting, priceOfWaiting, pricesOf } from '../replay/prices.ts';
import type { Trace } from '../trace/trace.ts';
import {
  findPrice,
  isMetOnAverage,
  type PricePoint,
  type PriceSearch,
  pricePoint,
  type Target,
  USUAL_PRICES,
} from './price-search.ts';
import { type Recommendation, recommend, startTimeOf, withStartTime } from './recommendation.ts';
import { sketches } from './sketch.ts';

type PriceOptions = {
  readonly trace: Trace;
  readonly config: Deployment;
  /** The first seed. */
  readonly seed: number;
  /** How many worlds each price is tried in. */
  readonly seeds: number;
  readonly region: string;
  /** Called with the share of the work that is done, 0 to 1, and the price. */
  readonly onProgress?: (share: number, doing: string) => void;
};

/** `target`: undefined shows what each price costs. */
export type TuneOptions = PriceOptions & { readonly target: Target | undefined };

/** Enough worlds for a level that another set of them hardly changes. */
export const USUAL_SEEDS = 8;

export type Tuning = PriceSearch & {
  /** The settings for each price worth choosing, lowest price first. */
  readonly choices: readonly Recommendation[];
  /** The present configuration, with the start time of the trace. */
  readonly config: Deployment;
  /** The dearest price without limits. Undefined: some price meets the target on average, or it is a budget. */
  readonly unlimited: PricePoint | undefined;
};

/** The same options give the same settings. */
export async function tune(given: TuneOptions): Promise<Tuning> {
  const options = { ...given, ...withoutUnservedJobs(given) };
  const { startSeconds } = options.trace;
  const config = withStartTime(options.config, startSeconds);
  const search = findPrice(options.target, await pricePoints(options));
  const startTimeMs = startTimeOf(startSeconds);
  const choices = search.worth.map((point) => recommend(config, point, startTimeMs));
  return { ...search, choices, config, unlimited: await unlimitedOf(options, search) };
}

/** Shows whether a limit keeps the target out of reach. */
async function unlimitedOf(
  { onProgress: _none, target, ...options }: TuneOptions,
  { points }: PriceSearch,
): Promise<PricePoint | undefined> {
  const dearest = points.at(-1);
  if (target === undefined || target.kind === 'budget' || dearest === undefined) return undefined;
  if (points.some((point) => isMetOnAverage(target, point))) return undefined;
  const { limits, pools } = options.config;
  const config = {
    ...options.config,
    limits: { ...limits, maxTasks: PLENTY },
    pools: pools.map((pool) => ({ ...pool, max: PLENTY })),
  };
  const [point] = await pricePoints({ ...options, config }, [dearest.price]);
  return point;
}

/** Tasks: more than any trace needs. */
const PLENTY = 10_000;

/** What each price costs, lowest price first. Lets other work run between two prices. */
export async function pricePoints(
  options: PriceOptions,
  prices: readonly number[] = pricesAround(options.config),
): Promise<readonly PricePoint[]> {
  const { trace, config, seed, seeds: count, region, onProgress } = options;
  const seeds = Array.from({ length: count }, (_, at) => seed + at);
  const configured = priceOfWaiting(config);
  const perHour = pricesOf(config, region);
  const configs = prices.map((price) => atPriceOfWaiting(config, price));
  const dollarsPerHour = (pool: string): number => perHour[pool] ?? 0;
  const points: PricePoint[] = [];
  await setImmediate();
  for (const sketched of sketches({ trace, configs, seeds, dollarsPerHour })) {
    const price = prices[points.length] ?? configured;
    points.push(pricePoint({ price, isConfigured: price === configured }, sketched, trace));
    onProgress?.(points.length / prices.length, `$${price}`);
    await setImmediate();
  }
  return points;
}

const pricesAround = (config: Deployment): readonly number[] =>
  [...new Set([...USUAL_PRICES, priceOfWaiting(config)])].sort((a, b) => a - b);
