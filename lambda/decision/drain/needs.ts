/** The needs: how many tasks each pool needs before and after the limits. */

import { type Assigned, type Assignment, countLaunches, paidFor } from '../assign/assignment.ts';
import type { LaunchLimits, PoolLaunchLimits } from '../assign/launch-limits.ts';
import { type DueGroup, type Group, isPending, isUrgent, type StockGroup } from '../demand/demand.ts';
import type { Left } from '../demand/peers.ts';
import { floorOf } from '../forecast/floors.ts';
import { type EpochMs, type PoolName, poolOfPart } from '../model/brands.ts';
import { groupsBy, sum } from '../model/collections.ts';
import type { Floor, Served } from '../model/plan.ts';
import { priceOf } from '../settings/prices.ts';
import { type Capacity, mostTasks } from '../supply/capacity.ts';
import type { UnreadPool } from '../supply/hidden/unread-services.ts';
import type { PoolView } from '../supply/supply.ts';
import { chooseIdle, type IdleDaemons, type Rest } from './idle-daemons.ts';

export type PoolNeed = Pick<
  PoolLaunchLimits,
  'view' | 'capacity' | 'poolForecast' | 'room' | 'unreadRoom' | 'forMin' | 'isProbe'
> & {
  /** Jobs assigned to this pool, by what will run them. */
  readonly jobs: Readonly<Record<Exclude<Served, 'by-doubtful'>, number>>;
  /** The peers that some of these jobs are left to. */
  readonly leftTo: readonly Left[];
  /** Tasks that hold a job now, or will once the assigned jobs run. */
  readonly inUse: number;
  readonly floor: Floor;
  readonly ready: ReadyDaemons;
  readonly tasks: NeededTasks;
  readonly held: HeldLaunches;
  readonly idle: IdleDaemons;
};

/** Which daemons are ready without a job. They exist, or will. */
type ReadyDaemons = {
  /** Jobs that coderd is about to insert. */
  readonly due: number;
  /** Daemons for these jobs. */
  readonly prewarmed: number;
  /** Daemons for unforeseen builds, by stock to which the pool contributes. Some of them are spare. */
  readonly stocks: readonly (Pick<StockGroup, 'choice' | 'wouldHave'> & {
    readonly daemons: number;
    readonly spare: number;
  })[];
  readonly stock: number;
  /** `prewarmed`, `stock`, `warm`, and daemons that are kept for transitions that are due later. */
  readonly all: number;
};

/** How many tasks the pool needs. */
type NeededTasks = {
  /** Before all limits except that of prebuilds. */
  readonly wanted: number;
  /** The same, up to the pool's `max`, beside tasks that have just left. */
  readonly wantedBelowMax: number;
  /** After all limits. */
  readonly granted: number;
};

/** What the limits hold back. */
type HeldLaunches = {
  /** The limit over all pools that leaves no room for more tasks of this pool. */
  readonly by: 'maxTasks' | 'dollarsPerHour' | undefined;
  /** The pools that count against this limit although their services could not be read. */
  readonly unread: readonly UnreadPool[];
  /** Jobs that people wait for while a limit leaves no room for them. */
  readonly people: number;
  /** Prebuilds that wait because only 4/5 of `max` are for them. */
  readonly prebuilds: number;
  /** Launches for stock to which the pool could contribute. */
  readonly stock: number;
  /** What the limits over all pools leave of further launches and of the money. */
  readonly rest: Rest;
};

/** The demand for daemons without jobs. */
export type ReadyDemand = {
  readonly due: readonly DueGroup[];
  readonly stock: readonly StockGroup[];
  /** The pools whose stock this process has not learned yet. */
  readonly unlearned: ReadonlySet<PoolName>;
};

