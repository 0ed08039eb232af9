import { describe, expect } from 'vitest';
import type { Backtest, DesiredCountChange, WaitFigures } from '../../../what-if/replay/result.ts';
import { DESKTOP, PHONE, reportBrowser, browserTest as test } from './browser.ts';
import { plausibleBacktest } from './fixture.ts';
import { readBack, rowsOf, valuesOf } from './tables.ts';

const BACKTEST = plausibleBacktest(7);
const open = reportBrowser();

type Labelled = { x: number; y: number; width: number; height: number; text: string };
/** Two pixels less on each side: a box has room for letters that the text does not have. */
const covers = (one: Labelled, other: Labelled): boolean =>
  one.x + 2 < other.x + other.width - 2 &&
  other.x + 2 < one.x + one.width - 2 &&
  one.y + 2 < other.y + other.height - 2 &&
  other.y + 2 < one.y + one.height - 2;

describe('the report page', () => {
  test.each([
    { what: 'a week of five policies', backtest: BACKTEST },
    { what: 'no runs and pools', backtest: { ...BACKTEST, runs: [], pools: [] } },
  ])('logs nothing and loads nothing when it shows $what', async ({ backtest }) => {
    const { consoleMessages, requests, url, page } = await open(backtest, DESKTOP);
    await page.locator('#wait-shares svg').waitFor();
    expect(consoleMessages).toEqual([]);
    expect(requests).toEqual([url]);
  });

  test('embeds the backtest unchanged', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    expect(await page.evaluate("JSON.parse(document.querySelector('#backtest').textContent)")).toEqual(
      JSON.parse(JSON.stringify(BACKTEST)),
    );
  });

  test('shows its charts without scripts', async () => {
    const { page } = await open(BACKTEST, { ...DESKTOP, javaScriptEnabled: false });
    const label = page.locator('#pareto-p95 svg text', { hasText: 'from zero' });
    expect(await label.isVisible()).toBe(true);
    expect(await page.locator('.chart svg').count()).toBe(4);
  });

  test('does not scroll sideways on a phone when all details are open', async () => {
    const { page } = await open(BACKTEST, PHONE);
    for (const summary of await page.locator('summary').all()) await summary.click();
    await page.locator('#pool-steps td').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('changes all colours in dark mode without drawing the charts again', async () => {
    const { page } = await open(BACKTEST, { ...DESKTOP, colorScheme: 'light' });
    const colors = `[getComputedStyle(document.body).backgroundColor, ...[...document.querySelectorAll('.chart svg text')].map((each) => getComputedStyle(each).fill)]`;
    const light = await page.evaluate<readonly string[]>(colors);
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await page.evaluate<readonly string[]>(colors);
    expect(light.length).toBeGreaterThan(40);
    expect(light.filter((color, at) => color === dark[at])).toEqual([]);
  });

  test('fits the width of a phone when names are long', async () => {
    const { trace } = BACKTEST;
    const { page } = await open({ ...BACKTEST, trace: { ...trace, name: 'n'.repeat(256) } }, PHONE);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('fits the width of paper and prints the colours of its squares', async () => {
    const { page } = await open(BACKTEST, { viewport: { width: 718, height: 1000 } });
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(718);
    const adjust = `[...document.querySelectorAll('.hours i, .swatch')].map((each) => getComputedStyle(each).printColorAdjust)`;
    expect(new Set(await page.evaluate<readonly string[]>(adjust))).toEqual(new Set(['exact']));
  });

  test('prints every chart as wide as the page, and two charts of cost and wait on one page', async () => {
    const { page } = await open(BACKTEST, { viewport: { width: 718, height: 1047 } });
    await page.emulateMedia({ media: 'print' });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    const widths = `[...document.querySelectorAll('.chart')].map((chart) => [...chart.querySelectorAll('svg')].map((svg) => svg.getBoundingClientRect().width).filter((width) => width > 0))`;
    expect(await page.evaluate(widths)).toEqual([[718], [718], [718], [718]]);
    const costs = await page.locator('section:has(#costs)').boundingBox();
    expect(costs?.height).toBeLessThan(1047);
    expect(await page.locator('.paper text', { hasText: 'from zero' }).count()).toBe(2);
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    expect(await page.locator('.paper').count()).toBe(0);
  });

  test.each([400, 1280])('covers no point and no label with a label at %i px', async (width) => {
    const { page } = await open(BACKTEST, { viewport: { width, height: 900 } });
    const boxes = `(chart) => {
      const box = (each) => { const { x, y, width, height } = each.getBoundingClientRect(); return { x, y, width, height, text: each.textContent }; };
      return [...document.querySelectorAll(chart + ' svg text[font-size="13"], ' + chart + ' svg text[style*="13px"]')].map(box);
    }`;
    for (const chart of ['#pareto-p95', '#pareto-mean']) {
      const labels = await page.evaluate<readonly Labelled[]>(`(${boxes})('${chart}')`);
      expect(labels.length).toBeGreaterThanOrEqual(BACKTEST.runs.length);
      const clashes = labels.flatMap((one, at) => labels.slice(at + 1).filter((other) => covers(one, other)));
      expect(clashes.map(({ text }) => text)).toEqual([]);
    }
  });

  test('gives every chart a title and a description', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    for (const chart of await page.locator('.chart').all()) {
      for (const attribute of ['aria-labelledby', 'aria-describedby']) {
        const id = await chart.getAttribute(attribute);
        expect((await page.locator(`[id="${id}"]`).textContent())?.length).toBeGreaterThan(10);
      }
    }
  });
});

describe('the chart of the pools', () => {
  /** The last change with two reasons, of the first pool of the first run. */
  function changeWithTwoReasons(backtest: Backtest): DesiredCountChange {
    const change = backtest.runs[0]?.pools[0]?.changes.findLast(({ why }) => why.length === 2);
    if (change === undefined) throw new Error('looking for a change with two reasons: there is none');
    return change;
  }

  /**
   * Horizontal position of a time between the margins of the chart, 0 to 1. The axis ends where the
   * last step begins.
   */
  const shareOf = ({ trace, stepS }: Backtest, at: number) =>
    (at - trace.from) / (trace.to - trace.from - stepS * 1000);

  test('shows the reasons of a change under the pointer', async () => {
    const { page, consoleMessages } = await open(BACKTEST, DESKTOP);
    await page.locator('select[name=days]').selectOption({ label: 'whole period' });
    const change = changeWithTwoReasons(BACKTEST);
    const chart = page.locator('#pool-series');
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    if (box === null) throw new Error('looking for the chart of the pools: the page does not show it');
    const x = box.x + 44 + (box.width - 78) * shareOf(BACKTEST, change.at);
    await page.mouse.move(x, box.y + 120);
    const tip = page.locator('#pool-series .tip');
    await tip.filter({ hasText: change.why.join('; ') }).waitFor();
    expect(await tip.textContent()).toContain(`${change.from} → ${change.to}`);
    expect(consoleMessages).toEqual([]);
  });

  test('moves from step to step with the arrow keys', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    const tip = page.locator('#pool-series .tip');
    await page.locator('select[name=days]').selectOption({ label: 'whole period' });
    await page.locator('#pool-series').press('End');
    await tip.filter({ hasText: 'Sun 8 Mar 22:48' }).waitFor();
    await page.locator('#pool-series').press('ArrowLeft');
    await tip.filter({ hasText: 'Sun 8 Mar 22:36' }).waitFor();
    await page.locator('select[name=days]').selectOption({ label: 'Wed 4 Mar' });
    await page.locator('#pool-series').press('Home');
    await tip.filter({ hasText: 'Wed 4 Mar 00:00' }).waitFor();
  });

  test('opens on the busiest day, and has it first in its list', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    const days = await page.locator('select[name=days] option').allTextContents();
    const others = days.filter((day) => !day.includes('busiest'));
    expect(days[0]).toMatch(/^(Mon|Tue|Wed|Thu|Fri) \d Mar \(busiest\)$/);
    expect(others.slice(0, 3)).toEqual(['whole period', 'Sun 1 Mar', 'Mon 2 Mar']);
    const labels = await page.locator('#pool-series svg text').allTextContents();
    expect(labels).toEqual(expect.arrayContaining(['04:00', '12:00', '20:00']));
  });

  test('has its midnights in UTC in a browser in Tokyo', async () => {
    const { page } = await open(BACKTEST, { ...DESKTOP, timezoneId: 'Asia/Tokyo' });
    await page.locator('select[name=days]').selectOption({ label: 'whole period' });
    await page.locator('#pool-series svg text', { hasText: 'Mon 2 Mar' }).waitFor();
  });

  test('shows the chosen policy, pool and day, and their figures', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    await page.locator('select[name=policy]').selectOption({ label: 'from zero' });
    await page.locator('select[name=pool]').selectOption({ label: 'large' });
    await page.locator('select[name=days]').selectOption({ label: 'Wed 4 Mar' });
    await page.locator('#pool-series svg text', { hasText: '12:00' }).waitFor();
    await page.locator('figure:has(#pool-series) summary').first().click();
    await page.locator('#pool-steps td').first().waitFor();
    const series = BACKTEST.runs[2]?.pools[1];
    // the trace begins at 23:00
    const wednesday = { from: 245, to: 365 };
    const columns = [series?.busy, series?.idle, series?.starting, series?.leaving];
    const expected = columns.map((each) => each?.slice(wednesday.from, wednesday.to));
    const rows = await rowsOf(page, '#pool-steps');
    expect(rows[0]?.head).toBe('Wed 4 Mar 00:00');
    expect(columns.map((_, at) => valuesOf(rows).map((row) => row[at]))).toEqual(expected);
    expect(valuesOf(rows).map((row) => row[5])).toEqual(series?.queue.slice(wednesday.from, wednesday.to));
  });

  test('lists the changes of the chosen day with their reasons', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    await page.locator('select[name=days]').selectOption({ label: 'Mon 2 Mar' });
    await page.locator('figure:has(#pool-series) summary').last().click();
    await page.locator('#pool-changes td').first().waitFor();
    const [monday, tuesday] = [2, 3].map((day) => Date.UTC(2026, 2, day));
    const changes =
      BACKTEST.runs[0]?.pools[0]?.changes.filter(({ at }) => at >= (monday ?? 0) && at < (tuesday ?? 0)) ??
      [];
    const rows = await rowsOf(page, '#pool-changes');
    expect(rows.map(({ cells }) => cells.map(({ text }) => text))).toEqual(
      changes.map(({ from, to, why }) => [String(from), String(to), why.join('; ')]),
    );
  });
});

