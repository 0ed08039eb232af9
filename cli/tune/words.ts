/** Words and numbers of what `autoscaler tune` prints. */

import type { Estimate } from '../../backtest/estimate/estimate.ts';
import { dollars, seconds } from '../../backtest/report/parts/numbers.ts';
import type { Target } from '../../backtest/search/price-search.ts';

/** Dollars with two decimals, up to four if needed. */
export const priceText = (price: number): string =>
  `$${price.toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
    useGrouping: false,
  })}`;

export function targetText(target: Target): string {
  switch (target.kind) {
    case 'budget':
      return `a budget of ${dollars(target.dollarsPerMonth)} a month`;
    case 'mean-wait':
      return `a mean wait of up to ${seconds(target.seconds)}`;
    case 'p95-wait':
      return `a p95 wait of up to ${seconds(target.seconds)}`;
    default:
      return target satisfies never;
  }
}

/** `$41.20 ($36.10 to $47.00)`, or without its range. */
export function estimateText({ value, range }: Estimate, text: (value: number) => string): string {
  return range === undefined ? text(value) : `${text(value)} (${text(range[0])} to ${text(range[1])})`;
}
