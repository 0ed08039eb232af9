/**
 * Expected values are computed by hand from replica_calculator.go and horizontal.go
 * (backtest/policies/hpa-rule.ts).
 */
import { describe, expect, it } from 'vitest';
import { limitChange, recommend, stabilize } from '../../../backtest/policies/hpa-rule.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

describe('recommend', () => {
  it.each([
    { current: 4, metric: 4, target: 1, expected: 4, because: 'the metric is at its target' },
    { current: 4, metric: 7, target: 1, expected: 7, because: 'each job has a replica' },
    { current: 1, metric: 7, target: 2, expected: 4, because: '3.5 is rounded up' },
    { current: 20, metric: 21, target: 1, expected: 20, because: '5 % more is within the tolerance' },
    { current: 20, metric: 18, target: 1, expected: 20, because: '10 % less is within it too' },
    { current: 20, metric: 17, target: 1, expected: 17, because: '15 % less is not' },
    { current: 20, metric: 23, target: 1, expected: 23, because: '15 % more is not' },
    {
      current: 5,
      metric: 4,
      target: 0.8,
      expected: 5,
      because: 'a target of 0.8 needs a quarter more replicas than jobs',
    },
    { current: 4, metric: 4, target: 0.8, expected: 5, because: '4 / 0.8 is 5' },
    { current: 3, metric: 0, target: 1, expected: 0, because: 'the metric alone has no minimum' },
  ])(
    'gives $expected replicas for $metric jobs, $current replicas and a target of $target: $because',
    ({ expected, ...given }) => {
      expect(recommend(given)).toBe(expected);
    },
  );
});

describe('stabilize', () => {
  const now = 1_000_000 as EpochMs;
  const past = [
    { at: (now - 400_000) as EpochMs, replicas: 30 },
    { at: (now - 300_000) as EpochMs, replicas: 20 },
    { at: (now - 299_999) as EpochMs, replicas: 8 },
    { at: (now - 15_000) as EpochMs, replicas: 5 },
  ];

  it.each([
    {
      current: 10,
      replicas: 3,
      windowMs: 300_000,
      expected: 8,
      because: 'it is the highest recommendation of the last 300 s, without the edge',
    },
    { current: 10, replicas: 9, windowMs: 300_000, expected: 9, because: 'no recommendation was higher' },
    {
      current: 10,
      replicas: 3,
      windowMs: 60_000,
      expected: 5,
      because: 'a shorter window has fewer recommendations',
    },
    { current: 10, replicas: 3, windowMs: 0, expected: 3, because: 'there is no window' },
    { current: 2, replicas: 3, windowMs: 300_000, expected: 3, because: 'scale-up has no window' },
    {
      current: 6,
      replicas: 5,
      windowMs: 300_000,
      expected: 8,
      because: 'a recommendation that the rate limited still counts',
    },
  ])(
    'gives $expected for $replicas recommended, $current replicas and a window of $windowMs ms: $because',
    ({ replicas, expected, ...given }) => {
      expect(stabilize(replicas, { ...given, now, past })).toBe(expected);
    },
  );
});

describe('limitChange', () => {
  it.each([
    { current: 1, replicas: 50, expected: 5, because: '4 pods are more than 100 %' },
    { current: 4, replicas: 50, expected: 8, because: '4 pods are 100 %' },
    { current: 10, replicas: 50, expected: 20, because: '100 % are more than 4 pods' },
    { current: 10, replicas: 12, expected: 12, because: 'the limit is not reached' },
    { current: 40, replicas: 80, expected: 60, because: 'max is the upper limit' },
    { current: 10, replicas: 3, expected: 3, because: 'scale-down has no rate limit' },
    { current: 10, replicas: 0, expected: 2, because: 'min is the lower limit' },
    { current: 10, replicas: 10, expected: 10, because: 'the number stays the same' },
  ])(
    'gives $expected for $replicas wanted and $current replicas: $because',
    ({ replicas, current, expected }) => {
      expect(limitChange(replicas, { current, min: 2, max: 60 })).toBe(expected);
    },
  );
});
