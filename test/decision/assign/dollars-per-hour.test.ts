/** `limits.dollarsPerHour`: the limit on the cost of all tasks together. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { PoolPlan } from '../../../lambda/decision/model/plan.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { priceOf } from '../../../lambda/decision/settings/prices.ts';
import { ago, aJob, arnOf, aTask, MINUTE, SECOND } from '../../support/parts.ts';
import { runs } from '../../support/runs.ts';
import { comingEvery, deliberateOn, doneBy, PREBUILDS_USER, type Stocked } from '../../support/stocked.ts';
import { uglyStates } from '../../support/ugly/ugly.ts';

const jobs = (count: number, given: object = {}) =>
  Array.from({ length: count }, (_, index) => aJob({ created_at: ago((index + 1) * SECOND), ...given }));
/** A task of the default size costs $0.0395 an hour. */
const tasks = (count: number): NonNullable<Stocked['limits']> => ({
  maxTasks: 100,
  dollarsPerHour: 0.0396 * count,
});

describe('limits.dollarsPerHour', () => {
  it.each([
    { scenario: '10 pending, dollars for 4', limits: tasks(4), expected: ['cpu 0->4'] },
    {
      scenario: '10 pending, dollars for 4, maxTasks 3',
      limits: { ...tasks(4), maxTasks: 3 },
      expected: ['cpu 0->3'],
    },
    { scenario: '10 pending, no dollars', limits: tasks(0), expected: [] },
    { scenario: '10 pending, dollars for 100', limits: tasks(100), expected: ['cpu 0->10'] },
  ])('gives $expected with $scenario', ({ limits, expected }) => {
    expect(doneBy({ pools: { cpu: {} }, pending: jobs(10), limits })).toEqual(expected);
  });

  it('counts the cost of existing tasks', () => {
    const pools = { cpu: { busy: [MINUTE, MINUTE, MINUTE] } };
    expect(doneBy({ pools, pending: jobs(10), limits: tasks(4) })).toEqual(['cpu 3->4']);
    expect(doneBy({ pools, pending: jobs(10), limits: tasks(2) })).toEqual([]);
  });

  it('fills a floor only up to the limit', () => {
    expect(doneBy({ pools: { cpu: { config: { min: 5 } } }, limits: tasks(2) })).toEqual(['cpu 0->2']);
  });

  it('leaves for jobs what floors do not cost', () => {
    const pools = {
      cpu: { config: { min: 2 } },
      gpu: { config: { tags: { cluster: 'gpu' } } },
    };
    const pending = jobs(5, { tags: { cluster: 'gpu' } });
    expect(doneBy({ pools, pending, limits: tasks(3) })).toEqual(['cpu 0->2', 'gpu 0->1']);
  });

  it('launches stock only up to the limit', () => {
    const recent = comingEvery({ everyMinutes: 1, forHours: 48 });
    expect(doneBy({ pools: { cpu: {} }, recent, rule: { free: 5 }, limits: tasks(2) })).toEqual(['cpu 0->2']);
  });

  it('launches for people before prebuilds, even if the prebuilds have waited longer', () => {
    const pending = [...jobs(6, { initiator_id: PREBUILDS_USER, created_at: ago(20 * MINUTE) }), ...jobs(4)];
    const { plan } = deliberateOn({ pools: { cpu: {} }, pending, limits: tasks(5) });
    const launched = (audience: string): number =>
      plan.assignment
        .filter((row) => row.for === audience && row.served === 'by-launch')
        .reduce((sum, row) => sum + row.jobs, 0);
    expect([launched('people'), launched('prebuilds')]).toEqual([4, 1]);
  });

  it.each([
    { dollars: 2, expected: ['cpu 0->1'] },
    { dollars: 0, expected: [] },
  ])(
    'counts a probe of a pool with failing starts against dollars for $dollars tasks',
    ({ dollars, expected }) => {
      const failed = Array.from({ length: 3 }, (_, index) =>
        aTask({
          taskArn: arnOf(900 + index),
          lastStatus: 'STOPPED',
          desiredStatus: 'STOPPED',
          createdAt: ago(5 * MINUTE),
          startedAt: undefined,
          stoppedAt: ago(4 * MINUTE),
          stopCode: 'TaskFailedToStart',
        }),
      );
      const change: Stocked['change'] = (snapshot) => ({
        ...snapshot,
        ecs: { ...snapshot.ecs, tasks: { ...snapshot.ecs.tasks, items: failed } },
      });
      expect(doneBy({ pools: { cpu: {} }, pending: jobs(4), limits: tasks(dollars), change })).toEqual(
        expected,
      );
    },
  );

  it('launches in the cheaper pool if both pools can run a job', () => {
    const gpu = { cluster: 'gpu' };
    const pools = {
      dear: { config: { tags: gpu, cpu: 4096, memory: 8192 } },
      cheap: { config: { tags: { ...gpu, region: 'eu' } } },
    };
    expect(doneBy({ pools, pending: jobs(4, { tags: gpu }), limits: tasks(4) })).toEqual(['cheap 0->4']);
  });
});

