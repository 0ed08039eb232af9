/** The page of `autoscaler watch` in a real Chromium. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { WatchFrame } from '../../../cli/watch/frame.ts';
import { serveWatch } from '../../../cli/watch/server.ts';
import { drawStrip } from '../../../cli/watch/strip/drawing.ts';
import { History } from '../../../cli/watch/strip/history.ts';
import { seriesOf } from '../../../cli/watch/strip/series.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';

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

const rowsOf = (count: number): WatchFrame['waiting'][number]['rows'] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: `job-${at}`, who: `<b>user${at}</b>/dev`, template: 'base', since: TAKEN_AT },
    link: at === 0 ? 'https://coder.example.com/@alice/dev' : at === 1 ? 'javascript:alert(1)' : null,
    start: 'starts in about 40 s, in "one"',
  }));

/** Looks each minute until now, without those of minutes 20 to 29 ago. A pin holds the first pool at the end. */
function stripOf(pools: readonly string[]): WatchFrame['strip'] {
  const history = new History();
  const now = Date.parse(TAKEN_AT) as EpochMs;
  for (let ago = 23 * 60; ago > 0; ago--) {
    if (ago >= 20 && ago < 30) continue;
    const [desired, waiting] = [4 + (ago % 7), ago % 50 === 0 ? 9 : 0];
    const sample = { desired, busy: desired / 2, tasks: desired, most: desired, waiting, atMax: 0 };
    const samples = pools.map(
      (name, at) => [name, { ...sample, marks: at === 0 && ago < 10 ? ['pin'] : [] }] as const,
    );
    const at = plusMs(now, -ago * 60_000);
    history.look(at, new Map(samples), { waiting, alarms: ago < 5 ? ['job-waits'] : [] });
    if (ago % 30 === 0) history.wait(at, pools[0] ?? '', ago * 100);
  }
  history.advance(now);
  const strip = drawStrip(seriesOf(history, now, new Map(pools.map((name) => [name, 0.05]))));
  return { ...strip, note: 'One query read 43 MB of the log, for $0.0002.' };
}

