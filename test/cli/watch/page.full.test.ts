/** The page of `autoscaler watch` in a real Chromium. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { WatchFrame } from '../../../cli/watch/frame.ts';
import { serveWatch } from '../../../cli/watch/server.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const test = it.skipIf(!existsSync(CHROMIUM));
let browser: Browser | undefined;
beforeAll(async () => {
  if (existsSync(CHROMIUM))
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
});
afterAll(() => browser?.close());

const STATES = ['building', 'free', 'starting', 'draining', 'gone', 'silent'] as const;
const TAKEN_AT = '2026-03-02T09:00:00.000Z';

const told = (text: string) => ({ brief: text, whole: text });

/** Pools with so many tasks each, of all states, and jobs that wait. */
function frame(tasks: number, jobs: number, extra: Partial<WatchFrame> = {}): WatchFrame {
  const lane = (name: string): WatchFrame['lanes'][number] => ({
    ...{ name, tags: `pool=${name}`, desired: { from: tasks, to: tasks + 1 }, floor: 1, max: 200 },
    ...{ staying: tasks, leaving: 0 },
    why: ['3 pending jobs need a new task', '<img src=x onerror=alert(1)>'].map(told),
    tasks: Array.from({ length: tasks }, (_, index) => ({
      id: `${name}-${String(index).padStart(30, '0')}`,
      state: STATES[index % STATES.length] ?? 'free',
      isBuilding: index % 2 === 0,
      since: index % 3 === 0 ? TAKEN_AT : null,
    })),
    notCreated: 1,
    dollarsAnHour: 1.5,
  });
  return {
    takenAt: TAKEN_AT,
    headline: `${jobs} jobs wait`,
    lastLook: 'last look: at 2 March 2026 08:59:58 UTC; succeeded',
    findings:
      jobs > 0 ? [{ brief: 'a finding …', whole: 'a finding with a-very-long-word-'.repeat(12) }] : [],
    unschedulable: [],
    lanes: ['one', 'two', 'three'].map(lane),
    waiting: jobs > 0 ? [{ tags: '(untagged)', jobs, since: TAKEN_AT, by: 'by a new task in "one"' }] : [],
    next: [{ at: TAKEN_AT, text: '5 autostarts (untagged); pool "one" provides a daemon for them' }],
    changes: [
      { at: TAKEN_AT, pool: 'one', kind: 'out', ...told('one 1 -> 2: 1 pending job needs a new task') },
    ],
    dollars: { anHour: 4.5, past: { hours: 24, dollars: 20, fixedFleet: 90 } },
    ...extra,
  };
}

/** Opens a page to which `show` sends the next frames. */
async function open(first: WatchFrame, options: Parameters<Browser['newContext']>[0] = {}) {
  if (browser === undefined) throw new Error('opening the page: the browser has not been started');
  let next = Promise.withResolvers<WatchFrame>();
  next.resolve(first);
  const server = await serveWatch({
    port: 0,
    everyMs: 0,
    look: async () => {
      const shown = await next.promise;
      next = Promise.withResolvers();
      return shown;
    },
  });
  const context = await browser.newContext(options);
  onTestFinished(async () => {
    await context.close();
    next.resolve(first);
    await server.close();
  });
  const page = await context.newPage();
  const [messages, requests]: [string[], string[]] = [[], []];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(server.url);
  await shows(page, first);
  const show = async (shown: WatchFrame): Promise<void> => {
    next.resolve(shown);
    await shows(page, shown);
  };
  return { page, show, messages, requests, url: server.url, end: server.close };
}

const shows = (page: Page, { headline }: WatchFrame): Promise<void> =>
  page.getByRole('heading', { name: headline, exact: true }).waitFor();

const marksOf = (page: Page, kind: string): Promise<number> => page.locator(`#lanes .mark${kind}`).count();

