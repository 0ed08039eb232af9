import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../lambda/config/read.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import { type Difference, differenceOf } from '../../../what-if/change/difference.ts';
import type { ConfigChange, GroupChange } from '../../../what-if/change/result.ts';
import { amountsOf } from '../../../what-if/cli/backtest/amounts.ts';
import { checkLimits, parseCostLimit, parseWaitLimit } from '../../../what-if/cli/compare/limits.ts';
import { checkText } from '../../../what-if/cli/compare/markdown.ts';
import {
  durationOrAuto,
  POOL_SETTINGS,
  percent,
  settingChanges,
  TOP_SETTINGS,
} from '../../../what-if/cli/compare/setting-changes.ts';
import { weeksTable } from '../../../what-if/cli/compare/tables.ts';
import { terminalText } from '../../../what-if/cli/compare/terminal-text.ts';
import { namedDifferences } from '../../../what-if/cli/compare/verdict.ts';
import { arrow, changeText, code, mean, table } from '../../../what-if/cli/compare/words.ts';
import { dollars, seconds } from '../../../what-if/report/parts/numbers.ts';
import { Random } from '../../../world/base/random.ts';
import { documentOf, type PoolText } from './inputs.ts';

const configOf = (pools: readonly PoolText[], more: PoolText = {}) =>
  readConfig(JSON.stringify(documentOf(pools, more)), 'autoscaler.yaml').config;

/** `setting of pools: before → after`, with a mark for those that no replay judges. */
function changes(
  before: readonly PoolText[],
  after: readonly PoolText[],
  [top, topAfter]: readonly PoolText[] = [],
): readonly string[] {
  return settingChanges(configOf(before, top), configOf(after, topAfter)).map(
    ({ setting, pools, isEveryPool, before, after, isReplayed }) =>
      `${isReplayed ? '' : '(not judged) '}${setting}${pools.length === 0 ? '' : ` of ${isEveryPool ? 'all' : pools.join()}`}: ${before} → ${after}`,
  );
}

describe('the list of settings', () => {
  it.each([
    {
      after: { max: 9 },
      says: ['max of small: 8 → 9', 'prebuilds.maxTasks of small: 6 → 7'],
    },
    { after: { min: 1 }, says: ['min of small: auto → 1'] },
    { after: { idleTimeout: '5m' }, says: ['idleTimeout of small: 20s → 5m'] },
    { after: { tags: { gpu: 'a10' } }, says: ['tags of small: (untagged) → gpu=a10'] },
    { after: { wake: false }, says: ['wake of small: true → false'] },
    { after: { spot: true }, says: ['spot of small: false → true'] },
    {
      after: { capacity: ['spot', 'on-demand'] },
      says: ['spot of small: false → true', 'capacity of small: none → spot, on-demand'],
    },
    {
      after: { capacity: { provider: 'builders', dollarsPerHour: 0.02 } },
      says: ['capacity.provider of small: none → builders', 'capacity.dollarsPerHour of small: none → $0.02'],
    },
    {
      after: { waiting: { person: 1 } },
      says: ['waiting.person of small: $0.10 → $1.00'],
    },
    {
      after: {
        schedules: [
          {
            days: 'mon-tue',
            from: '08:30',
            to: '18:00',
            timezone: 'Europe/Berlin',
            warm: 5,
            except: ['2026-12-25'],
          },
        ],
      },
      says: [
        'schedules of small: none → mon,tue 08:30-18:00 Europe/Berlin: min 0, warm 5, not on 2026-12-25',
      ],
    },
    {
      after: { image: 'coder:2' },
      says: ['(not judged) image of small: ghcr.io/coder/coder:v2.30.0 → coder:2'],
    },
    { after: { prometheusPort: 2112 }, says: ['(not judged) prometheusPort of small: none → 2112'] },
  ])('shows $after with complete values', ({ after, says }) => {
    expect(changes([{}], [after]).toSorted()).toEqual(says.toSorted());
  });

  it('shows settings of the deployment', () => {
    const after = {
      limits: { maxTasks: 9, dollarsPerHour: 5 },
      roll: { atOnce: '50%' },
      aws: { metrics: { perPool: true } },
    };
    expect(changes([{}], [{}], [{}, after])).toEqual([
      'limits.maxTasks: 100 → 9',
      'limits.dollarsPerHour: none → $5.00',
      '(not judged) roll.atOnce: 25% → 50%',
      '(not judged) aws.metrics.perPool: false → true',
    ]);
  });

  it('says once what changes in several pools alike', () => {
    const pools = ['a', 'b', 'c'].map((name) => ({ name, tags: { name } }));
    const all = pools.map((pool) => ({ ...pool, warm: 2 }));
    expect(changes(pools, all)).toEqual(['warm of all: auto → 2']);
    expect(changes(pools, [...all.slice(0, 2), ...pools.slice(2)])).toEqual(['warm of a,b: auto → 2']);
  });

  it('shows new, removed and renamed pools', () => {
    const gpu = { name: 'gpu', tags: { gpu: 'a10' } };
    expect(changes([{}], [{}, gpu])).toEqual([
      'name of gpu: none → organization default, tags gpu=a10, min auto, max 8',
    ]);
    expect(changes([{}, gpu], [{}])).toEqual([
      'name of gpu: organization default, tags gpu=a10, min auto, max 8 → none',
    ]);
    expect(changes([{}], [{ name: 'tiny', max: 8 }])).toEqual(['name of tiny: small → tiny']);
  });

  it('finds the field of every duration and percentage, whose name ends with its unit', () => {
    const config = configOf([{}]);
    const [pool] = config.pools;
    const inUnits = ({ show }: { readonly show: unknown }) => show === durationOrAuto || show === percent;
    const missing = [
      ...TOP_SETTINGS.filter(inUnits).filter(({ of }) => of(config) === undefined),
      ...POOL_SETTINGS.filter(inUnits).filter(({ of }) => pool && of(pool) === undefined),
    ];
    expect(missing).toEqual([]);
  });

  it('is empty if nothing changes', () => {
    expect(changes([{}], [{ idleTimeout: '20s' }])).toEqual([]);
  });
});