describe('a pool that the rest of the budget cannot pay', () => {
  const gpu = { cluster: 'gpu' };
  const dear = { config: { tags: gpu, cpu: 4096, memory: 8192 } };
  const limits = tasks(6);
  const oldest = (count: number) => jobs(count, { tags: gpu, created_at: ago(2 * MINUTE) });

  it('lets a cheaper pool launch for a younger job', () => {
    const pending = [...oldest(2), ...jobs(5)];
    expect(doneBy({ pools: { cpu: {}, dear }, pending, limits })).toEqual(['cpu 0->2', 'dear 0->1']);
    expect(doneBy({ pools: { cpu: {}, dear }, pending, limits: tasks(3) })).toEqual(['cpu 0->3']);
  });

  it('gives free budget to the job of a person before prebuilds', () => {
    const pending = [...oldest(2), ...jobs(5, { initiator_id: PREBUILDS_USER })];
    expect(doneBy({ pools: { cpu: {}, dear }, pending, limits })).toEqual(['dear 0->1']);
  });

  it('lets other pools launch for prebuilds while no person waits', () => {
    const given = { initiator_id: PREBUILDS_USER };
    const pending = [
      ...jobs(2, { ...given, tags: gpu, created_at: ago(20 * MINUTE) }),
      ...jobs(2, { ...given, created_at: ago(15 * MINUTE) }),
    ];
    expect(doneBy({ pools: { cpu: {}, dear }, pending, limits: tasks(3) })).toEqual(['cpu 0->2']);
  });
});

it('reports the wanted and granted tasks and the minutes that people wait an hour', () => {
  const { plan } = deliberateOn({ pools: { cpu: {} }, pending: jobs(10), limits: tasks(4) });
  expect(plan.pools[0]?.why).toContainEqual({
    code: 'capped-at-dollars-per-hour',
    wanted: 10,
    granted: 4,
    dollarsPerHour: 0.0396 * 4,
    waitMinutesPerHour: 360,
  });
});

it('caps nothing without the limit', () => {
  const { plan } = deliberateOn({ pools: { cpu: {} }, pending: jobs(10) });
  expect(plan.pools[0]?.why.map(({ code }) => code)).not.toContain('capped-at-dollars-per-hour');
});

const thereIn = ({ ecs }: Snapshot, pool: string): number =>
  ecs.tasks.items.filter(
    ({ group, desiredStatus, lastStatus }) =>
      group === `service:s-${pool}` && desiredStatus === 'RUNNING' && lastStatus !== 'STOPPED',
  ).length;

it('never launches above the limit in random states', () => {
  fc.assert(
    fc.property(
      uglyStates({ view: 'full' }),
      fc.constantFrom(0, 0.01, 0.05, 0.2, 1),
      ({ snapshot, config }, dollarsPerHour) => {
        const limits = { ...config.limits, dollarsPerHour };
        const plan = decide(snapshot, { ...config, limits, roll: { atOncePercent: 1 } });
        const dollarsOf = (tasksIn: (pool: PoolPlan) => number): number =>
          config.pools.reduce((sum, pool) => {
            const own = plan.pools.find(({ name }) => name === pool.name);
            return sum + (own === undefined ? 0 : (tasksIn(own) * priceOf(pool)) / 1e6);
          }, 0);
        const before = dollarsOf(({ name, desired }) => Math.max(desired.from ?? 0, thereIn(snapshot, name)));
        const after = dollarsOf(({ desired }) => desired.to ?? 0);
        // each pool may have one more task, which replaces another one
        const replacing = dollarsOf(({ why }) => (why.some((reason) => 'asked' in reason) ? 1 : 0));
        expect(after).toBeLessThanOrEqual(Math.max(dollarsPerHour, before) + replacing + 1e-6);
      },
    ),
    runs(1000),
  );
});