describe('the page', () => {
  test('shows 300 tasks and 200 jobs, reads nothing but itself, and runs no text as code', async () => {
    const { page, messages, requests, url } = await open(frame(99, 200));
    expect(await marksOf(page, '')).toBe(300);
    // more jobs than fit one glance are a number
    expect(await page.locator('#waiting .mark').count()).toBe(120);
    expect(await page.locator('#waiting li').innerText()).toContain('200 with (untagged)');
    expect(await page.locator('#lanes .why').first().innerText()).toContain('<img src=x');
    expect(messages).toEqual([]);
    expect(requests).toEqual([url, `${url}events`, `${url}favicon.ico`].slice(0, requests.length));
  });

  test('keeps a task that stays, changes its state, and drops what has gone', async () => {
    const { page, show } = await open(frame(3, 0));
    await page.evaluate("document.querySelector('#lanes .mark').dataset.seen = 'before'");
    const later = frame(1, 0, { headline: 'later' });
    const [lane] = later.lanes;
    const changed = lane && {
      ...lane,
      tasks: lane.tasks.map((task) => ({ ...task, state: 'draining' as const })),
    };
    await show({ ...later, lanes: changed === undefined ? [] : [changed] });
    expect(await page.locator('.lane').count()).toBe(1);
    expect(await page.locator('#lanes .mark[data-seen=before].draining').count()).toBe(1);
    expect(await page.locator('#lanes .marks').getAttribute('aria-label')).toBe(
      '1 drains after its build, 1 starts',
    );
  });

  test('keeps as many elements after a hundred frames', async () => {
    const { next } = frame(5, 3);
    const { page, show } = await open(frame(5, 3, { next: [...next, ...next] }));
    const elements = (): Promise<number> => page.evaluate("document.querySelectorAll('*').length");
    const before = await elements();
    // rows may read the same: two organizations with equal tags
    for (let at = 0; at < 100; at++)
      await show(frame(5, 3, { headline: `frame ${at}`, next: [...next, ...next] }));
    expect(await elements()).toBe(before);
  });

  test.each([400, 1280])('does not scroll sideways at %i px with all details open', async (width) => {
    const { page } = await open(frame(99, 200), { viewport: { width, height: 900 } });
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });

  test('lists the tasks of a pool by keyboard', async () => {
    const { page } = await open(frame(2, 0));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator('.lane').first().locator('details li').first().innerText()).toContain('builds');
  });

  test.each([400, 1280])(
    'greys what is old at %i px though no event comes, and counts its age',
    async (width) => {
      if (browser === undefined) throw new Error('opening the page: the browser has not been started');
      let looks = 0;
      const look = (): Promise<WatchFrame> =>
        ++looks === 1 ? Promise.resolve(frame(5, 3)) : Promise.reject(new Error('AWS does not answer'));
      const server = await serveWatch({ port: 0, everyMs: 100, look });
      const context = await browser.newContext({ viewport: { width, height: 900 } });
      onTestFinished(async () => {
        await context.close();
        await server.close();
      });
      const page = await context.newPage();
      await page.clock.install();
      await page.goto(server.url);
      await page.getByText('AWS does not answer').waitFor();
      expect(await page.locator('body.stale').count()).toBe(0);
      await page.clock.fastForward(17 * 60_000);
      await page.locator('body.stale').waitFor();
      expect(await page.locator('#age').innerText()).toBe('Seen 17 min ago (UTC).');
      const opacity = (of: string): Promise<string> =>
        page.evaluate(`getComputedStyle(document.querySelector('${of}')).opacity`);
      expect([await opacity('.lane'), await opacity('#headline'), await opacity('#trouble')]).toEqual([
        '0.45',
        '1',
        '1',
      ]);
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/stale-${width}.png` });
    },
  );

  test('unfolds a long finding, and says that it has ended, without an alarm', async () => {
    const { page, end } = await open(frame(2, 1));
    const finding = page.locator('#findings li');
    expect(await finding.innerText()).toBe('a finding …');
    await finding.locator('summary').click();
    expect(await finding.innerText()).toContain('a-very-long-word');
    await end();
    await page.getByText('It has ended').waitFor();
    expect(await page.locator('#trouble').isVisible()).toBe(false);
  });

  test('does not move for people who want less motion', async () => {
    const { page } = await open(frame(2, 0), { reducedMotion: 'reduce' });
    const duration = await page.evaluate(
      "getComputedStyle(document.querySelector('#lanes .mark')).transitionDuration",
    );
    expect(duration).toBe('0s');
  });
});
