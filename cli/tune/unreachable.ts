/** Explains why no price of waiting meets a target, and what to do. */
import { dollars, seconds } from '../../backtest/report/parts/numbers.ts';
import type { PricePoint } from '../../backtest/search/price-point.ts';
import { figureOf, isMetOnAverage, type Target } from '../../backtest/search/price-search.ts';
import type { Tuning } from '../../backtest/search/tune.ts';
import { estimateText, priceText, targetText } from './words.ts';

export function unreachableText(
  target: Target,
  { points, config }: Pick<Tuning, 'points' | 'config'>,
): string {
  const text = target.kind === 'budget' ? dollars : seconds;
  const highOf = (point: PricePoint): number => point.seen[figureOf(target)].range?.[1] ?? 0;
  const [nearest] = points
    .filter((point) => isMetOnAverage(target, point))
    .toSorted((a, b) => highOf(a) - highOf(b));
  if (nearest !== undefined)
    return `no price of waiting surely meets ${targetText(target)}. ${priceText(nearest.price)} a minute meets it in these days, but another week like them may need ${estimateText(nearest.seen[figureOf(target)], text)}. Ask for ${text(highOf(nearest))}, or give a longer history`;
  const at = (point: PricePoint | undefined): string => priceText(point?.price ?? 0);
  if (target.kind === 'budget') {
    const [cheapest] = points;
    const cost = dollars(cheapest?.seen.dollarsPerMonth.value ?? 0);
    return `${targetText(target)} is too small: even at the lowest price of waiting (${at(cheapest)} a minute) the tasks of this trace cost ${cost} a month. Raise the budget, or lower min, warm or the schedules of the pools`;
  }
  const dearest = points.at(-1);
  const wait = seconds(dearest?.seen[figureOf(target)].value ?? 0);
  const waits =
    target.kind === 'mean-wait'
      ? `people wait ${wait} on average`
      : `5 of 100 jobs of people wait ${wait} or longer`;
  return `${targetText(target)} is not possible: even at the highest price of waiting (${at(dearest)} a minute) ${waits}. ${remedyOf(dearest, config)}`;
}

/** Limits that the replay has reached, or else daemons that are there before the builds. */
function remedyOf(point: PricePoint | undefined, { pools, limits }: Tuning['config']): string {
  const full = pools.filter(({ name, max }) => (point?.peaks.byPool[name] ?? 0) >= max);
  const names = full.map(({ name }) => `max of pool "${name}"`);
  if ((point?.peaks.all ?? 0) >= limits.maxTasks) names.push('limits.maxTasks');
  if (names.length > 0) return `The replay reached ${names.join(' and ')}: raise it`;
  return 'No limit was reached: the builds came before a daemon was ready. Keep daemons for them with warm, min or a schedule';
}