describe('the tooltip of the chart of costs and waits', () => {
  test('names every policy at the point', async () => {
    const [ours] = BACKTEST.runs;
    if (ours === undefined) throw new Error('looking for a run: there is none');
    const { page } = await open({ ...BACKTEST, runs: [ours, { ...ours, title: 'twin' }] }, DESKTOP);
    await page.locator('#pareto-p95').press('Home');
    const tip = page.locator('#pareto-p95 .tip');
    await tip.filter({ hasText: 'twin' }).waitFor();
    expect(await tip.locator('b').allTextContents()).toEqual(['autoscaler', 'twin']);
    await page.locator('#pareto-p95').press('End');
    await tip.filter({ hasText: 'autoscaler at $2.00 a minute' }).waitFor();
  });
});

describe('the tables of the report', () => {
  const { runs } = BACKTEST;

  test('list every figure of every policy', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    const waits = (of: WaitFigures) => [
      ...[of.meanS, of.p50S, of.p95S, of.p99S, of.maxS],
      ...[of.over10s, of.over60s, of.over5min],
    ];
    const columns = runs.map(({ figures: { jobs, executor, wait, waitOfPeople, tasks, dollars, calls } }) => [
      ...[
        jobs.submitted,
        jobs.succeeded,
        jobs.killed,
        jobs.reaped,
        jobs.unserved,
        executor.due,
        executor.delayed,
      ],
      ...[...waits(wait), ...waits(waitOfPeople)],
      ...[tasks.hours, tasks.busyHours, tasks.peak, tasks.launches, tasks.idleLaunches],
      ...[dollars.tasks, dollars.waiting, dollars.failures, dollars.total],
      ...[calls.ticks, calls.coderd, calls.ecs],
    ]);
    const rows = valuesOf(await rowsOf(page, '#figures-table'));
    expect(columns.map((_, at) => rows.map((row) => row[at]))).toEqual(columns);
  });

  test.each([
    { id: 'wait-by-pool', keys: ['default', 'large', 'data'], of: 'waitByPool' },
    { id: 'wait-by-group', keys: ['default', 'default size=large', 'data team=science'], of: 'waitByGroup' },
    {
      id: 'wait-by-kind',
      keys: ['user', 'autostart', 'autostop', 'dormancy', 'prebuild', 'import'],
      of: 'waitByKind',
    },
  ] as const)('list the waits of every policy in $id', async ({ id, keys, of }) => {
    const { page } = await open(BACKTEST, DESKTOP);
    const expected = keys.flatMap((key) =>
      runs.map(({ figures }) => {
        const waits: Readonly<Record<string, Backtest['runs'][number]['figures']['wait']>> = figures[of];
        const wait = waits[key];
        return [
          wait?.jobs,
          wait?.meanS,
          wait?.p50S,
          wait?.p95S,
          wait?.p99S,
          wait?.maxS,
          wait?.over10s,
          wait?.over60s,
          wait?.over5min,
        ];
      }),
    );
    const rows = await rowsOf(page, `#${id}`);
    expect(rows.filter(({ cells }) => cells.length === 0).map(({ head }) => head)).toEqual(keys);
    expect(valuesOf(rows)).toEqual(expected);
  });

  test('list the same figures as the charts', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    const costs = runs.map(({ figures: { tasks, dollars, waitOfPeople }, estimates }) => [
      tasks.hours,
      dollars.tasks,
      estimates.dollarsPerMonth.value,
      tasks.launches,
      waitOfPeople.meanS,
      waitOfPeople.p95S,
    ]);
    expect(valuesOf(await rowsOf(page, '#costs-table'))).toEqual(costs);
    const priced = BACKTEST.prices.map(({ figures: { dollars, waitOfPeople } }) => [
      dollars.tasks,
      waitOfPeople.meanS,
      waitOfPeople.p95S,
    ]);
    expect(valuesOf(await rowsOf(page, '#prices-table'))).toEqual(priced);
    const counts = runs[0]?.waitCounts.map((_, at) => runs.map(({ waitCounts }) => waitCounts[at]));
    expect(valuesOf(await rowsOf(page, '#wait-counts-table'))).toEqual(counts);
    const within = (run: Backtest['runs'][number], at: number) =>
      run.waitCounts.slice(0, at + 1).reduce((sum, each) => sum + each, 0) / 4000;
    const shares = runs[0]?.waitCounts.slice(0, -1).map((_, at) => runs.map((run) => within(run, at)));
    expect(valuesOf(await rowsOf(page, '#wait-shares-table'))).toEqual(shares);
    const hours = Array.from({ length: 168 }, (_, hour) => {
      const jobs = runs[0]?.hoursOfWeekUtc.jobs[hour];
      return [
        jobs,
        ...runs.map(({ hoursOfWeekUtc }) => (jobs === 0 ? null : hoursOfWeekUtc.meanWaitS[hour])),
      ];
    });
    expect(valuesOf(await rowsOf(page, '#hours-table'))).toEqual(hours);
  });

  test('show in every cell its exact figure, rounded', async () => {
    const { page } = await open(BACKTEST, DESKTOP);
    const cells = (await rowsOf(page, 'main'))
      .flatMap((row) => row.cells)
      .flatMap(({ value, text }) => (value === null ? [] : [{ value, text }]));
    expect(cells.length).toBeGreaterThan(1400);
    // at least two digits; shares and small figures to a tenth
    const wrong = cells.filter(
      ({ value, text }) =>
        Math.abs(readBack(text, value) - value) > 0.051 * Math.max(value, text.endsWith('%') ? 0.01 : 1),
    );
    expect(wrong).toEqual([]);
  });
});

