/** Recommends a price of waiting for a trace and a target, and the limits that the trace needs. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { withoutUnservedJobs } from '../replay/fitting.ts';
import { atPriceOfWaiting, priceOfWaiting } from '../replay/prices.ts';
import type { PolicyRun, PricePoint } from '../replay/result.ts';
import { type CompareOptions, ownRun } from './compare.ts';
import { findPrice, type PriceSearch, type Target } from './price-search.ts';
import { type Recommendation, recommend, startTimeOf, withStartTime } from './recommendation.ts';
import { Progress } from './worker-pool.ts';

export type TuneOptions = CompareOptions & {
  /** Undefined shows what each price costs. */
  readonly target: Target | undefined;
  /** The replay of the configured price. */
  readonly ours: Pick<PolicyRun, 'figures' | 'estimates'>;
};

export type Tuning = PriceSearch & {
  /** The settings for the best price; without a target for each price that was played, lowest price first. */
  readonly choices: readonly Recommendation[];
  /** The present configuration, with the start time of the trace. */
  readonly config: Deployment;
};

/** The most prices that a search plays beside the configured one, two at a time. */
export const MOST_PRICES = 3;

/** The same options give the same settings. */
export async function tune(given: TuneOptions): Promise<Tuning> {
  const options = { ...given, ...withoutUnservedJobs(given) };
  const { config, target, trace, ours } = options;
  const progress = new Progress(options, MOST_PRICES);
  const present = { price: priceOfWaiting(config), isConfigured: true, ...ours };
  const play = async (price: number): Promise<PricePoint> => {
    const priced = { ...options, config: atPriceOfWaiting(config, price) };
    const { figures, estimates } = await ownRun(priced, progress.add(`$${price} a minute`, 1), false);
    return { price, isConfigured: false, figures, estimates };
  };
  const search = await findPrice(target, { present, play });
  const chosen = target === undefined ? search.points : [search.best ?? []].flat();
  const startTimeMs = startTimeOf(trace.startSeconds);
  return {
    ...search,
    choices: chosen.map((point) => recommend(config, point, startTimeMs)),
    config: withStartTime(config, trace.startSeconds),
  };
}
