/**
 * Expected values are computed by hand from replica_calculator.go and horizontal.go
 * (backtest/policies/hpa-rule.ts).
 */
import { describe, expect, it } from 'vitest';
import { limitChange, recommend, stabilize } from '../../../backtest/policies/hpa-rule.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { table } from '../../support/table.ts';

describe('recommend', () => {
  it.each(table<{ current: number; metric: number; target: number; expected: number; because: string }>`
    current | metric | target | expected | because
    4       | 4      | 1      | 4        | the metric is at its target
    4       | 7      | 1      | 7        | each job has a replica
    1       | 7      | 2      | 4        | 3.5 is rounded up
    20      | 21     | 1      | 20       | 5 % more is within the tolerance
    20      | 18     | 1      | 20       | 10 % less is within it too
    20      | 17     | 1      | 17       | 15 % less is not
    20      | 23     | 1      | 23       | 15 % more is not
    5       | 4      | 0.8    | 5        | a target of 0.8 needs a quarter more replicas than jobs
    4       | 4      | 0.8    | 5        | 4 / 0.8 is 5
    3       | 0      | 1      | 0        | the metric alone has no minimum
  `)(
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

  it.each(table<{ current: number; replicas: number; windowMs: number; expected: number; because: string }>`
    current | replicas | windowMs | expected | because
    10      | 3        | 300_000  | 8        | it is the highest recommendation of the last 300 s, without the edge
    10      | 9        | 300_000  | 9        | no recommendation was higher
    10      | 3        | 60_000   | 5        | a shorter window has fewer recommendations
    10      | 3        | 0        | 3        | there is no window
    2       | 3        | 300_000  | 3        | scale-up has no window
    6       | 5        | 300_000  | 8        | a recommendation that the rate limited still counts
  `)(
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