describe('untrusted text in the report', () => {
  const EVIL = `</script><script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;
  const evil: Backtest = {
    ...BACKTEST,
    trace: { ...BACKTEST.trace, name: EVIL },
    pools: BACKTEST.pools.map((pool) => ({ ...pool, name: EVIL, tags: { [EVIL]: EVIL } })),
    runs: BACKTEST.runs.map((run) => ({
      ...run,
      title: EVIL,
      source: { title: EVIL, url: `javascript:document.title='owned'` },
      settings: { [EVIL]: EVIL },
      pools: run.pools.map((series) => ({
        ...series,
        pool: EVIL,
        changes: series.changes.map((change) => ({ ...change, why: [EVIL] })),
      })),
    })),
  };

  test('stays text and runs no script', async () => {
    const { page, consoleMessages, requests } = await open(evil, DESKTOP);
    await page.locator('#pool-series').press('End');
    await page.locator('#pool-series .tip').filter({ hasText: '<img' }).waitFor();
    await page.locator('#wait-shares').press('End');
    await page.locator('#wait-shares .tip').filter({ hasText: '<img' }).waitFor();
    await page.locator('#pareto-p95').press('Home');
    await page.locator('#pareto-p95 .tip').filter({ hasText: '<img' }).waitFor();
    for (const summary of await page.locator('summary').all()) await summary.click();
    await page.locator('#pool-changes td').first().waitFor();
    expect(await page.title()).toBe(`Backtest: ${EVIL}`);
    expect(await page.locator('img, a[href^=javascript]').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(2);
    expect(consoleMessages).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  test('stays text when scripts are off', async () => {
    const { page } = await open(evil, { ...DESKTOP, javaScriptEnabled: false });
    expect(await page.locator('img, a[href^=javascript]').count()).toBe(0);
  });
});
