import { expect, it } from 'vitest';
import { namesOf, pairPools } from '../../../backtest/change/pool-pairs.ts';
import { aDeployment, type PoolSettings } from '../support.ts';

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
