/** What only a printed report has, or lacks. */
import { expect } from 'vitest';
import { DESKTOP, reportBrowser, browserTest as test } from './browser.ts';
import { plausibleBacktest } from './fixture.ts';

const BACKTEST = plausibleBacktest(7);
const open = reportBrowser();

test('asks nobody to point at a printed page', async () => {
  const { page } = await open(BACKTEST, DESKTOP);
  const hints = page.getByText(/^Point at /);
  expect(await hints.count()).toBe(2);
  expect(await hints.first().isVisible()).toBe(true);
  await page.emulateMedia({ media: 'print' });
  for (const hint of await hints.all()) expect(await hint.isVisible()).toBe(false);
});

test('prints the line below each row from the first column on', async () => {
  const { page } = await open(BACKTEST, DESKTOP);
  await page.emulateMedia({ media: 'print' });
  const firsts = `[...document.querySelectorAll('.wide tr > :first-child')].map((cell) => getComputedStyle(cell))`;
  const styles = `${firsts}.map(({ position, backgroundColor }) => position + ' ' + backgroundColor)`;
  expect(new Set(await page.evaluate<readonly string[]>(styles))).toEqual(
    new Set(['static rgba(0, 0, 0, 0)']),
  );
});

test('keeps the name of a group of rows on the page of its rows', async () => {
  const { page } = await open(BACKTEST, DESKTOP);
  await page.emulateMedia({ media: 'print' });
  const breaks = `[...document.querySelectorAll('tr:has(> .group)')].map((row) => getComputedStyle(row).breakAfter)`;
  expect(new Set(await page.evaluate<readonly string[]>(breaks))).toEqual(new Set(['avoid']));
});
