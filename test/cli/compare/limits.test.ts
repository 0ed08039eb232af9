import { describe, expect, it } from 'vitest';
import type { Difference } from '../../../backtest/change/difference.ts';
import type { ConfigChange, GroupChange } from '../../../backtest/change/result.ts';
import { amountsOf } from '../../../cli/backtest/amounts.ts';
import { checkLimits, parseCostLimit, parseWaitLimit } from '../../../cli/compare/limits.ts';
import { checkText } from '../../../cli/compare/markdown.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';

const SAME: Difference = { before: 10, after: 10, change: 0, margin: 0, clarity: 'none' };
const risen = (before: number, after: number, clarity: Difference['clarity'] = 'clear'): Difference => ({
  ...{ before, after, change: after - before, margin: 0.1, clarity },
});

type Given = Partial<Record<'cost' | 'mean' | 'p95' | 'lost', Difference>> & {
  readonly onlyBefore?: number;
  readonly groups?: readonly GroupChange[];
};

function aChange({ cost = SAME, mean = SAME, p95 = SAME, lost = SAME, onlyBefore = 0, groups = [] }: Given) {
  const measures = { dollarsPerMonth: cost, meanWaitS: mean, p95WaitS: p95, lostJobs: lost };
  const fits = { both: 100, onlyBefore, onlyAfter: 0, neither: 0 };
  const trace = { from: 0, to: 7 * DAY_MS };
  return { trace, measures, fits, groups } as unknown as ConfigChange;
}

const outcomesOf = (
  given: Given,
  limits: { readonly cost?: string; readonly wait?: string; readonly isUnservedRefused?: boolean },
) =>
  checkLimits(aChange(given), {
    ...(limits.cost === undefined ? {} : { cost: parseCostLimit(limits.cost) }),
    ...(limits.wait === undefined ? {} : { wait: parseWaitLimit(limits.wait) }),
    isUnservedRefused: limits.isUnservedRefused ?? false,
  }).map(({ figure, group, outcome }) => `${figure}${group === undefined ? '' : ` of ${group}`} ${outcome}`);

describe('a limit of cost', () => {
  it.each([
    { limit: '10%', cost: risen(100, 111), outcome: 'crossed', because: 'it rises by 11 %' },
    { limit: '10%', cost: risen(100, 110), outcome: 'kept', because: 'the limit is inclusive' },
    { limit: '10%', cost: risen(100, 120, 'unclear'), outcome: 'undecided', because: 'it may be chance' },
    { limit: '10%', cost: risen(100, 50), outcome: 'kept', because: 'it falls' },
    { limit: '10%', cost: risen(5, 5.9), outcome: 'kept', because: 'a dollar is always allowed' },
    { limit: '10%', cost: risen(5, 6.1), outcome: 'crossed', because: 'it is more than a dollar' },
    { limit: '0%', cost: risen(0, 2), outcome: 'crossed', because: 'it was zero' },
    { limit: '20usd', cost: risen(100, 120.5), outcome: 'crossed', because: 'it rises by $20.50' },
    { limit: '$20.50', cost: risen(100, 120.5), outcome: 'kept', because: 'it rises by $20.50' },
    { limit: '$0', cost: risen(100, 100.1), outcome: 'crossed', because: 'an amount is exact' },
  ])('$limit is $outcome: $because', ({ limit, cost, outcome }) => {
    expect(outcomesOf({ cost }, { cost: limit })).toEqual([`dollarsPerMonth ${outcome}`]);
  });
});

describe('a limit of waits', () => {
  it('holds for the average and p95', () => {
    expect(outcomesOf({ mean: risen(10, 13), p95: risen(60, 61) }, { wait: '20%' })).toEqual([
      'meanWaitS crossed',
      'p95WaitS kept',
    ]);
    expect(outcomesOf({ p95: risen(60, 66) }, { wait: '5s' })).toEqual([
      'meanWaitS kept',
      'p95WaitS crossed',
    ]);
  });

  it('names the groups of twenty jobs or more that cross it', () => {
    const group = { meanWaitS: risen(10, 20), p95WaitS: SAME };
    const groups = [
      { group: 'default', jobs: 500, meanWaitS: SAME, p95WaitS: SAME },
      { group: 'default gpu=a10', jobs: 20, ...group },
      { group: 'default gpu=h100', jobs: 19, ...group },
    ];
    expect(outcomesOf({ groups }, { wait: '20%' })).toEqual([
      'meanWaitS kept',
      'p95WaitS kept',
      'meanWaitS of default gpu=a10 crossed',
    ]);
  });
});

describe('unserved jobs', () => {
  it.each([
    { given: {}, says: ['lostJobs kept', 'unfitJobs kept'] },
    { given: { lost: risen(0, 2) }, says: ['lostJobs crossed', 'unfitJobs kept'] },
    { given: { lost: risen(0, 0.2, 'unclear') }, says: ['lostJobs undecided', 'unfitJobs kept'] },
    { given: { lost: risen(2, 0) }, says: ['lostJobs kept', 'unfitJobs kept'] },
    { given: { onlyBefore: 1 }, says: ['lostJobs kept', 'unfitJobs crossed'] },
  ] as const)('are $says', ({ given, says }) => {
    expect(outcomesOf(given, { isUnservedRefused: true })).toEqual(says);
  });
});

it.each(['', '%', '10', 'usd', '$', '1e3usd', '10 %', '-1%', '10%%', 'NaN%'])(
  'refuses the limit "%s"',
  (text) => {
    expect(() => parseCostLimit(text)).toThrow(
      'Write a percentage, such as 10%, or dollars a month, such as 20usd',
    );
    expect(() => parseWaitLimit(text)).toThrow(
      'Write a percentage, such as 10%, or a duration, such as 5s or 2m.',
    );
  },
);

it.each([
  {
    limit: '20%',
    cost: risen(2.96, 3.86),
    says: ' kept: monthly cost of tasks ($2.96 → $3.86). A percentage always allows a rise of $1.00',
  },
  { limit: '20%', cost: risen(10, 11), says: ' kept: monthly cost of tasks ($10.00 → $11.00)' },
  { limit: '20%', cost: risen(10, 19), says: ' **crossed**: monthly cost of tasks ($10.00 → $19.00)' },
  {
    limit: '$2',
    cost: risen(10, 19, 'unclear'),
    says: ' not decided: monthly cost of tasks ($10.00 → $19.00). The difference may be chance: add `--seeds`',
  },
])('a limit of $limit reads "$says"', ({ limit, cost, says }) => {
  const change = aChange({ cost });
  const checks = checkLimits(change, { cost: parseCostLimit(limit), isUnservedRefused: false });
  expect(checks.map((check) => checkText(check, amountsOf(change)))).toEqual([
    `\`--max-cost-increase ${limit}\`${says}`,
  ]);
});
