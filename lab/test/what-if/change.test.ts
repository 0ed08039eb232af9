/** When a difference between replays is clear, and what is said of it. */
import { expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { table } from '../../../test/support/table.ts';
import { type Change, type Difference, differenceOf } from '../../what-if/change/change.ts';
import { changeText, isCrossed, type Limits, markdownOf } from '../../what-if/cli/backtest/change-screen.ts';
import { aTrace } from './support.ts';

const pairsOf = (before: readonly number[], after: readonly number[]) =>
  before.map((value, at) => ({ before: value, after: after[at] ?? Number.NaN }));

it.each([
  { before: [4, 5, 6], after: [4, 5, 6], clarity: 'none', because: 'all pairs are equal' },
  { before: [0.3], after: [0.1 + 0.2], clarity: 'none', because: 'only the last digits differ' },
  { before: [4, 5, 6], after: [5, 6, 7], clarity: 'clear', because: 'each pair differs by the same' },
  { before: [4, 5, 6], after: [5, 4, 7], clarity: 'unclear', because: 'the pairs disagree' },
  { before: [10, 99, 3], after: [12, 101.1, 5.1], clarity: 'clear', because: 'the pairs agree' },
  { before: [4], after: [5], clarity: 'clear', because: 'nothing is known about chance' },
])('the difference of $before and $after is $clarity: $because', ({ before, after, clarity }) => {
  expect(differenceOf(pairsOf(before, after)).clarity).toBe(clarity);
});

it('has half of the confidence interval as its margin', () => {
  // differences 1, 2, 3: mean 2, standard error 1 / √3, t(2) = 4.303
  const { change, margin } = differenceOf(pairsOf([1, 1, 1], [2, 3, 4]));
  expect({ change, margin }).toEqual({ change: 2, margin: expect.closeTo(4.303 / Math.sqrt(3), 3) });
});

const NONE = differenceOf([{ before: 1, after: 1 }]);
const WEEK = aTrace({ from: 0 as EpochMs, to: (7 * 86_400_000) as EpochMs });

type Cost = { readonly before: number; readonly change: number; readonly margin: number };

/** A change in dollars, by its mean and half of its interval. */
function comparedOf({ before, change, margin }: Cost, limits: Limits = {}, groups: Change['groups'] = []) {
  const clarity = Math.abs(change) <= margin ? 'unclear' : 'clear';
  const dollars: Difference = { before, after: before + change, change, margin, clarity };
  const figures: Change['figures'] = {
    ...{ dollars, meanWaitS: NONE, p95WaitS: NONE, maxWaitS: NONE },
    ...{ lostJobs: NONE, jobsWithoutPool: NONE, tooLate: NONE, launches: NONE },
  };
  return {
    traces: [{ trace: WEEK, change: { seeds: 5, unfit: { before: 0, after: 0 }, figures, groups } }],
    limits,
    region: 'us-east-1',
  };
}

const COST = 'cost of tasks a month';

it.each(table<Cost & { limit: string; verdict: string }>`
  before | change  | margin | limit            | verdict
  ${10}  | ${27.4} | ${27}  | crossed          | Limit crossed: ${COST}. With the change, ${COST} $37.40 instead of $10.00 (+274%).
  ${10}  | ${27.4} | ${28}  | not decided      | No limit is clearly crossed. No clear change of cost, waits and jobs in this trace.
  ${100} | ${9}    | ${2}   | kept             | Within the limits. With the change, ${COST} $109 instead of $100 (+9.0%).
  ${2}   | ${0.9}  | ${0}   | kept             | Within the limits. With the change, ${COST} $2.90 instead of $2.00 (+45%).
  ${2}   | ${1.1}  | ${0}   | crossed          | Limit crossed: ${COST}. With the change, ${COST} $3.10 instead of $2.00 (+55%).
`)('judges verdict and limit by one test: $change ± $margin is $limit', ({ limit, verdict, ...cost }) => {
  const compared = comparedOf(cost, { maxCostIncrease: 0.1 });
  const markdown = markdownOf(compared);
  expect(markdown.split('\n')[0]).toBe(`**${verdict}**`);
  expect(markdown).toMatch(new RegExp(`^\\| ${COST} .* \\| ${limit}: at most `, 'm'));
  expect(isCrossed(compared)).toBe(limit === 'crossed');
});

it('fits a terminal of 80 columns, without bars and without a column of limits that nobody set', () => {
  const text = changeText(comparedOf({ before: 1000, change: 100, margin: 20 }), 80);
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(text).not.toMatch(/\||limit/);
});

/** A group whose waits rise by `change` from nothing. */
const groupOf = (group: string, change: number, margin = 0): Change['groups'][number] => {
  const clarity = change <= margin ? 'unclear' : 'clear';
  return {
    group,
    meanWaitS: { before: 0, after: change, change, margin, clarity },
    p95WaitS: NONE,
  };
};

it.each([
  { groups: [groupOf('a', 66), groupOf('b', 90)], worst: 'b', because: 'it rises by more', crossed: true },
  { groups: [groupOf('a', 66), groupOf('b', 90, 99)], worst: 'a', because: 'b may be chance', crossed: true },
  { groups: [groupOf('a', 0.9), groupOf('b', 0.2)], worst: 'a', because: 'less than 1 s', crossed: false },
])('the worst group is $worst: $because', ({ groups, worst, crossed }) => {
  const compared = comparedOf({ before: 10, change: 0, margin: 0 }, { maxWaitIncrease: 0.2 }, groups);
  const row = new RegExp(
    `^\\| average wait of \`${worst}\` .*\\| ${crossed ? 'crossed' : 'kept'}: at most 1 s`,
    'm',
  );
  expect(markdownOf(compared)).toMatch(row);
  expect(isCrossed(compared)).toBe(crossed);
});

it('writes the tags of a pull request so that GitHub renders none of them', () => {
  const groups = [groupOf('default `|<img src=x> @everyone\n# big', 66), groupOf('default', 1)];
  const markdown = markdownOf(comparedOf({ before: 10, change: 0, margin: 0 }, {}, groups));
  expect(markdown).toContain('`default ???img src=x? ?everyone?? big`');
});