/** Derives the needs of all pools, in their order. */
export function deriveNeeds(
  launchLimits: LaunchLimits,
  { assigned }: Assignment,
  { due, stock, unlearned }: ReadyDemand,
  now: EpochMs,
): readonly PoolNeed[] {
  const byPool = Map.groupBy(assigned, ({ offer }) => offer.pool);
  const unplaced = unplacedDue(due, assigned);
  const owns = launchLimits.pools.map((limits) => {
    const { name } = limits.view.pool;
    return deriveOwnNeed(limits, byPool.get(name) ?? [], unplaced.get(name) ?? 0);
  });
  const rest = {
    launches: launchLimits.total - countLaunches(assigned).granted,
    budget: launchLimits.budget - paidFor(assigned),
  };
  const { pools, ...left } = withProbes(owns, rest);
  // while the budget holds back a job that people wait for, it launches for nothing else
  const isForPeople = pools.some(({ view, held }) => held.people > 0 && left.budget < priceOf(view.pool));
  const isRoomUsedUp = left.launches <= 0 ? 'maxTasks' : undefined;
  const heldStock = stock.map((group) => ({ group, held: heldOf(group, assigned) }));
  const idle = chooseIdle(launchLimits, assigned, { rest, unlearned }, now);
  return pools.map((own): PoolNeed => {
    const { pool } = own.view;
    const ofPool = heldStock.filter(({ group }) => group.pools.has(poolOfPart(pool.name)));
    return {
      ...own,
      held: {
        ...own.held,
        unread: launchLimits.unread,
        by: isForPeople || left.budget < priceOf(pool) ? 'dollarsPerHour' : isRoomUsedUp,
        stock: sum(ofPool, ({ held }) => held),
        rest: left,
      },
      idle: idle.get(pool.name) ?? { givenUp: 0, heldForRecord: 0 },
    };
  });
}

/** Grants a task to each pool that wants a probe and has room. The parts of a pool share its room. */
function withProbes(owns: readonly OwnNeed[], { launches, budget }: Rest) {
  const launched = new Map<PoolName, number>();
  const count = ({ view }: OwnNeed, tasks: number): number => {
    const whole = poolOfPart(view.pool.name);
    launched.set(whole, (launched.get(whole) ?? 0) + tasks);
    return launched.get(whole) ?? 0;
  };
  for (const own of owns) count(own, own.tasks.granted - own.capacity.total);
  const left = { launches, budget };
  const pools: OwnNeed[] = [];
  for (const own of owns) {
    const price = priceOf(own.view.pool);
    const isOpen = left.launches > 0 && price <= left.budget && own.room > count(own, 0);
    const probe = isOpen && wantsProbe(own) ? 1 : 0;
    left.launches -= probe;
    left.budget -= probe * price;
    count(own, probe);
    pools.push({ ...own, tasks: { ...own.tasks, granted: own.tasks.granted + probe } });
  }
  return { pools, ...left };
}

/** The jobs that need a new task, now or when there is room. */
export function launchesFor({ jobs }: Pick<PoolNeed, 'jobs'>): number {
  return jobs['by-launch'] + jobs['when-there-is-room'];
}

/** How many launches for the stock got no room. */
function heldOf(group: StockGroup, assigned: readonly Assigned[]): number {
  if (group.isSpare) return 0;
  return group.jobs - sum(assigned, (row) => (row.group === group ? row.jobs : 0));
}

/** A pool that cannot start or place its tasks tries one task at a time. */
function wantsProbe({ view, capacity, tasks }: OwnNeed): boolean {
  if (!capacity.isHeldBack || view.failing.isPaused) return false;
  const isTrying = view.tasks.some(
    ({ state, use, isLate }) =>
      !isLate && state !== 'left' && (state === 'starting' || use === 'registering'),
  );
  const isWanted = tasks.wantedBelowMax > capacity.total || mayTakeOver(view, capacity);
  return !isTrying && isWanted;
}

/** Whether a task here would take the next job of another part of the pool. */
function mayTakeOver({ share, pool }: PoolView, { total }: Capacity): boolean {
  if (share === undefined || share.isLaunching || pool.retiring) return false;
  return share.isNeededElsewhere && total < pool.max;
}

