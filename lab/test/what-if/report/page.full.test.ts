/** The report in a real Chromium. Nothing reaches a network. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import { renderReport } from '../../../what-if/report/render.ts';
import { plausibleBacktest } from './fixture.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const BACKTEST = plausibleBacktest(7);
const [DESKTOP, PHONE] = [1280, 400].map((width) => ({ viewport: { width, height: 900 } })) as [
  BrowserContextOptions,
  BrowserContextOptions,
];

/** Without Chromium, vitest shows these tests as skipped. */
const test = it.skipIf(!existsSync(CHROMIUM));

const file = join(ownFolder(), 'report.html');
let browser: Browser | undefined;
beforeAll(async () => {
  const name = 'n'.repeat(256);
  writeFileSync(file, renderReport({ ...BACKTEST, trace: { ...BACKTEST.trace, name } }));
  if (existsSync(CHROMIUM)) browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
});
afterAll(async () => {
  await browser?.close();
});

async function open(options: BrowserContextOptions) {
  if (browser === undefined) throw new Error('opening a report: the browser has not been started');
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const messages: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('request', (request) => messages.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  return { page, messages };
}

const widthOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollWidth');

test('logs nothing and loads nothing', async () => {
  const { messages } = await open(DESKTOP);
  expect(messages).toEqual([pathToFileURL(file).href]);
});

test('does not scroll sideways on a phone when all details are open', async () => {
  const { page } = await open(PHONE);
  for (const summary of await page.locator('summary').all()) await summary.click();
  expect(await widthOf(page)).toBe(400);
});

test('changes the colours of its charts in dark mode', async () => {
  const { page } = await open({ ...DESKTOP, colorScheme: 'light' });
  const colors = `[getComputedStyle(document.body).backgroundColor, ...[...document.querySelectorAll('.chart svg text')].map((each) => getComputedStyle(each).fill)]`;
  const light = await page.evaluate<readonly string[]>(colors);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await page.evaluate<readonly string[]>(colors);
  expect(light.length).toBeGreaterThan(40);
  expect(light.filter((color, at) => color === dark[at])).toEqual([]);
});

test('fits the width of paper', async () => {
  const { page } = await open({ viewport: { width: 718, height: 1000 } });
  await page.emulateMedia({ media: 'print' });
  expect(await widthOf(page)).toBe(718);
});

type Labelled = { x: number; y: number; width: number; height: number; text: string };
/** Two pixels less on each side: a box has room for letters that the text does not have. */
const covers = (one: Labelled, other: Labelled): boolean =>
  one.x + 2 < other.x + other.width - 2 &&
  other.x + 2 < one.x + one.width - 2 &&
  one.y + 2 < other.y + other.height - 2 &&
  other.y + 2 < one.y + one.height - 2;

test.each([
  { width: 400, options: PHONE },
  { width: 1280, options: DESKTOP },
])('names every policy and price, and covers no label with a label, at $width px', async ({ options }) => {
  const { page } = await open(options);
  const boxes = `[...document.querySelectorAll('.pair .chart')].map((chart) => [...chart.querySelectorAll('svg text')].filter((each) => each.outerHTML.includes('13')).map((each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return { x, y, width, height, text: each.textContent };
  }).filter(({ width }) => width > 0))`;
  const charts = await page.evaluate<readonly (readonly Labelled[])[]>(boxes);
  expect(charts).toHaveLength(2);
  const names = [...BACKTEST.runs.map(({ title }) => title), '$0.05', '$0.20', '$2.00'];
  for (const labels of charts) {
    expect(labels.map(({ text }) => text)).toEqual(expect.arrayContaining(names));
    const clashes = labels.flatMap((one, at) => labels.slice(at + 1).filter((other) => covers(one, other)));
    expect(clashes.map(({ text }) => text)).toEqual([]);
  }
});
