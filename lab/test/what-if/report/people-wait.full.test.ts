/** Where the wait of people went: the figure of the report. */
import { describe, expect, it } from 'vitest';
import type { Backtest, PeopleWait } from '../../../what-if/replay/result.ts';
import { peopleWaitOf } from '../../../what-if/report/parts/headline.ts';
import { renderReport } from '../../../what-if/report/render.ts';
import { browserTest, DESKTOP, reportBrowser } from './browser.ts';
import { plausibleBacktest } from './fixture.ts';
import { rowsOf } from './tables.ts';

const BACKTEST = plausibleBacktest(7);

/** The backtest with this wait in the autoscaler's run. */
function withWait(peopleWait: PeopleWait | undefined): Backtest {
  const runs = BACKTEST.runs.map(({ peopleWait: _, ...run }, at) =>
    at === 0 && peopleWait !== undefined ? { ...run, peopleWait } : run,
  );
  return { ...BACKTEST, runs };
}

it.each([
  { scenario: 'the result of an earlier version', wait: undefined },
  { scenario: 'a trace without jobs of people', wait: { jobs: 0, missed: 0, parts: {} } },
  { scenario: 'jobs that did not wait', wait: { jobs: 7, missed: 0, parts: {} } },
])('neither the sentence nor the figure is there for $scenario', ({ wait }) => {
  expect(peopleWaitOf(withWait(wait))).toBeUndefined();
  const report = renderReport(withWait(wait));
  expect(report.includes('How long people wait')).toBe(true);
  expect(report.includes('wait-parts-title')).toBe(false);
});

it('says in the report what makes the longest part shorter', () => {
  const report = renderReport(withWait({ jobs: 3, missed: 0, parts: { queued: 5_000, imagePull: 9_000 } }));
  expect(report).toContain(
    '<p class="help">What helps with the longest part, image pull: Use a smaller image, from a registry in the same Region such as ECR.</p>',
  );
  expect(report).toContain('<dt>queued in coderd</dt><dd>Raise waiting.person');
});

describe('the table of the report', () => {
  const open = reportBrowser();

  browserTest('has a bar for each part, as long as its share', async () => {
    const parts = { notNoticed: 3_000, imagePull: 60_000, queued: 15_000 };
    const { page } = await open(withWait({ jobs: 4, missed: 0, parts }), DESKTOP);
    const rows = await rowsOf(page, '#wait-parts-table');
    expect(rows.map(({ head, cells }) => [head, ...cells.slice(1).map(({ text }) => text)])).toEqual([
      ['image pull', '77%', '60 s', '15 s'],
      ['queued in coderd', '19%', '15 s', '3.8 s'],
      ['not noticed yet', '3.8%', '3 s', '0.8 s'],
    ]);
    const widths = `[...document.querySelectorAll('#wait-parts-table i')].map((bar) => Math.round(bar.getBoundingClientRect().width))`;
    const [first = 0, second, third] = await page.evaluate<readonly number[]>(widths);
    expect(first).toBeGreaterThan(100);
    expect([second, third]).toEqual([Math.round(first / 4), Math.round(first / 20)]);
  });
});
