/** Which pools share a stock, and how a rule becomes a number of free daemons. */
import { describe, expect, it } from 'vitest';
import { deliberate } from '../../../lambda/decision/decide.ts';
import type { StockChoice } from '../../../lambda/decision/model/snapshot.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import type { StockSet } from '../../../lambda/decision/stock/stock-groups.ts';
import { ago, aJob, HOUR, MINUTE, poolName } from '../../support/parts.ts';
import {
  aChoice,
  buildAt,
  comingEvery,
  deliberateOn,
  type Stocked,
  type StockedPool,
  stocked,
  stockIn,
  stockOfOne,
} from '../../support/stocked.ts';

const gpu = { cluster: 'gpu' };
const recent = comingEvery({ everyMinutes: 3, forHours: 2 });
const setsOf = (world: Stocked): readonly StockSet[] => deliberateOn(world).stockSets;
const namesOf = (world: Stocked): readonly string[] => setsOf(world).map(({ pools }) => pools.join(' '));

describe('the sets of pools that keep stock', () => {
  it('are those that can run the same builds', () => {
    const pools = { b: {}, a: {}, gpu: { config: { tags: gpu } } };
    expect(namesOf({ recent, pools })).toEqual(['a b']);
    const both = [...recent, buildAt(ago(HOUR), 60, { tags: gpu })];
    expect(namesOf({ recent: both, pools }).toSorted()).toEqual(['a b', 'gpu']);
  });

  it('are none without a build, or for builds that no pool can run', () => {
    expect(namesOf({ pools: { cpu: {} } })).toEqual([]);
    expect(namesOf({ recent: [buildAt(ago(HOUR), 60, { tags: gpu })], pools: { cpu: {} } })).toEqual([]);
  });

  it.each([
    { config: { warm: 0 }, because: 'warm is a number' },
    { config: { retiring: true }, because: 'it is retiring' },
    { config: { max: 0 }, because: 'it may have no tasks' },
  ])('leave out a pool because $because', ({ config }) => {
    expect(namesOf({ recent, pools: { a: {}, b: { config } } })).toEqual(['a']);
  });

  it('are one set if the same pools are left, so no stock is kept twice', () => {
    const both = [...recent, buildAt(ago(HOUR), 60, { tags: gpu })];
    const pools = { a: { config: { tags: gpu } }, old: { config: { retiring: true } } };
    const other = { a: { config: { tags: gpu } }, b: { config: { tags: gpu, retiring: true } } };
    expect(namesOf({ recent: both, pools })).toEqual(['a']);
    expect(setsOf({ recent: both.filter(({ tags }) => tags === gpu), pools: other })).toMatchObject([
      { pools: ['a'], tagSets: [gpu] },
    ]);
  });

  it('are none if a pool that can run the builds has a number above 0 as warm', () => {
    expect(namesOf({ recent, pools: { a: {}, b: { config: { warm: 2 } } } })).toEqual([]);
  });

  it('are those of one of two stacks that are peers', () => {
    const of = (self: string, other: string): readonly string[] =>
      namesOf({ recent, pools: { a: { config: { peers: { self, others: [other] } } } } });
    expect([...of('eu', 'us'), ...of('us', 'eu')]).toEqual(['a']);
  });

  it('count the builds that only the learner remembers', () => {
    const { snapshot, config } = stocked({ pools: { cpu: {} } });
    const [{ id: organizationId } = { id: undefined }] = snapshot.coder.organizations;
    if (organizationId === undefined) throw new Error('there is no organization');
    const stock = { tagSets: [{ organizationId, tags: normalizeTags({}) }], choices: [] };
    expect(deliberate({ ...snapshot, stock }, config).stockSets).toMatchObject([{ pools: ['cpu'] }]);
  });

  it('are priced by the cheapest pool, the dearest waiting and all tasks together', () => {
    const waiting = { person: 1, autostart: 1, prebuild: 1, stop: 1 };
    const pools = { a: { config: { max: 3, startTimeMs: 80_000 } }, b: { config: { max: 4, waiting } } };
    const [set] = setsOf({ recent, pools });
    expect(set?.isStartSeen).toBe(false);
    expect(set?.replayed).toMatchObject({ most: 7, waitPrice: 1 / 60_000, launchPrice: 0.002 });
  });
});

