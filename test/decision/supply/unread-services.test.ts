/** How a pool counts against the limits over all pools while its service cannot be read. */
import { expect, it } from 'vitest';
import { POOL_TAG, tagOf } from '../../../lambda/decision/model/service-tags.ts';
import type { PoolMemory, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { ago, aJob, arnOf, aTask, MINUTE, poolName } from '../../support/parts.ts';
import { deliberateOn } from '../../support/stocked.ts';

type Row = {
  readonly scenario: string;
  /** The busy tasks of pool `a`, whose service is left out. */
  readonly busy?: number;
  readonly memory?: Omit<PoolMemory, 'pool'>;
  readonly starting?: boolean;
  readonly max?: number;
  readonly launches: number;
};

const known = (tasks: number) => ({ at: ago(MINUTE), tasks, registered: tasks, mayStart: 3 });

/** Pool `b` has a desired task that ECS has not created yet. */
function withStart({ ecs, ...snapshot }: Snapshot): Snapshot {
  const items = ecs.services.items.map((it) => ({ ...it, desiredCount: it.desiredCount + 1 }));
  return { ...snapshot, ecs: { ...ecs, services: { ...ecs.services, items } } };
}

function hidden(snapshot: Snapshot, remembered: Omit<PoolMemory, 'pool'>): Snapshot {
  const { services } = snapshot.ecs;
  const isOfA = ({ tags }: { readonly tags: readonly { readonly value: string }[] }) =>
    tags.some(({ value }) => value === 'a');
  const leftOut = services.items
    .filter(isOfA)
    .map(({ serviceArn: row }) => ({ row, why: 'no count', of: 'a' }));
  return {
    ...snapshot,
    ecs: {
      ...snapshot.ecs,
      services: {
        ...services,
        status: 'truncated',
        items: services.items.filter((it) => !isOfA(it)),
        leftOut,
      },
    },
    remembered: { mismatches: {}, refused: [], pools: [{ pool: poolName('a'), ...remembered }] },
  };
}

it.each<Row>([
  { scenario: 'ECS lists its 8 tasks', busy: 8, launches: 2 },
  { scenario: 'more tasks were known than ECS lists', busy: 4, memory: { known: known(8) }, launches: 2 },
  { scenario: 'fewer tasks were known than ECS lists', busy: 8, memory: { known: known(2) }, launches: 2 },
  { scenario: 'only its last count is known', memory: { known: known(7) }, launches: 3 },
  { scenario: 'nothing is known, so it counts with its max', max: 9, launches: 1 },
  {
    scenario: 'nothing is known for nine minutes',
    max: 20,
    memory: { unreadSince: ago(9 * MINUTE) },
    launches: 0,
  },
  {
    scenario: 'nothing is known for ten minutes',
    max: 20,
    memory: { unreadSince: ago(10 * MINUTE) },
    launches: 1,
  },
  {
    ...{ scenario: 'the one task that launched then still starts', max: 20, starting: true },
    ...{ memory: { unreadSince: ago(10 * MINUTE) }, launches: 0 },
  },
])('beside a hidden pool, eight jobs launch $launches of at most 10 tasks: $scenario', (row) => {
  const { busy = 0, memory = {}, max = 20, starting = false, launches } = row;
  const { pools } = deliberateOn({
    pools: {
      a: { config: { max, tags: { pool: 'a' } }, busy: Array<number>(busy).fill(MINUTE) },
      b: { config: { max: 20 } },
    },
    pending: Array.from({ length: 8 }, () => aJob({})),
    limits: { maxTasks: 10 },
    change: (snapshot) => hidden(starting ? withStart(snapshot) : snapshot, memory),
  });
  const b = pools.find(({ need }) => need.view.pool.name === 'b');
  expect((b?.need.tasks.granted ?? 0) - (b?.need.capacity.total ?? 0)).toBe(launches);
});

it.each([
  { scenario: 'tasks that start', of: 'a', launches: 2 },
  { scenario: 'tasks that stop', of: 'a', task: { desiredStatus: 'STOPPED' }, launches: 8 },
  { scenario: 'tasks that have stopped', of: 'a', task: { lastStatus: 'STOPPED' }, launches: 8 },
  { scenario: 'tasks of another pool', of: 'ab', launches: 8 },
  { scenario: 'tasks on Spot of a pool on Spot', of: 'a', spot: true, isSpot: true, launches: 2 },
  { scenario: 'tasks on Spot of a pool on demand', of: 'a', isSpot: true, launches: 8 },
])('beside a pool that no list has, eight jobs launch $launches of at most 10 tasks: $scenario', (row) => {
  const { of, task = {}, spot = false, isSpot = false, launches } = row;
  const unlisted = Array.from({ length: 8 }, (_, index) =>
    aTask({
      ...{ taskArn: arnOf(900 + index), group: 'service:unlisted', lastStatus: 'PENDING' },
      tags: [{ key: POOL_TAG, value: of }],
      ...(isSpot && { capacityProviderName: 'FARGATE_SPOT' }),
      ...task,
    }),
  );
  const { pools } = deliberateOn({
    pools: { a: { config: { tags: { pool: 'a' }, spot } }, b: { config: { max: 20 } } },
    pending: Array.from({ length: 8 }, () => aJob({})),
    limits: { maxTasks: 10 },
    change: ({ ecs, ...snapshot }) => ({
      ...snapshot,
      ecs: {
        ...ecs,
        services: { ...ecs.services, items: ecs.services.items.filter((it) => tagOf(it, POOL_TAG) !== 'a') },
        tasks: { ...ecs.tasks, items: [...ecs.tasks.items, ...unlisted] },
      },
    }),
  });
  const b = pools.find(({ need }) => need.view.pool.name === 'b');
  expect((b?.need.tasks.granted ?? 0) - (b?.need.capacity.total ?? 0)).toBe(launches);
});