describe('private values', () => {
  it.each([
    {
      before: { environment: { A: 'hunter2', B: 'x', D: 'same' } },
      after: { environment: { A: 'hunter3', C: 'y', D: 'same' } },
      says: [
        'environment.A of small: set → another value',
        'environment.B of small: set → none',
        'environment.C of small: none → set',
      ],
    },
    {
      before: { secrets: { TF_TOKEN: { secret: 'one' } } },
      after: { secrets: { TF_TOKEN: { secret: 'two' } } },
      says: ['secrets.TF_TOKEN of small: set → another value'],
    },
    { before: {}, after: { key: { secret: 'other' } }, says: ['key of small: set → another value'] },
    {
      before: {},
      after: { key: undefined, psk: { secret: 'coder/psk' } },
      says: ['key of small: set → none', 'psk of small: none → set'],
    },
    {
      before: {},
      after: { taskRole: { arn: 'arn:aws:iam::111111111111:role/x' } },
      says: ['taskRole.arn of small: none → set'],
    },
  ])('are not shown: $says', ({ before, after, says }) => {
    expect(changes([before], [after])).toEqual(says.map((text) => `(not judged) ${text}`));
  });

  it('hides a tag that looks like a token', () => {
    const [said = ''] = changes([{}], [{ tags: { token: 'aB3dE5gH9j-aB3dE5gH9jKlMn0pQrStUv' } }]);
    expect(said).toBe('tags of small: (untagged) → (not shown)');
  });
});

describe('text of a pull request', () => {
  it.each([
    { text: 'default gpu=a10', shown: '`default gpu=a10`' },
    { text: '`</code><script>', shown: "`'</code><script>`" },
    { text: 'a|b', shown: '`a\\|b`' },
    { text: '@everyone\n# big\r\u2028x', shown: '`@everyone # big x`' },
    { text: '\u202Eevil', shown: '` evil`' },
    { text: ' ', shown: '`(empty)`' },
    { text: 'x'.repeat(500), shown: `\`${'x'.repeat(160)}…\`` },
  ])('is code on one line: $shown', ({ text, shown }) => {
    expect(code(text)).toBe(shown);
  });
});

describe('a change', () => {
  it.each([
    { before: 41.2, after: 43.3, margin: 0.5, clarity: 'clear', says: '+$2.10 (+5.1%) ± $0.50' },
    { before: 41.2, after: 39.1, margin: 0.5, clarity: 'clear', says: '-$2.10 (-5.1%) ± $0.50' },
    { before: 41.2, after: 43.3, margin: 3, clarity: 'unclear', says: 'no clear change (+$2.10 ± $3.00)' },
    { before: 41.2, after: 41.2, margin: 0, clarity: 'none', says: 'none' },
    { before: 0, after: 2.1, margin: 0, clarity: 'clear', says: '+$2.10' },
    { before: 1, after: 31, margin: 0, clarity: 'clear', says: '+$30.00' },
  ] as const)('from $before to $after reads "$says"', ({ before, after, margin, clarity, says }) => {
    expect(changeText({ before, after, change: after - before, margin, clarity }, dollars)).toBe(says);
  });

  it('has no margin if there is one pair only', () => {
    expect(changeText({ before: 10, after: 12, change: 2, clarity: 'clear' }, seconds)).toBe('+2 s (+20%)');
  });

  it('shows no amount that rounds to nothing', () => {
    const tiny = { before: 2.5, after: 2.498, change: -0.002, margin: 0.004, clarity: 'unclear' } as const;
    expect(changeText(tiny, seconds)).toBe('no clear change');
  });
});

