/** Takes the rule that would have been cheapest, with a guess that counts for two hours. */
import { HOUR_MS } from '../model/units.ts';
import type { StockRule } from './replay.ts';
import { GONE_AFTER_MS, type ReplayedPools, type RuleCost } from './replay.ts';

/** Before anything is known, builds are assumed to come at this rate. */
export const GUESSED_BUILDS_AN_HOUR = 0.5;
/** The guess counts as much as so many hours. */
const GUESS_HOURS = 2;
/** The rule in force stays unless another one is cheaper by this share. */
const CLEARLY = 0.03;

/** A rule and what it would have cost, in dollars. */
export type RuleInReplay = { readonly rule: StockRule; readonly cost: RuleCost };

/** Costs are in dollars an hour. */
export type ChosenRule = RuleInReplay & {
  /** The cost of the best rules that keep the next smaller and larger numbers of daemons free. */
  readonly others: readonly { readonly free: number; readonly dollars: number }[];
};

export type ChooseInput = {
  /** The weighted hours in which the costs arose. */
  readonly hours: number;
  readonly pools: ReplayedPools;
  /** The rule in force. */
  readonly before: StockRule;
};

/** Chooses one of the rules. Those that keep least free come first, and one is in force. */
export function chooseRule(
  replayed: readonly RuleInReplay[],
  { hours, pools, before }: ChooseInput,
): ChosenRule {
  const weighed = replayed.map(({ rule, cost }) => {
    const dollars = cost.tasks + cost.waiting;
    const guess = guessedCost(rule, pools);
    return { rule, cost, dollars, total: dollars + guess.tasks + guess.waiting };
  });
  const cheapest = cheapestOf(weighed);
  const inForce = weighed.find(({ rule }) => rule === before);
  const isClear = inForce === undefined || (cheapest?.total ?? 0) < inForce.total * (1 - CLEARLY);
  const { rule, cost } = (isClear ? cheapest : inForce) ?? { rule: before, cost: NOTHING };
  const anHour = (dollars: number): number => (hours === 0 ? 0 : dollars / hours);
  const sizes = [...new Set(replayed.map((each) => each.rule.free))];
  const place = sizes.indexOf(rule.free);
  return {
    rule,
    cost: { tasks: anHour(cost.tasks), waiting: anHour(cost.waiting) },
    others: [place - 1, place + 1].flatMap((next) => {
      const best = cheapestOf(weighed.filter((each) => each.rule.free === sizes[next]));
      return best === undefined ? [] : [{ free: best.rule.free, dollars: anHour(best.dollars) }];
    }),
  };
}

/** Undefined: there are none. */
function cheapestOf<T extends { readonly total: number }>(weighed: readonly T[]): T | undefined {
  return weighed.reduce<T | undefined>(
    (best, each) => (best === undefined || each.total < best.total ? each : best),
    undefined,
  );
}

const NOTHING: RuleCost = { tasks: 0, waiting: 0 };

/** What a rule costs in so many hours if builds come at the guessed rate and never two at once. */
export function guessedCost(
  { free, spareMs, afterBuildMs }: StockRule,
  { startMs, taskPrice, launchPrice, waitPrice }: ReplayedPools,
): RuleCost & { readonly hours: number; readonly builds: number } {
  const rate = GUESSED_BUILDS_AN_HOUR / HOUR_MS;
  const within = (ms: number): number => 1 - Math.exp(-rate * ms);
  const kept = afterBuildMs === null ? 1 : within(afterBuildMs);
  const missed = rate * (1 - (free === 0 ? within(spareMs) : kept));
  const spare = rate * Math.min(spareMs, 1 / rate) * (free === 0 ? 1 : 0.5);
  const tasks =
    taskPrice * (free * kept + spare) + missed * (launchPrice + taskPrice * (startMs + GONE_AFTER_MS));
  const guessedMs = GUESS_HOURS * HOUR_MS;
  return {
    tasks: tasks * guessedMs,
    waiting: missed * waitPrice * startMs * guessedMs,
    hours: GUESS_HOURS,
    builds: rate * guessedMs,
  };
}
