/** One look of the product over two pools: what it can see of them, and the calls that it makes. */

import type { Decide, Write } from '../deciders/decider.ts';
import type { CoderReadings, DaemonView, EcsTaskView, SeenPool } from '../deciders/view.ts';
import { arnOf, builtOften, configWith, NO_DAEMON, snapshotOfPools } from '../deciders/view.ts';
import { type Place, type SmallPool, type TwoPools, withPlace } from './two-pools-state.ts';

/** The second one's daemons can run the first one's jobs too. */
export const POOLS: readonly SeenPool[] = [
  { name: 'cpu', tags: { pool: 'cpu' } },
  { name: 'gpu', tags: { pool: 'cpu', gpu: 'yes' } },
];
export const NAMES = POOLS.map(({ name }) => name);

export type TwoPoolsLimits = {
  readonly maxTasks: number;
  /** Of each pool. */
  readonly min: readonly [number, number];
  /** Of each pool. */
  readonly max: number;
  /** Whether builds for the first pool come so often that a daemon is kept free for them. */
  readonly hasStock: boolean;
};

/** One call to ECS, for one pool. */
export type Call = Write & { readonly pool: number };

/** Decides about a state: raises, asks, lower counts, in this order (lambda/look/apply.ts). */
export function lookOf(limits: TwoPoolsLimits, decide: Decide): (pools: TwoPools) => readonly Call[] {
  const { maxTasks, min, max, hasStock } = limits;
  const config = configWith(
    POOLS.map((pool, at) => ({ ...pool, min: min[at] ?? 0, max })),
    { maxTasks },
  );
  const recentJobs = hasStock && POOLS[0] ? builtOften(POOLS[0]) : undefined;
  return (pools) => {
    const looks = pools.map((pool, at) => lookAt(pool, at));
    const actions = decide(snapshotOfPools(looks, recentJobs), config);
    const calls = pools.flatMap((_, pool): readonly Call[] => {
      const own = actions.filter((action) => action.pool === NAMES[pool]);
      const arns = looks[pool]?.names.map(arnOf) ?? [];
      const slots = own.flatMap((action) =>
        action.kind === 'ask-to-leave' ? [arns.indexOf(action.task)] : [],
      );
      const sets = own.flatMap((action) =>
        action.kind === 'set-desired' ? [{ pool, kind: 'set' as const, desired: action.to }] : [],
      );
      return slots.length === 0 ? sets : [{ pool, kind: 'ask', slots }, ...sets];
    });
    const rank = (call: Call): number => {
      if (call.kind === 'ask') return 1;
      return call.desired > (pools[call.pool]?.desired ?? 0) ? 0 : 2;
    };
    return calls.toSorted((a, b) => rank(a) - rank(b));
  };
}

/** ECS carries out a call. */
export function carriedOut(pools: TwoPools, call: Call): TwoPools {
  return pools.map((pool, at) => {
    if (at !== call.pool) return pool;
    if (call.kind === 'set') return { ...pool, desired: call.desired };
    return call.slots.reduce((now, slot) => withPlace(now, slot, ASKED[pool.places[slot] ?? 'none']), pool);
  });
}

const ASKED: Readonly<Record<Place, Place>> = {
  none: 'none',
  pending: 'pending',
  booting: 'booting',
  idle: 'asked',
  busy: 'finishing',
  asked: 'asked',
  finishing: 'finishing',
  left: 'left',
};

/** Names of the tasks of a pool begin with this times its number. */
const NAMES_APART = 16;

/** Running jobs are shown as the pool's own. Of tasks that are alike any may be asked: they are the same. */
function lookAt({ places, desired, pending, isUnplaced }: SmallPool, at: number) {
  const coder: CoderReadings = { daemons: places.map((place) => DAEMONS[place]), pending };
  return {
    pool: POOLS[at] ?? { name: '', tags: {} },
    ecs: { tasks: places.map((place) => TASKS[place]), desired, isDeploying: false, isUnplaced },
    coder,
    names: places.map((_, slot) => at * NAMES_APART + slot),
  };
}

const task = (protection: EcsTaskView['protection'], isRunning = true, isYoung = false): EcsTaskView => ({
  revision: 'new',
  isRunning,
  protection,
  isYoung,
});

const TASKS: Readonly<Record<Place, EcsTaskView | undefined>> = {
  none: undefined,
  pending: task('none', false),
  booting: task('none', true, true),
  idle: task('lease'),
  busy: task('lease'),
  asked: task('ask'),
  finishing: task('ask'),
  left: task('none'),
};

const daemon = (hasJob: boolean): DaemonView => ({ row: 'live', hasJob });

const DAEMONS: Readonly<Record<Place, DaemonView>> = {
  none: NO_DAEMON,
  pending: NO_DAEMON,
  booting: NO_DAEMON,
  idle: daemon(false),
  busy: daemon(true),
  asked: daemon(false),
  finishing: daemon(true),
  left: { row: 'offline', hasJob: false },
};
