/**
 * Formats the recommendation as text: the YAML to merge, and what it would have changed in this
 * trace.
 */

import { count, dollars, jobsLabel, seconds } from '../../backtest/report/parts/numbers.ts';
import { lengthLabel } from '../../backtest/report/parts/times.ts';
import type { PricePoint } from '../../backtest/search/price-point.ts';
import { meets, type Target } from '../../backtest/search/price-search.ts';
import type { Tuning } from '../../backtest/search/tune.ts';
import { yamlFragment } from '../../backtest/search/yaml-fragment.ts';
import type { Trace } from '../../backtest/trace/trace.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';
import { priceText } from './price-text.ts';

export type Tuned = {
  readonly trace: Trace;
  readonly configFile: string;
  readonly target: Target;
  readonly before: PricePoint;
  /** All tried prices, the lowest first. */
  readonly points: readonly PricePoint[];
  readonly found: NonNullable<Tuning['found']>;
};

/** `width`: characters of a line. @default as wide as needed */
export function tuneText(
  { trace, configFile, target, before, points, found }: Tuned,
  width?: number,
): string {
  const { recommendation, after, config } = found;
  return [
    `${jobsLabel(trace.jobs.length)} in ${lengthLabel({ trace })} recommend a price of waiting of $${priceText(recommendation.price)} a minute (${targetText(target)}).`,
    `Merge into ${configFile}:`,
    yamlFragment(recommendation, config),
    'Effect in this trace:',
    changesTable(before, after, width),
    [...missText(target, after), ...slackText(target, points), ...NOTES].join('\n'),
  ].join('\n\n');
}

function targetText(target: Target): string {
  switch (target.kind) {
    case 'budget':
      return `budget: ${dollars(target.dollarsPerMonth)} a month`;
    case 'mean-wait':
      return `mean wait: up to ${seconds(target.seconds)}`;
    case 'p95-wait':
      return `p95 wait: up to ${seconds(target.seconds)}`;
    default:
      return target satisfies never;
  }
}

const COLUMNS: readonly Column[] = [
  { head: '', align: 'left' },
  { head: 'before', align: 'right' },
  { head: 'after', align: 'right' },
];

function changesTable(before: PricePoint, after: PricePoint, width: number | undefined): string {
  const row = (name: string, of: (point: PricePoint) => string) => [name, of(before), of(after)];
  const rows = [
    row('price of waiting, a minute', ({ price }) => `$${priceText(price)}`),
    row('tasks, a month', ({ dollarsPerMonth }) => `$${dollarsPerMonth.toFixed(2)}`),
    row('mean wait of people', ({ meanWaitS }) => `${meanWaitS.toFixed(1)} s`),
    row('p95 wait of people', ({ p95WaitS }) => `${p95WaitS.toFixed(1)} s`),
    row('waited over 10 s', ({ over10s }) => count(over10s)),
    row('launches', ({ launches }) => count(launches)),
    row('launches without a job', ({ idleLaunches }) => count(idleLaunches)),
    row('jobs lost', ({ lostJobs }) => count(lostJobs)),
  ];
  return plainTable(COLUMNS, rows, width);
}

/** The price was chosen with the old limits; the new limits may allow more tasks. */
function missText(target: Target, after: PricePoint): readonly string[] {
  if (meets(target, after)) return [];
  return [
    'With the new limits the result misses the target. Keep max and maxTasks, or merge the settings and tune again.',
  ];
}

/** If the target is not the limit, the price is the lowest or highest tried one. */
function slackText(target: Target, points: readonly PricePoint[]): readonly string[] {
  const end = target.kind === 'budget' ? points.at(-1) : points[0];
  if (end === undefined || !meets(target, end)) return [];
  return target.kind === 'budget'
    ? [
        `The budget is not the limit: even the highest tried price, $${priceText(end.price)}, costs $${end.dollarsPerMonth.toFixed(2)} a month.`,
      ]
    : [`The wait is not the limit: even the lowest tried price, $${priceText(end.price)}, meets it.`];
}

const NOTES: readonly string[] = [
  'A higher price costs more and shortens waits, with some randomness: try another --seed, and more than one week.',
  'max and maxTasks are a quarter, and at least two tasks, above the highest use. A month is 730 hours.',
  'The cost is of tasks only: network, logs and the function cost extra (docs/cost.md).',
];
