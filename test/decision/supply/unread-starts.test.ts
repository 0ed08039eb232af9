/** How many tasks a look launches that cannot judge whether the starts of a pool fail. */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { KnownStarts, PoolMemory, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { ago, aJob, MINUTE, NOW, poolName, reading } from '../../support/parts.ts';
import { deliberateOn } from '../../support/stocked.ts';

type List = 'services' | 'tasks' | 'protections' | 'daemons' | 'version';

type Row = {
  readonly unread: readonly List[];
  /** Daemons that run a build, and their tasks. */
  readonly busy?: number;
  readonly known?: Partial<KnownStarts>;
  /** For how many minutes looks have not read everything. @default this is the first look */
  readonly unreadMinutes?: number;
  readonly launches: number;
  readonly because: string;
};

const JOBS = 9;

function without(snapshot: Snapshot, unread: readonly List[]): Snapshot {
  const { coder, ecs } = snapshot;
  const failed = reading<never>([], 'failed');
  return {
    ...snapshot,
    coder: {
      ...coder,
      ...(unread.includes('version') && { buildInfo: undefined }),
      organizations: coder.organizations.map((organization) => ({
        ...organization,
        ...(unread.includes('daemons') && { daemons: failed }),
      })),
    } as Snapshot['coder'],
    ecs: {
      ...ecs,
      ...(unread.includes('tasks') && { tasks: failed }),
      ...(unread.includes('protections') && { protections: failed }),
    },
  };
}

function decided({ unread, busy = 0, known, unreadMinutes }: Row) {
  const memory: PoolMemory = {
    pool: poolName('cpu'),
    ...(known && { known: { ...{ at: ago(10_000), tasks: 0, registered: 0, mayStart: 3 }, ...known } }),
    ...(unreadMinutes !== undefined && { unreadSince: plusMs(NOW, -unreadMinutes * MINUTE) }),
  };
  return deliberateOn({
    pools: { cpu: { config: { max: 30 }, busy: Array<number>(busy).fill(MINUTE) } },
    pending: Array.from({ length: JOBS }, () => aJob({})),
    change: (snapshot) => ({
      ...without(snapshot, unread),
      remembered: { mismatches: {}, refused: [], pools: [memory] },
    }),
  });
}

const DAEMONS = { unread: ['daemons'] } as const;
const TASKS = { unread: ['tasks'] } as const;

describe('a pool with nine pending jobs', () => {
  it.each<Row>([
    { unread: [], launches: JOBS, because: 'everything was read' },
    {
      unread: [],
      known: { mayStart: 0 },
      launches: JOBS,
      because: 'this look knows better than the last one',
    },
    { ...TASKS, launches: 1, because: 'a process that knows nothing tries one' },
    { ...TASKS, unreadMinutes: 1, launches: 3, because: 'and three from its second look on' },
    { ...TASKS, known: {}, launches: 3, because: 'the last look saw starts succeed' },
    { ...DAEMONS, known: {}, launches: 3, because: 'daemons show failed starts too' },
    { unread: ['protections'], known: {}, launches: 3, because: 'so do leases' },
    { unread: ['version'], known: {}, launches: 3, because: 'the version says which daemons a list has' },
    { ...TASKS, known: { mayStart: 0 }, launches: 0, because: 'the last look waited before its next probe' },
    { ...TASKS, known: { mayStart: 1 }, launches: 1, because: 'the last look allowed one probe' },
    { ...TASKS, known: { mayStart: 0 }, unreadMinutes: 10, launches: 1, because: 'ten minutes have passed' },
    { ...TASKS, known: { mayStart: 0 }, unreadMinutes: 29, launches: 2, because: 'each ten minutes add one' },
    {
      ...{ ...TASKS, known: { at: ago(4 * MINUTE), mayStart: 0 }, unreadMinutes: 0.5 },
      ...{ launches: 3, because: 'another process may have looked since that look' },
    },
    { ...TASKS, busy: 4, known: { registered: 0 }, launches: 3, because: 'coderd lists the four daemons' },
    {
      ...DAEMONS,
      busy: 4,
      known: { registered: 4 },
      launches: 3,
      because: 'the last look saw the four daemons',
    },
    {
      ...DAEMONS,
      busy: 4,
      known: { registered: 2 },
      launches: 1,
      because: 'two tasks have shown no daemon yet',
    },
    { ...DAEMONS, busy: 4, known: { registered: 1 }, launches: 0, because: 'three have shown none' },
    { ...DAEMONS, busy: 4, known: { registered: 9 }, launches: 3, because: 'no more tasks run than four' },
    {
      ...{ unread: ['tasks', 'daemons'], busy: 4, known: { registered: 4 } },
      ...{ launches: 3, because: 'the service counts four running tasks' },
    },
  ])('launches $launches tasks without $unread, known $known, for $unreadMinutes min: $because', (row) => {
    const { pools } = decided(row);
    const launches = (pools[0]?.need.tasks.granted ?? 0) - (pools[0]?.need.capacity.total ?? 0);
    expect(launches).toBe(row.launches);
    const reason = { code: 'starts-unread', granted: launches + (pools[0]?.need.capacity.total ?? 0) };
    const why = decided(row).plan.pools[0]?.why ?? [];
    if (launches < JOBS) expect(why).toContainEqual(expect.objectContaining(reason));
    else expect(why.map(({ code }) => code)).not.toContain('starts-unread');
  });

  it('lowers no count and drains no daemon because a list is unread', () => {
    const { plan } = decided({ ...TASKS, busy: 4, known: { mayStart: 0 }, launches: 0, because: '' });
    expect(plan.actions.filter((action) => action.kind !== 'set-desired' || action.to < action.from)).toEqual(
      [],
    );
  });

  it('is bounded by a row that is left out of its own tasks, and not by one of another pool', () => {
    const leftOut = (of: string) => ({ row: 'arn:task', why: 'no status', of });
    const launches = ['cpu', 'gpu'].map((name) => {
      const { pools } = deliberateOn({
        pools: { cpu: { config: { max: 30 } }, gpu: { config: { max: 30, tags: { gpu: 'a10' } } } },
        pending: Array.from({ length: JOBS }, () => aJob({})),
        change: (snapshot) => {
          const service = snapshot.ecs.services.items.find(({ tags }) =>
            tags.some(({ value }) => value === name),
          );
          const tasks = { ...snapshot.ecs.tasks, status: 'truncated' } as const;
          const row = leftOut(`service:${service?.serviceName}`);
          return { ...snapshot, ecs: { ...snapshot.ecs, tasks: { ...tasks, leftOut: [row] } } };
        },
      });
      const { need } = pools.find(({ need: { view } }) => view.pool.name === 'cpu') ?? {};
      return (need?.tasks.granted ?? 0) - (need?.capacity.total ?? 0);
    });
    expect(launches).toEqual([1, JOBS]);
  });
});

describe('what a look leaves to the next one', () => {
  const memoryOf = (row: Omit<Row, 'launches' | 'because'>) =>
    decided({ ...row, launches: 0, because: '' }).memories[0];

  it('is what it knew itself if it read everything', () => {
    expect(memoryOf({ unread: [], busy: 4, unreadMinutes: 5 })).toEqual({
      pool: 'cpu',
      known: { at: NOW, tasks: 4, registered: 4, mayStart: 3 },
    });
  });

  it('is what the last complete look knew, and since when lists are unread', () => {
    const known = { at: ago(10_000), tasks: 4, registered: 4, mayStart: 1 };
    expect(memoryOf({ ...TASKS, busy: 4, known })).toEqual({ pool: 'cpu', known, unreadSince: NOW });
    expect(memoryOf({ ...TASKS, known, unreadMinutes: 5 })).toEqual({
      ...{ pool: 'cpu', known },
      unreadSince: ago(5 * MINUTE),
    });
  });
});
