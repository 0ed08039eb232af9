/** The page in a browser, with all of its parts and with none. `page.full.test.ts` tests each part. */
import { describe, expect } from 'vitest';
import { browserTest, DESKTOP, reportBrowser } from './browser.ts';
import { plausibleBacktest } from './fixture.ts';

const BACKTEST = plausibleBacktest(7);
const open = reportBrowser();

describe('the report page', () => {
  browserTest.each([
    { what: 'a week of five policies', backtest: BACKTEST },
    { what: 'no runs, bounds and pools', backtest: { ...BACKTEST, runs: [], bounds: [], pools: [] } },
  ])('logs nothing and loads nothing when it shows $what', async ({ backtest }) => {
    const { consoleMessages, requests, url, page } = await open(backtest, DESKTOP);
    await page.locator('#wait-shares svg').waitFor();
    expect(consoleMessages).toEqual([]);
    expect(requests).toEqual([url]);
  });
});
