import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../lambda/config/read.ts';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { atPriceOfWaiting, priceOfWaiting } from '../../what-if/replay/prices.ts';
import { recommend, startTimeOf, yamlFragment } from '../../what-if/search/recommendation.ts';

function configOf(pools: readonly object[], top: object = {}): Deployment {
  const document = {
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/token' } },
    limits: { maxTasks: 100 },
    ...top,
    pools: pools.map((pool, at) => ({
      ...{
        name: `p${at}`,
        organization: 'default',
        tags: { pool: `p${at}` },
        key: { secret: `keys/p${at}` },
      },
      ...pool,
    })),
  };
  return readConfig(JSON.stringify(document), 'autoscaler.yaml').config;
}

/** A price of 0.1 with this peak of the one pool, `p0`, which ran jobs if it had tasks. */
const pointOf = (used: number) => ({
  price: 0.1,
  figures: { peaks: { all: used, byPool: used === 0 ? {} : { p0: used } } },
});

describe('the recommended max', () => {
  it.each([
    { used: 18, max: 23, because: 'a quarter is more than two tasks' },
    { used: 5, pool: { max: 5 }, max: 7, because: 'the headroom is at least two tasks' },
    { used: 1, max: 20, because: 'a limit is never lowered' },
    { used: 0, max: 20, because: 'a pool that ran no job keeps its max' },
  ])('is $max for a peak of $used tasks: $because', ({ used, pool = {}, max }) => {
    const { pools } = recommend(configOf([pool]), pointOf(used), undefined);
    expect(pools).toEqual([{ name: 'p0', used, max }]);
  });

  it.each([
    { used: 90, maxTasks: 113 },
    { used: 40, maxTasks: 100 },
  ])('comes with maxTasks of $maxTasks for a peak of $used', ({ used, maxTasks }) => {
    expect(recommend(configOf([{}]), pointOf(used), undefined)).toMatchObject({
      maxTasks,
      maxTasksUsed: used,
    });
  });

  it('is in the YAML only if it changes, as all else', () => {
    const yaml = (max: number) => {
      const config = configOf([{ max, waiting: { person: 0.1 } }, {}]);
      return yamlFragment(recommend(config, pointOf(12), undefined), config);
    };
    expect(yaml(20)).toBe('waiting:\n  person: 0.1');
    expect(yaml(12)).toBe(
      'waiting:\n  person: 0.1\npools:\n  - name: p0\n    max: 15  # it used up to 12 tasks, idle ones too',
    );
  });
});

describe('the recommended start time', () => {
  it.each([
    { startSeconds: undefined, ms: undefined },
    { startSeconds: [30, 68] as const, ms: 70_000 },
    { startSeconds: [1, 2] as const, ms: 10_000 },
    { startSeconds: [300, 900] as const, ms: 600_000 },
  ])('is $ms ms for starts of $startSeconds s', ({ startSeconds, ms }) => {
    expect(startTimeOf(startSeconds)).toBe(ms);
  });
});

describe('the price of waiting of a configuration', () => {
  it('is the most frequent price of the pools, and the highest if there is a tie', () => {
    const prices = (...persons: readonly number[]) =>
      priceOfWaiting(configOf(persons.map((person) => ({ waiting: { person } }))));
    expect([prices(0.1, 1, 0.1), prices(0.1, 1), prices(0)]).toEqual([0.1, 1, 0]);
  });

  it('changes all prices of all pools by the same factor', () => {
    const config = configOf([{}, {}, { waiting: { person: 1 } }], { waiting: { prebuild: 0.02 } });
    expect(atPriceOfWaiting(config, 0.3).pools.map(({ waiting }) => waiting)).toEqual([
      { person: 0.3, autostart: 0.3, prebuild: 0.06, stop: 0.003 },
      { person: 0.3, autostart: 0.3, prebuild: 0.06, stop: 0.003 },
      { person: 3, autostart: 3, prebuild: 0.6, stop: 0.03 },
    ]);
  });

  it('has the default fractions if waiting had no price', () => {
    const config = configOf([{ waiting: { person: 0 } }]);
    expect(atPriceOfWaiting(config, 1).pools[0]?.waiting).toEqual({
      ...{ person: 1, autostart: 1, prebuild: 0.05, stop: 0.01 },
    });
  });
});
