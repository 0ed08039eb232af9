import { describe, expect, it } from 'vitest';
import type { Backtest, PeopleWait } from '../../../what-if/replay/result.ts';
import { peopleWaitOf } from '../../../what-if/report/parts/headline.ts';
import { renderReport } from '../../../what-if/report/render.ts';
import { plausibleBacktest } from './fixture.ts';

const BACKTEST = plausibleBacktest(7);
const REPORT = renderReport(BACKTEST);

it('renders the same backtest to the same text, in less than 1 MB', () => {
  expect(renderReport(plausibleBacktest(7)) === REPORT).toBe(true);
  expect(Buffer.byteLength(REPORT)).toBeLessThan(1_000_000);
});

it('runs no script and loads nothing from elsewhere', () => {
  expect(
    REPORT.match(/<script|src=|@import|url\((?!#)|<link(?! rel="icon" href="data:,")/)?.[0],
  ).toBeUndefined();
  expect(REPORT).toContain("default-src 'none'");
});

it('has the exact figures of every policy and price in its tables', () => {
  for (const { figures } of [...BACKTEST.runs, ...BACKTEST.prices])
    for (const value of [figures.dollars.tasks, figures.waitOfPeople.meanS, figures.waitOfPeople.p95S])
      expect(REPORT).toContain(`<data value="${value}">`);
  for (const [, value = '', text = ''] of REPORT.matchAll(/<data value="([^"]*)">([^<]*)</g))
    if (/^[\d,]+$/.test(text)) expect(Number(text.replaceAll(',', ''))).toBe(Math.round(Number(value)));
});

it('has the reasons of changes on the busiest day', () => {
  expect(REPORT).toMatch(
    /<th scope="row">\d\d:\d\d<\/th>.*<td class="text">\d+ jobs wait; autostarts are due</,
  );
});

it.each([
  { what: 'no jobs and no policies', change: { runs: [], pools: [], prices: [] } },
  { what: 'one policy and nothing to compare it with', change: { runs: BACKTEST.runs.slice(0, 1) } },
] as const)('renders a backtest with $what', ({ change }) => {
  expect(renderReport({ ...BACKTEST, ...change })).toContain('All figures');
});

it('names what its dollars have in each column, and never calls them Fargate', () => {
  expect(REPORT.match(/<th scope="(?:col|row)">tasks, launches, autoscaler<\/th>/g)).toHaveLength(3);
  expect(REPORT).not.toMatch(/<th[^>]*>Fargate/);
});

it('shows the break-even with what both cost at each number of builds', () => {
  const volumes = [
    { buildsPerDay: 80, autoscaler: 45.5, oneDaemon: 91, oneDaemonTasks: 28.8 },
    { buildsPerDay: 41, autoscaler: undefined, oneDaemon: 47, oneDaemonTasks: 28.8 },
    { buildsPerDay: 19, autoscaler: 35, oneDaemon: 30, oneDaemonTasks: 28.8 },
  ];
  const report = renderReport({ ...BACKTEST, breakEven: { daemons: 1, volumes } });
  expect(report).toContain('Break-even: between 19 and 41 builds a day.');
  expect(report).toMatch(/>41<\/th><td>–<\/td><td><data value="47">\$47\.00</);
  expect(REPORT).not.toContain('Break-even');
});

it('draws no prices of waiting that nobody asked for', () => {
  const report = renderReport({ ...BACKTEST, prices: [] });
  expect([REPORT, report].map((each) => /ther prices of waiting/.test(each))).toEqual([true, false]);
});

it.each([
  { policies: ['autoscaler'], explained: [] },
  { policies: ['autoscaler', 'static'], explained: ['never stops a task'] },
  { policies: ['autoscaler', 'from-zero'], explained: ['each build gets a new task'] },
  { policies: ['autoscaler', 'agent-scaler'], explained: ['the idle time with the lowest total'] },
])('explains how tasks stop under $policies and under no other policy', ({ policies, explained }) => {
  const runs = BACKTEST.runs.filter(({ policy }) => policies.includes(policy));
  const report = renderReport({ ...BACKTEST, runs });
  const endings = ['never stops a task', 'each build gets a new task', 'the idle time with the lowest total'];
  expect(endings.filter((ending) => report.includes(ending))).toEqual(explained);
});

it('keeps untrusted text as text', () => {
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
  const report = renderReport(evil);
  expect(report).not.toMatch(/<script|<img|href="javascript/);
  expect(report).toContain('&#60;img src=x');
});

describe('where the wait of people went', () => {
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
  ])('is neither a sentence nor a section for $scenario', ({ wait }) => {
    expect(peopleWaitOf(withWait(wait))).toBeUndefined();
    expect(renderReport(withWait(wait))).not.toContain('Where the wait');
  });

  it('has a bar for each part, as long as its share, and what makes it shorter', () => {
    const parts = { notNoticed: 3_000, imagePull: 60_000, queued: 15_000 };
    const report = renderReport(withWait({ jobs: 4, missed: 0, parts }));
    expect(report.match(/width:[\d.]+%/g)).toEqual(['width:100.0%', 'width:25.0%', 'width:5.0%']);
    expect(report).toContain('Use a smaller image, from a registry in the same Region such as ECR');
  });
});
