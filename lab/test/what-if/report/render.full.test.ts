import { expect, it } from 'vitest';
import type { Backtest } from '../../../what-if/replay/result.ts';
import { renderReport } from '../../../what-if/report/render.ts';
import { plausibleBacktest } from './fixture.ts';

const REPORT = renderReport(plausibleBacktest(7));

it('renders the same backtest to the same text', () => {
  expect(renderReport(plausibleBacktest(7)) === REPORT).toBe(true);
});

it('renders a week of four policies and three pools in less than 2 MB', () => {
  expect(Buffer.byteLength(REPORT)).toBeLessThan(2_000_000);
});

it('loads nothing from elsewhere', () => {
  const markup = REPORT.replaceAll(/<script[\s\S]*?<\/script>/g, '');
  expect(markup.length).toBeGreaterThan(100_000);
  expect(markup.match(/src=|@import|url\((?!#)|<link(?! rel="icon" href="data:,")/)?.[0]).toBeUndefined();
  expect(markup.includes("default-src 'none'")).toBe(true);
});

it.each([
  { what: 'no jobs and no policies', change: { runs: [], pools: [] } },
  {
    what: 'one policy and nothing to compare it with',
    change: { runs: plausibleBacktest(7).runs.slice(0, 1) },
  },
] as const)('renders a backtest with $what', ({ change }) => {
  const backtest: Backtest = { ...plausibleBacktest(7), ...change };
  expect(renderReport(backtest).includes('All figures')).toBe(true);
});

it.each([
  { policies: ['autoscaler'], explained: [] },
  { policies: ['autoscaler', 'static'], explained: ['never stops a task'] },
  { policies: ['autoscaler', 'from-zero'], explained: ['each build gets a new task'] },
  { policies: ['autoscaler', 'agent-scaler'], explained: ['the idle time with the lowest total'] },
])('explains how tasks stop under $policies and under no other policy', ({ policies, explained }) => {
  const base = plausibleBacktest(7);
  const report = renderReport({ ...base, runs: base.runs.filter(({ policy }) => policies.includes(policy)) });
  const endings = ['never stops a task', 'each build gets a new task', 'the idle time with the lowest total'];
  expect(endings.filter((ending) => report.includes(ending))).toEqual(explained);
});
