/**
 * Suggests settings from a few runs: the price of waiting with the lowest total, and limits above
 * the peaks of its run. One more run shows what these settings would have saved.
 */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { HIGHEST_PRICE } from '../../lambda/config/schema/waiting-schema.ts';
import type { Run } from '../replay/run.ts';
import type { Suggestion, Trial } from '../replay/suggestion.ts';
import { priceOfWaiting } from '../replay/waiting-price.ts';
import type { Trace } from '../trace/trace.ts';
import { recommend, startTimeOf, withRecommendation } from './recommendation.ts';
import { objectiveOf } from './search.ts';
import { sweepPoint, sweepPrices } from './sweep.ts';
import { yamlFragment } from './yaml-fragment.ts';

export type SuggestOptions = {
  readonly trace: Trace;
  readonly config: Deployment;
  /** Dollars. The total counts the wait of people at this price. */
  readonly valueOfMinute: number;
  /** The prices of a sweep, if there is one: their runs cost no further time. */
  readonly sweep?: readonly number[];
};

export type SuggestRuns = {
  /** Runs the configuration at another price of waiting. */
  readonly runAt: (price: number) => Promise<Run>;
  readonly runWith: (config: Deployment) => Promise<Run>;
};

/** Half and twice the value of a minute. Closer prices differ by chance only. */
const FACTORS = [0.5, 1, 2] as const;
/** Smaller savings are chance: another seed would give other start times. */
const LEAST_SAVED_SHARE = 0.05;

export async function suggest(options: SuggestOptions, runs: SuggestRuns): Promise<Suggestion> {
  const { trace, config } = options;
  const configured = priceOfWaiting(config);
  const tried: readonly Tried[] = await Promise.all(
    pricesOf(options, configured).map(async (price) => ({ price, run: await runs.runAt(price) })),
  );
  const best = bestOf({ price: configured, run: await runs.runAt(configured) }, tried, options.valueOfMinute);
  const settings = recommend(config, best.price, best.run.figures, startTimeOf(trace.startSeconds));
  const suggested = withRecommendation(config, settings);
  const last = { price: best.price, run: await runs.runWith(suggested) };
  const after = trialOf(last, configured, trace);
  const trials = tried.map((each) => trialOf(each, configured, trace));
  return { settings, yaml: yamlFragment(settings, suggested), trials, after, ...savingOf(trials, after) };
}

function pricesOf({ sweep, valueOfMinute }: SuggestOptions, configured: number): readonly number[] {
  const around = FACTORS.map((factor) => Math.min(HIGHEST_PRICE, round(valueOfMinute * factor)));
  return sweepPrices(sweep ?? around, configured);
}

const round = (price: number): number => Number(price.toPrecision(3));

type Tried = { readonly price: number; readonly run: Run };

/**
 * The run with the lowest total. The present price wins if the difference is only chance, and then
 * the value of a minute.
 */
function bestOf(own: Tried, tried: readonly Tried[], valueOfMinute: number): Tried {
  const least = tried.reduce((best, each) => (totalOf(each) < totalOf(best) ? each : best), own);
  const atValue = tried.filter(({ price }) => price === valueOfMinute);
  return [own, ...atValue].find((each) => !isMoreThanChance(totalOf(each), totalOf(least))) ?? least;
}

const totalOf = ({ run }: Tried): number => objectiveOf(run.figures);

const isMoreThanChance = (before: number, after: number): boolean =>
  before - after > before * LEAST_SAVED_SHARE;

function trialOf({ price, run }: Tried, configured: number, trace: Trace): Trial {
  const point = sweepPoint({ price, isConfigured: price === configured }, run, trace);
  return { ...point, dollars: run.figures.dollars };
}

function savingOf(trials: readonly Trial[], after: Trial) {
  const before = trials.find(({ isConfigured }) => isConfigured)?.dollars.total ?? 0;
  const savedDollars = before - after.dollars.total;
  return { savedDollars, isWorthIt: isMoreThanChance(before, after.dollars.total) };
}
