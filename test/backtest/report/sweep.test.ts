import { describe, expect, it } from 'vitest';
import type { Backtest, SweepPoint } from '../../../backtest/replay/result.ts';
import { drawPicture } from '../../../backtest/report/charts/picture.ts';
import { sweepOption } from '../../../backtest/report/charts/sweep.ts';
import { browserTest, DESKTOP, PHONE, reportBrowser } from './browser.ts';
import { plausibleBacktest } from './fixture.ts';
import { rowsOf, valuesOf } from './tables.ts';

const PRICES: readonly (readonly [price: number, dollarsPerMonth: number, meanWaitS: number])[] = [
  [0.01, 4.78, 30.9],
  [0.02, 7.16, 25],
  [0.05, 8.85, 14.7],
  [0.1, 11.31, 7.8],
  [0.2, 16.11, 5.7],
  [0.5, 21.55, 3.7],
  [1, 24.43, 3.3],
  [2, 26.89, 3.3],
];
const SWEEP = PRICES.map(
  ([price, dollarsPerMonth, meanWaitS]): SweepPoint => ({
    ...{ price, isConfigured: price === 0.1, dollarsPerMonth, meanWaitS, p95WaitS: meanWaitS * 3 },
    ...{ over10s: Math.round(meanWaitS), launches: 50, idleLaunches: 9, lostJobs: 0 },
  }),
);
const BACKTEST: Backtest = { ...plausibleBacktest(7), sweep: SWEEP };
const open = reportBrowser();

function textsOf(sweep: readonly SweepPoint[]): readonly string[] {
  const picture = drawPicture('sweep', (size) => sweepOption(sweep, size), { width: 520, height: 380 });
  return [...picture.text.matchAll(/<text[^>]*>([^<]*)</g)].flatMap(([, text]) => text ?? []);
}

describe('the chart of the sweep', () => {
  it('names every price, and marks the configured one', () => {
    expect(textsOf(SWEEP)).toEqual(
      expect.arrayContaining([
        ...['$0.01', '$0.02', '$0.05', '$0.10 (configured)'],
        ...['$0.20', '$0.50', '$1.00', '$2.00'],
      ]),
    );
  });

  it.each([
    { sweep: SWEEP.slice(0, 1), name: 'a single price' },
    {
      sweep: SWEEP.map((point) => ({ ...point, dollarsPerMonth: 3, meanWaitS: 0 })),
      name: 'prices with the same cost and no wait',
    },
    {
      sweep: SWEEP.map((point) => ({ ...point, dollarsPerMonth: 0, meanWaitS: 0 })),
      name: 'a trace without cost and wait',
    },
  ])('has finite axes for $name', ({ sweep }) => {
    expect(textsOf(sweep).join(' ')).not.toMatch(/NaN|Infinity/);
    expect(textsOf(sweep)).toContain('0 s');
  });
});

describe('the section of the sweep', () => {
  browserTest('lists the figures of every price beside the chart', async () => {
    const { page, consoleMessages } = await open(BACKTEST, DESKTOP);
    const rows = await rowsOf(page, '#sweep-table');
    expect(valuesOf(rows)).toEqual(
      SWEEP.map((point) => [
        ...[point.dollarsPerMonth, point.meanWaitS, point.p95WaitS],
        ...[point.over10s, point.launches, point.idleLaunches],
      ]),
    );
    expect(consoleMessages).toEqual([]);
  });

  browserTest('shows the figures of a point when the End key is pressed', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    await page.locator('#sweep-waiting').press('End');
    await page.locator('#sweep-waiting .tip').filter({ hasText: '$2.00 a minute' }).waitFor();
  });

  browserTest('fits the width of a phone', async () => {
    const { page } = await open(BACKTEST, PHONE);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });
});