/** Jobs that get no daemon in advance, by the first pool that serves or could serve some. */
function unplacedDue(
  groups: readonly DueGroup[],
  assigned: readonly Assigned[],
): ReadonlyMap<PoolName, number> {
  const byGroup = Map.groupBy(assigned, ({ group }) => group);
  const unplaced = new Map<PoolName, number>();
  for (const group of groups) {
    const rows = byGroup.get(group) ?? [];
    const names = [...rows.flatMap(({ offer }) => offer.pool ?? []), ...group.pools];
    const [name] = names;
    const rest = group.jobs - sum(rows, ({ jobs }) => jobs);
    if (name !== undefined) unplaced.set(name, (unplaced.get(name) ?? 0) + rest);
  }
  return unplaced;
}

type OwnNeed = ReturnType<typeof deriveOwnNeed>;

/** What a pool needs by itself, before probes and before the needs of other pools. */
function deriveOwnNeed(limits: PoolLaunchLimits, assigned: readonly Assigned[], unplaced: number) {
  const { view, capacity, poolForecast, room, unreadRoom } = limits;
  const { belowFloor, forMin, isProbe, beyond, forPrebuilds } = limits;
  const jobs = countJobs(assigned.filter(({ group }) => isPending(group)));
  const inUse =
    capacity.inUse + sum(Object.values(jobs), (count) => count) - jobs['by-busy'] - jobs['by-peer'];
  const ready = readyOf(assigned, unplaced);
  const floor = floorOf(poolForecast.floors, { inUse, due: ready.prewarmed, stock: ready.stock });
  const launches = countLaunches(assigned);
  // beyond `max` no daemon is wanted before the jobs exist
  const short = Math.min(unplaced, Math.max(0, view.pool.max - ready.prewarmed));
  const launchesHeld = (isHeld: (group: Group) => boolean) =>
    countLaunches(assigned.filter(({ group }) => isHeld(group)));
  const forPrebuild = launchesHeld((group) => group.for === 'prebuilds');
  const isCapped = forPrebuilds < beyond && forPrebuild.granted >= forPrebuilds;
  const prebuilds = isCapped ? forPrebuild.waiting : 0;
  const growth = belowFloor + launches.granted + launches.waiting - prebuilds + short;
  // a launch adds to all existing tasks: an idle daemon among them could not run that job
  const wanted = growth > 0 ? capacity.total + growth : Math.max(inUse, floor.count);
  return {
    ...{ view, capacity, poolForecast, room, unreadRoom, forMin, isProbe, jobs, inUse, floor, ready },
    leftTo: assigned.flatMap(({ group, offer }) =>
      offer.served === 'by-peer' && isPending(group) ? (group.leftTo ?? []) : [],
    ),
    tasks: {
      ...{ wanted, wantedBelowMax: Math.min(wanted, mostTasks(view.pool.max, capacity)) },
      granted: capacity.total + forMin + launches.granted,
    },
    held: { people: launchesHeld(isUrgent).waiting, prebuilds, unread: [] },
  };
}

function readyOf(assigned: readonly Assigned[], unplaced: number): ReadyDaemons {
  const prewarmed = sum(assigned, ({ group, jobs }) => (group.for === 'due' ? jobs : 0));
  const rows = assigned.flatMap(({ group, jobs }) => (group.for === 'stock' ? [{ group, jobs }] : []));
  const stocks = groupsBy(rows, ({ group }) => group.tagSets).map((alike) => ({
    choice: alike[0].group.choice,
    wouldHave: alike[0].group.wouldHave,
    daemons: sum(alike, ({ jobs }) => jobs),
    spare: sum(alike, ({ group, jobs }) => (group.isSpare ? jobs : 0)),
  }));
  return {
    ...{ due: prewarmed + unplaced, prewarmed, stocks },
    stock: sum(stocks, ({ daemons }) => daemons),
    all: sum(assigned, ({ group, jobs }) => (isPending(group) ? 0 : jobs)),
  };
}

function countJobs(assigned: readonly Assigned[]): PoolNeed['jobs'] {
  const count = (served: Served): number =>
    sum(assigned, ({ offer, jobs }) => (offer.served === served ? jobs : 0));
  return {
    'by-free': count('by-free'),
    'by-starting': count('by-starting'),
    'by-launch': count('by-launch'),
    'when-there-is-room': count('when-there-is-room'),
    'by-busy': count('by-busy'),
    'by-peer': count('by-peer'),
  };
}