/** Pools with so many tasks each, of all states, and jobs that wait. */
function frame(tasks: number, jobs: number, extra: Partial<WatchFrame> = {}): WatchFrame {
  const lane = (name: string): WatchFrame['lanes'][number] => ({
    ...{ name, tags: `pool=${name}`, desired: { from: tasks, to: tasks + 1 }, floor: 1, max: 200 },
    ...{ staying: tasks, leaving: 0, state: 'active' },
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
    waiting:
      jobs > 0
        ? [{ tags: '(untagged)', jobs, since: TAKEN_AT, by: 'by a new task in "one"', rows: rowsOf(5) }]
        : [],
    waitingNote: null,
    next: [{ at: TAKEN_AT, text: '5 autostarts (untagged); pool "one" provides a daemon for them' }],
    changes: [
      {
        at: TAKEN_AT,
        pool: 'one',
        kind: 'out',
        what: '1 -> 2',
        ...told('one 1 -> 2: 1 pending job needs a new task'),
      },
    ],
    identity: { coderd: 'coder.example.com', stack: 'autoscaler', region: 'eu-central-1' },
    strip: stripOf(['one', 'two', 'three']),
    dollars: { anHour: 4.5, waitingAnHour: 180, past: { hours: 24, dollars: 20, fixedFleet: 90 } },
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

/** 50 pools, 300 tasks and 200 jobs: 4 pools are wrong, 4 at their limit, 25 active and 17 quiet. */
function fleet(): WatchFrame {
  const {
    lanes: [lane],
    findings,
    waiting,
    ...rest
  } = frame(0, 200);
  if (lane === undefined) throw new Error('making a fleet: the frame has no lane');
  const stateOf = (at: number) =>
    at % 12 === 5 ? 'wrong' : at % 12 === 9 ? 'held' : at % 5 < 3 ? 'active' : 'quiet';
  const tasksOf = { wrong: 3, held: 9, active: 9, quiet: 2 };
  const why = {
    wrong: 'ECS lists 4 failed starts since the last success, trying one task at a time. '.repeat(2),
    held: 'needs 14 tasks, limited to 9 by max',
    active: '3 pending jobs need a new task',
    quiet: 'nothing to do',
  };
  const lanes = Array.from({ length: 50 }, (_, at): WatchFrame['lanes'][number] => {
    const state = stateOf(at);
    return {
      ...{
        ...lane,
        name: `team-${at}`,
        tags: `team=t${at}, kind=${at % 2 ? 'gpu' : 'web'}`,
        state,
        why: [told(why[state])],
      },
      notCreated: 0,
      tasks: Array.from({ length: tasksOf[state] }, (__, task) => ({
        ...{ id: `${at}-${task}`.padEnd(32, '0'), state: state === 'quiet' ? 'free' : 'building' },
        ...{ isBuilding: state !== 'quiet', since: null },
      })),
    };
  });
  const many = <T>(items: readonly T[], count: number): T[] =>
    Array.from({ length: count }, () => items).flat();
  return {
    ...rest,
    lanes,
    findings: Array.from({ length: 5 }, (_, at) =>
      told(`pool "team-${12 * at + 5}": ${'ECS lists tasks that failed to start. '.repeat(5)}`),
    ),
    unschedulable: [told('organization "default", tags cluster=tpu: 5 jobs, the oldest waits for 12 min')],
    waiting: Array.from({ length: 40 }, (_, at) => ({
      rows: rowsOf(5),
      ...{ tags: `team=t${at}`, jobs: 5, since: TAKEN_AT, by: `by a new task in "team-${at}"` },
    })),
    next: many(rest.next, 12),
    changes: many(rest.changes, 40),
    strip: stripOf(lanes.map(({ name }) => name)),
  };
}

const SCREEN = { width: 1280, height: 900 };

describe('a page of 50 pools, 300 tasks and 200 jobs', () => {
  const bottoms = (page: Page, of: string): Promise<number> =>
    page.evaluate(
      `Math.max(...[...document.querySelectorAll('${of}')].map((each) => each.getBoundingClientRect().bottom))`,
    );

  test('fits two screens, with all that is wrong on the first', async () => {
    const { page, messages } = await open(fleet(), { viewport: SCREEN });
    expect(await page.locator('#lanes .lane').count()).toBe(29);
    expect(await page.locator('#wrong .lane.wrong').count()).toBe(4);
    expect(await bottoms(page, '#findings, #unschedulable, .lane.wrong')).toBeLessThan(SCREEN.height);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(
      2 * SCREEN.height,
    );
    expect(await page.locator('#wrong .name b, #lanes .name b').allInnerTexts()).toEqual(
      ['team-5', 'team-17', 'team-29', 'team-41', 'team-9', 'team-21', 'team-33', 'team-45'].concat(
        fleet().lanes.flatMap(({ name, state }) => (state === 'active' ? [name] : [])),
      ),
    );
    expect(messages).toEqual([]);
  });

  test('names the deployment, and counts in the title of its tab what waits and what is wrong', async () => {
    const { page, show } = await open(fleet(), { viewport: SCREEN });
    expect(await page.title()).toBe('(200 wait, 6 wrong) coder.example.com: provisioner autoscaler');
    expect(await page.locator('#identity').innerText()).toBe(
      'coder.example.com · stack autoscaler · eu-central-1',
    );
    expect(await page.locator('#an-hour').innerText()).toBe('tasks $4.50, waiting $180 an hour now');
    await show({ ...frame(2, 0), headline: 'no jobs wait' });
    expect(await page.title()).toBe('coder.example.com: provisioner autoscaler');
  });

  test('folds many jobs by tag set, and lists few with their owners and promises', async () => {
    const { page, show } = await open(frame(2, 6), { viewport: SCREEN });
    const rows = page.locator('#waiting li li');
    const texts = (): Promise<readonly string[]> => rows.filter({ visible: true }).allInnerTexts();
    expect(await texts()).toEqual([
      ...[0, 1, 2, 3, 4].map(
        (at) => `<b>user${at}</b>/dev (template base) for 0 s: starts in about 40 s, in "one"`,
      ),
      'and 1 more',
    ]);
    expect(await page.locator('#waiting a').getAttribute('href')).toBe(
      'https://coder.example.com/@alice/dev',
    );
    await show(frame(2, 200));
    expect(await texts()).toEqual([]);
    await page.locator('#waiting summary').first().focus();
    await page.keyboard.press('Enter');
    await show(frame(2, 201));
    expect((await texts()).length).toBe(6);
  });

  test('has each number of a quiet pool, and all jobs and changes, by keyboard', async () => {
    const { page } = await open(fleet(), { viewport: SCREEN });
    const quiet = page.locator('#quiet > summary');
    expect(await quiet.innerText()).toBe('17 quiet pools: 34 free tasks, $26 an hour');
    await quiet.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator('#quiet .lane').first().innerText()).toMatch(
      /team-3\s[\s\S]*team=t3, kind=gpu\. Desired count 0 → 1, floor 1, max 200, \$1\.50 an hour/,
    );
    await page.locator('#waiting > .more > summary').focus();
    await page.keyboard.press('Enter');
    expect(
      await page.locator('#waiting > ul > li, #waiting > .more > ul > li').filter({ visible: true }).count(),
    ).toBe(40);
  });

  test('filters by name, tag and state, in quiet pools too, and keeps what is open', async () => {
    const { page, show } = await open(fleet(), { viewport: SCREEN });
    const names = (): Promise<readonly string[]> =>
      page.locator('#wrong .name b, #lanes .name b').allInnerTexts();
    await page.getByRole('searchbox').fill('T3 gpu');
    expect(await names()).toEqual(['team-33', 'team-3', 'team-31', 'team-35', 'team-37', 'team-39']);
    expect(await page.getByRole('status').innerText()).toBe('6 of 50 pools');
    await page.getByText('team-3', { exact: true }).click();
    await page.getByRole('combobox').selectOption('quiet');
    await show({ ...fleet(), headline: 'later' });
    expect(await names()).toEqual(['team-3', 'team-39']);
    expect(await page.locator('.lane[open] .name b').allInnerTexts()).toEqual(['team-3']);
    await page.getByRole('searchbox').fill('');
    await page.getByRole('combobox').selectOption('');
    // folded again, and still open below
    expect(await page.locator('#quiet .lane[open] .name b').allTextContents()).toEqual(['team-3']);
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('does not scroll sideways, %s at %i px', async (colorScheme, width) => {
    const { page } = await open(fleet(), { viewport: { width, height: 900 }, colorScheme });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    const path = `${process.env.PICTURES}/fleet-${colorScheme}-${width}.png`;
    if (process.env.PICTURES) await page.screenshot({ path, fullPage: true });
  });
});

describe('the strip of the last day', () => {
  test('draws a gap as a gap, in the strip and in each row', async () => {
    const { page } = await open(frame(2, 0), { viewport: SCREEN });
    const gaps = page.locator('#strip .gaps rect');
    expect(await gaps.count()).toBe(1);
    // 20 to 29 minutes ago, of 23 hours, after the two minutes for which a look holds
    expect(Number.parseFloat((await gaps.getAttribute('x')) ?? '')).toBeCloseTo(
      (100 * (23 * 60 - 25)) / (23 * 60),
      0,
    );
    for (const kind of ['busy', 'desired'])
      expect(((await page.locator(`#strip .${kind}`).getAttribute('d')) ?? '').match(/M/g)).toHaveLength(2);
    expect(await page.locator('#lanes .small .gap').count()).toBe(3);
    expect(await page.locator('#lanes .small').first().getAttribute('aria-label')).toMatch(
      /^the last 23 h: 8 desired tasks at most, 9 jobs waited at most, p95 of waits 2 min at most, \$8\.00$/,
    );
  });

  test('says its values by keyboard, for a sum too, and where no look was', async () => {
    const { page, show } = await open(frame(2, 0), { viewport: SCREEN });
    const slider = page.getByRole('slider', { name: /^the last 23 h: 24 desired tasks at most/ });
    const said = () => slider.getAttribute('aria-valuetext');
    const whole = /^10:00 to 09:00 UTC: desired .* \(24 at most\), .*; \$2[34]; no look for 5 min$/;
    expect(await page.locator('#then').innerText()).toMatch(whole);
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    expect(await said()).toMatch(
      /^08:55 to 09:00 UTC: desired 21, busy 10.5 tasks; 0 jobs waited; no job started; \$0\.0\d; limit/,
    );
    for (let press = 0; press < 5; press++) await page.keyboard.press('ArrowLeft');
    expect(await said()).toBe(
      '08:30 to 08:35 UTC: desired 18, busy 9 tasks; 0 jobs waited; p95 of waits 3 s in one; $0.03',
    );
    await page.keyboard.press('ArrowRight');
    expect(await said()).toBe('08:35 to 08:40 UTC: no look');
    await page.keyboard.press('Shift+PageDown');
    expect(await said()).toMatch(
      /^06:15 to 08:40 UTC: desired .* \(24 at most\), .*; 9 jobs waited at most; p95 of waits 15 s at most in one; \$\d\.\d\d; no look for 5 min$/,
    );
    // what is chosen stays where it is
    await show(frame(2, 0, { headline: 'later' }));
    expect(await page.locator('#then').innerText()).toBe(await said());
    await page.keyboard.press('Escape');
    expect(await page.locator('#then').innerText()).toMatch(whole);
  });

  test('says its values by pointer, of the whole and of an open pool', async () => {
    const { page } = await open(frame(2, 0), { viewport: SCREEN });
    await page.locator('.lane > summary').first().click();
    const box = await page.locator('#strip').boundingBox();
    if (box === null) throw new Error('the strip has no place');
    const point = (share: number) => page.mouse.move(box.x + box.width * share, box.y + 40);
    await point(0.5);
    expect(await page.locator('#then').innerText()).toMatch(
      /^21:30 to 21:35 UTC: desired 18, busy 9 tasks; 0 jobs waited; p95 of waits 69 s in one; \$0\.07$/,
    );
    expect(await page.locator('.lane .then').first().innerText()).toMatch(
      /^21:30 to 21:35 UTC: desired \d(\.\d)?, /,
    );
    await page.mouse.down();
    await point(0.75);
    await page.mouse.up();
    await point(0.1);
    expect(await page.locator('#then').innerText()).toMatch(/^21:30 to 03:20 UTC: desired .*; \$/);
  });

  test('says why the last day is unknown, and what reading it cost', async () => {
    const { page, show } = await open(frame(2, 0));
    expect(await page.locator('#note-of-day').innerText()).toBe(
      'One query read 43 MB of the log, for $0.0002.',
    );
    const note = 'What was before is unknown: <b>denied</b>';
    await show(frame(2, 0, { headline: 'later', strip: { ...stripOf([]), note } }));
    expect(await page.locator('#note-of-day').innerText()).toBe(note);
  });
});

describe('the page', () => {
  test('shows 300 tasks and 200 jobs, reads nothing but itself, and runs no text as code', async () => {
    const { page, messages, requests, url } = await open(frame(99, 200));
    expect(await marksOf(page, '')).toBe(300);
    // more jobs than fit one glance are a number
    expect(await page.locator('#waiting .mark').count()).toBe(20);
    expect(await page.locator('#waiting > ul > li').innerText()).toContain('200 with (untagged)');
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
    for (const summary of await page.locator('summary').filter({ visible: true }).all())
      await summary.click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });

  test('lists the tasks of a pool by keyboard', async () => {
    const { page } = await open(frame(2, 0));
    // the strip comes first
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator('.lane li').first().innerText()).toContain('builds');
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