describe('the free daemons of a rule', () => {
  it.each<{
    rule: Partial<StockChoice['rule']>;
    pool?: StockedPool;
    pending?: number;
    expected: number;
    because: string;
  }>([
    { rule: { free: 3 }, expected: 3, because: 'all are launched' },
    { rule: { free: 3 }, pool: { config: { max: 2 } }, expected: 2, because: 'max is the limit' },
    { rule: { free: 3, afterBuildMs: HOUR }, expected: 3, because: 'the last build was a minute ago' },
    { rule: { free: 3, afterBuildMs: 59_000 }, expected: 0, because: 'the last build was a minute ago' },
    { rule: { free: 0 }, expected: 0, because: 'the rule launches none' },
    {
      ...{ rule: { free: 3, countsBusy: true }, pool: { busy: [30_000, 20 * MINUTE] } },
      ...{ expected: 1, because: 'two of the three are busy' },
    },
    {
      ...{ rule: { free: 3, countsBusy: true }, pending: 2 },
      ...{ expected: 1, because: 'two builds wait for daemons' },
    },
    {
      ...{ rule: { free: 3, countsBusy: false }, pool: { busy: [30_000] } },
      ...{ expected: 3, because: 'the rule does not count busy daemons' },
    },
    {
      ...{ rule: { free: 1, spareMs: 10 * MINUTE }, pool: { idle: [MINUTE, 9 * MINUTE, 10 * MINUTE] } },
      ...{ expected: 2, because: 'two are spare for less than ten minutes' },
    },
    {
      ...{ rule: { free: 3, spareMs: 0 }, pool: { idle: [HOUR] } },
      ...{ expected: 3, because: 'two more are launched' },
    },
  ])('are $expected by $rule, because $because', ({ rule, pool = {}, pending = 0, expected }) => {
    const jobs = Array.from({ length: pending }, () => aJob({ created_at: ago(MINUTE) }));
    expect(stockOfOne({ recent, rule, pool, pending: jobs })).toBe(expected);
  });

  it.each<{
    stays: number;
    leftMs?: number;
    pool?: StockedPool;
    free?: number;
    expected: number;
    because: string;
  }>([
    { stays: 3, expected: 3, because: 'there is none, and the rule would have three' },
    { stays: 3, pool: { idle: [HOUR] }, expected: 3, because: 'one is idle' },
    { stays: 3, pool: { busy: [30_000] }, expected: 2, because: 'one is busy' },
    { stays: 3, pool: { config: { max: 2 } }, expected: 2, because: 'max is the limit' },
    {
      stays: 3,
      free: 1,
      pool: { busy: [30_000] },
      expected: 2,
      because: 'the own number of the rule is less',
    },
    {
      stays: 1,
      free: 2,
      pool: { busy: [30_000] },
      expected: 2,
      because: 'the own number of the rule is more',
    },
    { stays: 3, leftMs: 0, expected: 0, because: 'in the replay one has left by now' },
  ])('are $expected if the rule would have $stays, because $because', (row) => {
    const { stays: daemons, leftMs = MINUTE, pool = {}, free = 0, expected } = row;
    const stays = { daemons, until: ago(-leftMs) };
    expect(stockOfOne({ recent, rule: { free, spareMs: HOUR }, stays, pool })).toBe(expected);
  });

  it.each([
    { stays: 3, wouldHave: 3 },
    { stays: 1, wouldHave: null },
  ])(
    'name the $stays that the rule would have only if they are more than its own number',
    ({ stays: daemons, wouldHave }) => {
      const stays = { daemons, until: ago(-MINUTE) };
      const { plan } = deliberateOn({ recent, rule: { free: 1 }, stays, pools: { cpu: { idle: [MINUTE] } } });
      expect(plan.pools[0]?.why).toContainEqual(expect.objectContaining({ code: 'stock', wouldHave }));
    },
  );

  it.each([
    { rule: { free: 1 }, expected: 1, because: 'one of the two stays for the rule' },
    { rule: { free: 3 }, expected: 0, because: 'the rule keeps more than the two' },
    { rule: { free: 1, afterBuildMs: 59_000 }, expected: 2, because: 'the rule keeps none any more' },
  ])('name $expected spare ones, because $because', ({ rule, expected }) => {
    const { plan } = deliberateOn({
      ...{ recent, rule: { spareMs: 10 * MINUTE, ...rule } },
      pools: { cpu: { idle: [MINUTE, 9 * MINUTE, 10 * MINUTE] } },
    });
    expect(plan.pools[0]?.why).toContainEqual(expect.objectContaining({ code: 'stock', spare: expected }));
  });

  it('are kept once for all pools that can run the builds', () => {
    const pools = { a: { idle: [HOUR] }, b: {} };
    const stock = stockIn({ recent, rule: { free: 3 }, pools });
    expect((stock.a ?? 0) + (stock.b ?? 0)).toBe(3);
  });

  it('ignore the choice of other pools', () => {
    const { snapshot, config } = stocked({ recent, pools: { cpu: {} } });
    const [set] = deliberate(snapshot, config).stockSets;
    if (set === undefined) throw new Error('there is no set');
    const choices = [aChoice({ ...set, pools: [poolName('cpu'), poolName('old')] }, { free: 3 })];
    const plan = deliberate({ ...snapshot, stock: { tagSets: [], choices } }, config);
    expect(plan.plan.actions).toEqual([]);
  });

  it('get the room under a limit where the last ones save most', () => {
    const both = [...recent, buildAt(ago(HOUR), 60, { tags: gpu })];
    const pools = { cpu: {}, gpu: { config: { tags: gpu } } };
    const { snapshot, config } = stocked({
      recent: both,
      rule: { free: 2 },
      limits: { maxTasks: 2 },
      pools,
    });
    const dear = (name: string) => {
      const choices = (snapshot.stock?.choices ?? []).map((choice) => ({
        ...choice,
        others: [{ free: 1, dollars: choice.pools[0] === name ? 9 : 1 }],
      }));
      const { plan } = deliberate({ ...snapshot, stock: { tagSets: [], choices } }, config);
      return plan.actions.map(({ pool }) => pool);
    };
    expect([dear('cpu'), dear('gpu')]).toEqual([['cpu'], ['gpu']]);
  });

  it('are a reason for each stock to which the pool contributes', () => {
    const both = [...recent, buildAt(ago(HOUR), 60, { tags: gpu })];
    const pools = { cpu: { idle: [HOUR] }, gpu: { config: { tags: gpu }, idle: [HOUR, HOUR] } };
    const shared = { ...pools, gpu: { ...pools.gpu, config: { tags: {}, max: 9 } } };
    const reasonsOf = (world: Stocked) =>
      deliberateOn(world).plan.pools.map(({ why }) => why.filter(({ code }) => code === 'stock').length);
    expect(reasonsOf({ recent: both, rule: { free: 1 }, pools })).toEqual([1, 1]);
    expect(reasonsOf({ recent, rule: { free: 3 }, pools: shared })).toEqual([1, 1]);
  });
});
