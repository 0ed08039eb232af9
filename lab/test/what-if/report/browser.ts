/**
 * Opens reports in a real Chromium, and records its console messages and requests. Nothing reaches
 * a network.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, it, onTestFinished } from 'vitest';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import type { Backtest } from '../../../what-if/replay/result.ts';
import { renderReport } from '../../../what-if/report/render.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Without Chromium, vitest shows these tests as skipped. */
export const browserTest = it.skipIf(!existsSync(CHROMIUM));

export const DESKTOP = { viewport: { width: 1280, height: 900 } } as const;
export const PHONE = { viewport: { width: 390, height: 844 } } as const;

export type OpenReport = {
  readonly page: Page;
  /** Messages of the console, and uncaught errors. */
  readonly consoleMessages: readonly string[];
  readonly requests: readonly string[];
  /** The URL of the report. */
  readonly url: string;
};

/** Starts one browser for all tests of a file. Returns a function that opens a report in it. */
export function reportBrowser(): (backtest: Backtest, options: BrowserContextOptions) => Promise<OpenReport> {
  const folder = ownFolder();
  const files = new Map<Backtest, string>();
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (existsSync(CHROMIUM)) browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
  });
  afterAll(async () => {
    await browser?.close();
  });
  return async (backtest, options) => {
    const file = files.get(backtest) ?? join(folder, `${files.size}.html`);
    if (!files.has(backtest)) writeFileSync(file, renderReport(backtest));
    files.set(backtest, file);
    if (browser === undefined) throw new Error('opening a report: the browser has not been started');
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    return open(await context.newPage(), pathToFileURL(file).href);
  };
}

async function open(page: Page, url: string): Promise<OpenReport> {
  const [consoleMessages, requests]: [string[], string[]] = [[], []];
  page.on('console', (message) => consoleMessages.push(message.text()));
  page.on('pageerror', (error) => consoleMessages.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(url);
  return { page, consoleMessages, requests, url };
}
