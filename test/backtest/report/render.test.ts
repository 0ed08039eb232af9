import { expect, it } from 'vitest';
import type { Backtest } from '../../../backtest/replay/result.ts';
import { renderReport } from '../../../backtest/report/render.ts';
import { plausibleBacktest } from './fixture.ts';

const REPORT = renderReport(plausibleBacktest(7));

it('the same backtest gives the same text', () => {
  expect(renderReport(plausibleBacktest(7)) === REPORT).toBe(true);
});

it('a week of five policies and three pools is less than 2 MB', () => {
  expect(Buffer.byteLength(REPORT)).toBeLessThan(2_000_000);
});

it('nothing is loaded from elsewhere', () => {
  const markup = REPORT.replaceAll(/<script[\s\S]*?<\/script>/g, '');
  expect(markup.length).toBeGreaterThan(100_000);
  expect(markup.match(/src=|@import|url\((?!#)|<link(?! rel="icon" href="data:,")/)?.[0]).toBeUndefined();
  expect(markup.includes("default-src 'none'")).toBe(true);
});

it.each([
  { what: 'no jobs and no policies', change: { runs: [], bounds: [], pools: [] } },
  {
    what: 'one policy and nothing to compare it with',
    change: { runs: plausibleBacktest(7).runs.slice(0, 1), bounds: [] },
  },
] as const)('with $what there is a report too', ({ change }) => {
  const backtest: Backtest = { ...plausibleBacktest(7), ...change };
  expect(renderReport(backtest).includes('All figures')).toBe(true);
});

it.each([
  { policies: ['autoscaler'], told: [] },
  { policies: ['autoscaler', 'static'], told: ['nobody stops its tasks'] },
  { policies: ['autoscaler', 'keda'], told: ['lets ECS pick'] },
  { policies: ['autoscaler', 'agent-scaler'], told: ['end themselves while they are idle'] },
])('of $policies it is told how their tasks end, and of no other', ({ policies, told }) => {
  const base = plausibleBacktest(7);
  const report = renderReport({ ...base, runs: base.runs.filter(({ policy }) => policies.includes(policy)) });
  const endings = ['nobody stops its tasks', 'lets ECS pick', 'end themselves while they are idle'];
  expect(endings.filter((ending) => report.includes(ending))).toEqual(told);
});
