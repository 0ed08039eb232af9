/** A table of prices of waiting: the monthly cost and the waits of each. */
import type { SweepPoint } from '../../backtest/replay/result.ts';
import { cents, count } from '../../backtest/report/parts/numbers.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';

/** `width`: characters of a line. @default as wide as needed */
export function sweepText(points: readonly SweepPoint[], width?: number): string {
  return [plainTable(COLUMNS, points.map(row), width), ...LEGEND].join('\n');
}

const COLUMNS: readonly Column[] = [
  { head: 'price of waiting', align: 'left' },
  { head: '$ a month', align: 'right' },
  { head: 'mean wait s', align: 'right' },
  { head: 'p95 s', align: 'right' },
  { head: '> 10 s', align: 'right' },
  { head: 'launches', align: 'right' },
  { head: 'without a job', align: 'right' },
];

function row(point: SweepPoint): readonly string[] {
  return [
    `$${priceText(point.price)}${point.isConfigured ? '  configured' : ''}`,
    cents(point.dollarsPerMonth),
    point.meanWaitS.toFixed(1),
    point.p95WaitS.toFixed(1),
    count(point.over10s),
    count(point.launches),
    count(point.idleLaunches),
  ];
}

const LEGEND: readonly string[] = [
  '',
  'price of waiting  waiting.person: dollars for each minute that a person waits; other prices change in proportion',
  '$ a month         tasks only, for 30.4 days like these',
  '> 10 s            builds and imports of people, and scheduled starts, that waited over 10 s',
  'without a job     launches whose daemon never had a job',
  'A higher price costs more and shortens waits. Small opposite steps are random: try another --seed.',
];

/** Two decimals, up to four if needed. */
export const priceText = (dollars: number): string =>
  dollars.toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
    useGrouping: false,
  });