it('shows a figure once if it reads the same before and after', () => {
  expect([arrow({ before: 3, after: 3.2 }, mean), arrow({ before: 3, after: 3.01 }, mean)]).toEqual([
    '3 → 3.2',
    '3',
  ]);
});

describe('another week', () => {
  const estimatesOf = (value: number, range?: readonly [number, number]) => {
    const estimate = range === undefined ? { value } : { value, range };
    return { dollarsPerMonth: estimate, meanWaitS: estimate, p95WaitS: estimate };
  };

  it('has cost and waits with their ranges, before and after, in a line of 80 columns each', () => {
    const text = weeksTable({ before: estimatesOf(10, [5, 20]), after: estimatesOf(12, [6, 24.5]) }) ?? '';
    expect(terminalText(text, 80).split('\n')).toEqual([
      'in another week         before                    after',
      'cost of tasks, a month  $10.00 ($5.00 to $20.00)  $12.00 ($6.00 to $24.50)',
      'average wait of people  10 s (5 s to 20 s)        12 s (6 s to 25 s)',
      'wait of people, p95     10 s (5 s to 20 s)        12 s (6 s to 25 s)',
    ]);
  });

  it('is not shown without ranges', () => {
    expect(weeksTable({ before: estimatesOf(10), after: estimatesOf(12) })).toBeUndefined();
  });
});

it('aligns the source of a table', () => {
  expect(
    table(
      ['', 'after'],
      [
        ['waits', '1 s'],
        ['x', '100 s'],
      ],
    ),
  ).toBe(['|       | after |', '| ----- | ----- |', '| waits | 1 s   |', '| x     | 100 s |'].join('\n'));
});

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

const NAMED = ['dollarsPerMonth', 'meanWaitS', 'p95WaitS', 'lostJobs', 'lateSchedules'] as const;
const COMPARISONS = 2_000;

/** Five independent figures; `effect` is what the change adds to each, in standard deviations. */
function aComparison(random: Random, pairs: number, effect: number) {
  // the sum of twelve is as good as normal
  const figure = (): number => sum(Array.from({ length: 12 }), () => random.next() - 0.5);
  const seeds = Array.from({ length: pairs }, (_, at) => at);
  const measures = Object.fromEntries(
    NAMED.map((id) => [
      id,
      differenceOf(
        seeds.map(() => ({ before: figure(), after: figure() + effect })),
        (value) => value,
      ),
    ]),
  ) as ConfigChange['measures'];
  return { seeds, measures };
}

/** The share of comparisons in which a figure is clear: each one alone, and all together. */
function sharesOf(pairs: number, effect: number) {
  const random = new Random(pairs);
  const all = Array.from({ length: COMPARISONS }, () => aComparison(random, pairs, effect));
  const share = (of: (change: (typeof all)[number]) => object): number =>
    all.filter((change) => Object.values(of(change)).some(({ clarity }) => clarity === 'clear')).length /
    COMPARISONS;
  return { alone: share(({ measures }) => measures), together: share(namedDifferences) };
}

describe('five figures of one comparison', () => {
  it.each([2, 5, 10])(
    'are clear by chance in one of twenty comparisons without an effect, with %d pairs',
    (pairs) => {
      const { alone, together } = sharesOf(pairs, 0);
      expect(alone).toBeGreaterThan(0.2);
      expect(together).toBeGreaterThan(0.035);
      expect(together).toBeLessThan(0.06);
    },
  );

  it('still show an effect', () => {
    expect(sharesOf(5, 4).together).toBeGreaterThan(0.99);
  });

  it('are all clear if all clearly differ, or with one pair only', () => {
    const clear = { before: 1, after: 2, change: 1, margin: 0.99, clarity: 'clear' as const };
    const sure = { ...clear, margin: 0 };
    const measures = Object.fromEntries(NAMED.map((id) => [id, sure])) as ConfigChange['measures'];
    const last = namedDifferences({ seeds: [1, 2, 3], measures: { ...measures, p95WaitS: clear } });
    expect(Object.values(last).map(({ clarity }) => clarity)).toEqual(Array(5).fill('clear'));
    const { margin: _, ...single } = clear;
    const one = Object.fromEntries(NAMED.map((id) => [id, single])) as ConfigChange['measures'];
    expect(namedDifferences({ seeds: [1], measures: one }).lostJobs.clarity).toBe('clear');
  });
});
