/** A change of settings: which pools are compared, and whether a difference is clear. */
import { describe, expect, it } from 'vitest';
import { differenceOf, MOST_PAIRS } from '../../../what-if/change/difference.ts';
import { namesOf, pairPools } from '../../../what-if/change/pool-pairs.ts';
import { Random } from '../../../world/base/random.ts';
import { aDeployment, type PoolSettings } from '../support.ts';

const differenceOfValues = (before: readonly number[], after: readonly number[]) =>
  differenceOf(
    before.map((value, at) => ({ before: value, after: after[at] ?? Number.NaN })),
    (value) => value,
  );

describe('a difference over pairs of replays', () => {
  it.each([
    { before: [4, 5, 6], after: [4, 5, 6], clarity: 'none', because: 'all pairs are equal' },
    { before: [4, 5, 6], after: [5, 6, 7], clarity: 'clear', because: 'each pair differs by the same' },
    { before: [4, 5, 6], after: [5, 4, 7], clarity: 'unclear', because: 'the pairs disagree' },
    { before: [4, 5], after: [6, 6], clarity: 'unclear', because: 'two pairs say little' },
    { before: [10, 99, 3], after: [12, 101.1, 5.1], clarity: 'clear', because: 'the pairs agree' },
    { before: [4, 4, 4], after: [4, 4, 9], clarity: 'unclear', because: 'only one pair differs' },
    { before: [4], after: [5], clarity: 'clear', because: 'nothing is known about chance' },
    { before: [4], after: [4], clarity: 'none', because: 'the pair is equal' },
  ])('of $before and $after is $clarity: $because', ({ before, after, clarity }) => {
    expect(differenceOfValues(before, after).clarity).toBe(clarity);
  });

  it('has the means and half of the confidence interval', () => {
    // differences 1, 2, 3: mean 2, standard error 1 / √3, t(2) = 4.303
    expect(differenceOfValues([1, 1, 1], [2, 3, 4])).toEqual({
      ...{ before: 1, after: 3, change: 2, clarity: 'unclear' },
      margin: expect.closeTo(4.303 / Math.sqrt(3), 3),
    });
  });

  it('has no margin with one pair', () => {
    expect(differenceOfValues([1], [2])).not.toHaveProperty('margin');
  });

  it.each([2, 5, MOST_PAIRS])('calls chance clear in 5 % of the cases with %i pairs', (pairs) => {
    const random = new Random(pairs);
    const values = () => Array.from({ length: pairs }, () => bell(random));
    const cases = 4_000;
    const clear = Array.from({ length: cases }, () => differenceOfValues(values(), values())).filter(
      ({ clarity }) => clarity === 'clear',
    );
    expect(clear.length / cases).toBeGreaterThan(0.038);
    expect(clear.length / cases).toBeLessThan(0.062);
  });
});

/** Nearly normal: the sum of twelve even values. */
const bell = (random: Random): number =>
  Array.from({ length: 12 }, () => random.between(0, 1_000)).reduce((sum, value) => sum + value, 0);

const poolsOf = (pools: readonly PoolSettings[]) => aDeployment(pools).pools;
const GPU = { tags: { gpu: 'a10' } };
const ARM = { tags: { cpu: 'arm' } };

it.each([
  {
    before: [{ name: 'a' }],
    after: [{ name: 'a', max: 3 }],
    pairs: ['a=a'],
    because: 'it has the same name',
  },
  { before: [{ name: 'a' }], after: [{ name: 'b' }], pairs: ['a=b'], because: 'it is renamed' },
  {
    ...{ before: [{ name: 'a' }], after: [{ name: 'b', ...GPU }], pairs: ['=b', 'a='] },
    because: 'other tags are another pool',
  },
  {
    ...{ before: [{ name: 'a', ...GPU }], after: [{ name: 'a', ...ARM }], pairs: ['a=a'] },
    because: 'the name comes before the tags',
  },
  {
    ...{ before: [{ name: 'a' }], after: [{ name: 'b', retiring: true }], pairs: ['=b', 'a='] },
    because: 'the new one retires',
  },
  {
    ...{
      before: [{ name: 'a', retiring: true }, { name: 'b' }],
      after: [{ name: 'c' }],
      pairs: ['b=c', 'a='],
    },
    because: 'the other one retires',
  },
  {
    before: [{ name: 'a' }, { name: 'b', ...GPU }],
    after: [{ name: 'c', ...GPU }, { name: 'a' }],
    ...{ pairs: ['b=c', 'a=a'], because: 'one is renamed, one kept' },
  },
])('pairs $pairs: $because', ({ before, after, pairs }) => {
  const found = pairPools(poolsOf(before), poolsOf(after));
  expect(found.map((pair) => `${pair.before?.name ?? ''}=${pair.after?.name ?? ''}`)).toEqual(pairs);
});

it('names a renamed pool by both names, and a kept one once', () => {
  const [renamed] = pairPools(poolsOf([{ name: 'a' }]), poolsOf([{ name: 'b' }]));
  const [kept] = pairPools(poolsOf([{ name: 'a' }]), poolsOf([{ name: 'a' }]));
  expect([renamed, kept].map((pair) => pair && namesOf(pair))).toEqual([['a', 'b'], ['a']]);
});
