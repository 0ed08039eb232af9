/** Explains why no price of waiting meets a target, and what to do. */

import { dollars, seconds } from '../../backtest/report/parts/numbers.ts';
import type { PricePoint } from '../../backtest/search/price-point.ts';
import type { Target } from '../../backtest/search/price-search.ts';
import { priceText } from './price-text.ts';

export function unreachableText(target: Target, points: readonly PricePoint[]): string {
  const least = (of: (point: PricePoint) => number): PricePoint | undefined =>
    points.toSorted((a, b) => of(a) - of(b))[0];
  switch (target.kind) {
    case 'budget': {
      const cheapest = least(({ dollarsPerMonth }) => dollarsPerMonth);
      return `the budget of ${dollars(target.dollarsPerMonth)} a month is too small: even at the lowest price of waiting ($${priceText(points[0]?.price ?? 0)} a minute) the tasks of this trace cost ${dollars(cheapest?.dollarsPerMonth ?? 0)}. Raise the budget, or lower min, warm or the schedules of the pools`;
    }
    case 'mean-wait': {
      const shortest = least(({ meanWaitS }) => meanWaitS)?.meanWaitS ?? 0;
      return waitText(
        `a mean wait of ${seconds(target.seconds)}`,
        points,
        `people wait ${seconds(shortest)} on average`,
      );
    }
    case 'p95-wait': {
      const shortest = least(({ p95WaitS }) => p95WaitS)?.p95WaitS ?? 0;
      return waitText(
        `a p95 wait of ${seconds(target.seconds)}`,
        points,
        `5 of 100 jobs of people wait ${seconds(shortest)} or longer`,
      );
    }
    default:
      return target satisfies never;
  }
}

function waitText(wanted: string, points: readonly PricePoint[], reached: string): string {
  const highest = priceText(points.at(-1)?.price ?? 0);
  return `${wanted} is not possible: even at the highest price of waiting ($${highest} a minute) ${reached}. Allow a longer wait, raise max and limits.maxTasks, or add schedules for the busy hours`;
}
