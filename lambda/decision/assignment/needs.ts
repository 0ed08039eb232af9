/**
 * The needs: how many tasks each pool needs before and after the limits, from the assignment and
 * the room. All numbers are tasks.
 */

import { type DueGroup, type Group, isPending, isUrgent, type StockGroup } from '../demand/demand.ts';
import { unforeseenIn } from '../demand/record.ts';
import { configuredFloor, floorOf, leastTasks } from '../forecast/floors.ts';
import type { PoolForecast } from '../forecast/pool-forecast.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { sum } from '../model/collections.ts';
import type { Floor, Served } from '../model/plan.ts';
import type { Daemon, OrganizationReadings } from '../model/snapshot.ts';
import { priceOf } from '../settings/prices.ts';
import type { Capacity } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';
import { drainedMs, type TaskView } from '../supply/task-state.ts';
import type { Assigned, Assignment } from './assignment.ts';
import type { LaunchLimits, PoolLaunchLimits } from './launch-limits.ts';

export type PoolNeed = {
  readonly view: PoolView;
  readonly capacity: Capacity;
  /** Jobs assigned to this pool, by what will run them. */
  readonly jobs: Readonly<Record<Exclude<Served, 'by-doubtful'>, number>>;
  /** Tasks that hold a job now, or will once the assigned jobs run. */
  readonly inUse: number;
  readonly poolForecast: PoolForecast;
  /** Daemons that are ready, or will be, for jobs that coderd is about to insert. */
  readonly prewarmed: number;
  /** Daemons that are free, or will be, for unforeseen builds. */
  readonly stock: number;
  /** The same for each stock to which the pool contributes. */
  readonly stocks: readonly { readonly group: StockGroup; readonly daemons: number }[];
  /** Launches for stock to which the pool could contribute, and for which there is no room. */
  readonly stockHeld: number;
  /**
   * Idle daemons that drain because `maxTasks` or `dollarsPerHour` keeps a job of another pool
   * waiting, or because there are more tasks than `maxTasks`.
   */
  readonly givenUp: number;
  /**
   * All daemons that are kept or launched without a job: `prewarmed`, `stock`, `warm`, and those
   * kept for transitions that are due later.
   */
  readonly ready: number;
  /** Jobs that coderd is about to insert. */
  readonly due: number;
  readonly floor: Floor;
  /** Jobs that people wait for while a limit leaves no room for them. */
  readonly peopleWaiting: number;
  /** Prebuilds that wait because of `prebuilds.maxTasks`. */
  readonly prebuildsWaiting: number;
  /** Tasks before all limits except `prebuilds.maxTasks`. */
  readonly wanted: number;
  /** The same, up to the pool's `max`. */
  readonly wantedBelowMax: number;
  /** Tasks after all limits. */
  readonly granted: number;
  /** Whether a limit over all pools leaves no room for more tasks. */
  readonly isRoomUsedUp: boolean;
  /** Whether that limit is `dollarsPerHour`. */
  readonly isOverBudget: boolean;
  /** Idle daemons that stay because the autoscaler has not learned enough to drain them. */
  readonly heldForRecord: number;
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
  { due: dueGroups, stock, unlearned }: ReadyDemand,
  now: EpochMs,
): readonly PoolNeed[] {
  const byPool = Map.groupBy(assigned, ({ offer }) => offer.pool);
  const unplaced = unplacedDue(dueGroups, assigned);
  let rest = launchLimits.total - launchesOf(assigned).granted;
  let budget = launchLimits.budget - paidFor({ assigned });
  const { givenUp, waiting } = chooseGivenUp(launchLimits, assigned, { rest, budget });
  const needs = launchLimits.pools.map((pool) => {
    const { name } = pool.view.pool;
    const rows = byPool.get(name) ?? [];
    const need = {
      ...deriveNeed(pool, rows, unplaced.get(name) ?? 0),
      stockHeld: sum(stock, (group) => (group.pools.has(name) ? heldOf(group, assigned) : 0)),
      givenUp: givenUp.get(name) ?? 0,
    };
    const price = priceOf(pool.view.pool);
    const probe = rest > 0 && price <= budget && wantsProbe(need) ? 1 : 0;
    rest -= probe;
    budget -= probe * price;
    return { ...need, granted: need.granted + probe };
  });
  let unmet = waiting;
  return needs.map((need) => {
    const isOverBudget = budget < priceOf(need.view.pool);
    // a job that waits for room goes before daemons that are only kept because the record is short
    const idleHeld = Math.max(0, countHeldForRecord(need, unlearned, now) - need.givenUp);
    const freed = Math.min(unmet, idleHeld);
    unmet -= freed;
    return {
      ...need,
      isOverBudget,
      isRoomUsedUp: isOverBudget || rest <= 0,
      heldForRecord: idleHeld - freed,
    };
  });
}

/** The jobs that need a new task, now or when there is room. */
export function launchesFor({ jobs }: Pick<PoolNeed, 'jobs'>): number {
  return jobs['by-launch'] + jobs['when-there-is-room'];
}

/**
 * The number of tasks that the pool does not have to keep. Only tasks with a lease count: others
 * might not stay, or not come.
 */
export function spareOf(need: PoolNeed): number {
  const { view, capacity, jobs, inUse, poolForecast, granted, ready, givenUp, heldForRecord } = need;
  if (granted > capacity.total) return 0;
  // only stock makes room for other pools; tasks that a setting or the forecast keeps never do
  const { count: configured } = configuredFloor(poolForecast.floors, inUse);
  const wanted = Math.max(configured, poolForecast.floors.wake, inUse + ready - givenUp);
  const bounded = Math.min(Math.max(wanted, inUse + heldForRecord), view.pool.max);
  return capacity.working - Math.max(bounded, capacity.inUse + jobs['by-free']);
}

/** An earlier look meant to keep a daemon that has been idle for longer. */
const MIN_KEPT_MS = 120_000;

/**
 * Counts idle daemons that must not drain because the record is too short. A process that has just
 * begun to record knows too few builds, so it drains no daemon that an earlier process kept. The
 * record is also too short while the workspaces cannot be read anew.
 */
function countHeldForRecord(
  { view: { pool, organization, tasks } }: Pick<PoolNeed, 'view'>,
  unlearned: ReadonlySet<PoolName>,
  now: EpochMs,
): number {
  if (organization === undefined || pool.warm !== 'auto') return 0;
  const { status } = organization.workspaces ?? {};
  const isUnsure = unlearned.has(pool.name) || status === 'failed' || status === 'stale';
  if (!isUnsure) return 0;
  const isStock = ({ daemon, idleSince = now }: TaskView): boolean =>
    now - idleSince >= MIN_KEPT_MS || hasServedPeople(daemon, organization);
  return tasks.filter((task) => task.state === 'working' && task.use === 'idle' && isStock(task)).length;
}

/** Whether the daemon's last job was an unforeseen build. */
function hasServedPeople(daemon: Daemon | undefined, organization: OrganizationReadings): boolean {
  const id = daemon?.previous_job?.id;
  const job = organization.previousJobs.items.find((previous) => previous.id === id);
  return job !== undefined && unforeseenIn(organization)(job);
}

export function isPaid({ served, price }: Assigned['offer']): boolean {
  return served === 'by-launch' && price > 0;
}

/** The cost of all launches together, in micro-dollars an hour. */
export function paidFor({ assigned }: Pick<Assignment, 'assigned'>): number {
  return sum(assigned, ({ offer, jobs }) => (isPaid(offer) ? jobs * offer.price : 0));
}

/** How many launches for the stock got no room. */
function heldOf(group: StockGroup, assigned: readonly Assigned[]): number {
  return Math.max(0, group.launches - sum(assigned, (row) => (row.group === group ? row.jobs : 0)));
}

/**
 * Chooses idle daemons of the stock to give up. The cause is a job of another pool that waits for
 * room, or more tasks than `maxTasks`. Counted by pool; daemons of the last groups go first. Tasks
 * that are about to stop make room too. `rest` and `budget` are what the assignment leaves of the
 * launches and of the money.
 */
function chooseGivenUp(
  { pools, total }: LaunchLimits,
  assigned: readonly Assigned[],
  { rest, budget }: { readonly rest: number; readonly budget: number },
): GivenUp {
  const pending = assigned.filter(({ group }) => isPending(group));
  const byPool = Map.groupBy(pending, ({ offer }) => offer.pool);
  const heldJobs = pools.flatMap(({ view: { pool }, beyond }) => {
    const { granted, waiting } = launchesOf(byPool.get(pool.name) ?? []);
    const jobs = Math.min(waiting, Math.max(0, beyond - granted));
    return jobs > 0 ? [{ jobs, price: priceOf(pool) }] : [];
  });
  const aboutToStop = sum(pools, ({ view }) => view.tasks.filter(isAboutToStop).length);
  let waiting = Math.max(0, sum(heldJobs, ({ jobs }) => jobs) + Math.max(0, -total) - aboutToStop);
  const givenUp = new Map<PoolName, number>();
  const beyondFloors = new Map(
    pools.map(({ view, capacity, poolForecast }) => [
      view.pool.name,
      capacity.total - leastTasks(poolForecast.floors),
    ]),
  );
  const isAffordable = heldJobs.some(({ price }) => price <= budget);
  if (rest > 0 && isAffordable) return { givenUp, waiting: 0 };
  for (const { group, offer, jobs } of assigned.toReversed()) {
    if (waiting <= 0) break;
    const isIdle = (group.for === 'stock' || group.for === 'later') && offer.served === 'by-free';
    if (!isIdle || offer.pool === null) continue;
    const before = givenUp.get(offer.pool) ?? 0;
    const taken = Math.min(jobs, waiting, (beyondFloors.get(offer.pool) ?? 0) - before);
    if (taken <= 0) continue;
    waiting -= taken;
    givenUp.set(offer.pool, before + taken);
  }
  return { givenUp, waiting };
}

/**
 * An idle daemon leaves within seconds after a drain request. After this time it is not expected to
 * leave.
 */
const LEAVES_WITHIN_MS = 10 * 60_000;

function isAboutToStop(task: TaskView): boolean {
  if (task.state === 'left') return true;
  return task.state === 'leaving' && task.use === 'idle' && (drainedMs(task) ?? 0) < LEAVES_WITHIN_MS;
}

type GivenUp = {
  readonly givenUp: ReadonlyMap<PoolName, number>;
  /** Tasks for which there is still no room. */
  readonly waiting: number;
};

/**
 * Whether a pool may start a probe. If its starts keep failing, or ECS cannot place its tasks, it
 * tries one task at a time.
 */
function wantsProbe({ view, capacity, wantedBelowMax }: NeedBeforeProbe): boolean {
  if (!capacity.isHeldBack) return false;
  const isTrying = view.tasks.some(({ state, use }) => state === 'starting' || use === 'registering');
  return !isTrying && wantedBelowMax > capacity.total;
}

type NeedBeforeProbe = Omit<PoolNeed, 'isRoomUsedUp' | 'isOverBudget' | 'heldForRecord'>;
type NeedBeforeLimits = Omit<NeedBeforeProbe, 'stockHeld' | 'givenUp'>;

/**
 * Counts jobs that will come and get no daemon in advance. The first pool that serves some of them
 * reports them, else the first that could.
 */
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

function deriveNeed(
  { view, capacity, poolForecast, forMin, beyond, forPrebuilds, isPendingOnly }: PoolLaunchLimits,
  assigned: readonly Assigned[],
  unplaced: number,
): NeedBeforeLimits {
  const jobs = countJobs(assigned.filter(({ group }) => isPending(group)));
  const prewarmed = sum(assigned, ({ group, jobs: due }) => (group.for === 'due' ? due : 0));
  const inUse = capacity.inUse + sum(Object.values(jobs), (count) => count) - jobs['by-busy'];
  const stocks = [...Map.groupBy(assigned, ({ group }) => group)].flatMap(([group, rows]) =>
    group.for === 'stock' ? [{ group, daemons: sum(rows, ({ jobs: count }) => count) }] : [],
  );
  const stock = sum(stocks, ({ daemons }) => daemons);
  const ready = sum(assigned, ({ group, jobs: count }) => (isPending(group) ? 0 : count));
  const floor = floorOf(poolForecast.floors, { inUse, due: prewarmed, stock });
  const launches = launchesOf(assigned);
  const toMin = isPendingOnly ? 0 : Math.max(0, leastTasks(poolForecast.floors) - capacity.total);
  // beyond `prewarm.max` no daemon is wanted before the jobs exist
  const short = Math.min(unplaced, Math.max(0, view.pool.prewarm.max - prewarmed));
  const countWaiting = (isHeld: (group: Group) => boolean): number =>
    launchesOf(assigned.filter(({ group }) => isHeld(group))).waiting;
  const prebuilds = launchesOf(assigned.filter(({ group }) => group.for === 'prebuilds'));
  const isCapped = forPrebuilds < beyond && prebuilds.granted >= forPrebuilds;
  const prebuildsWaiting = isCapped ? prebuilds.waiting : 0;
  const growth = toMin + launches.granted + launches.waiting - prebuildsWaiting + short;
  // a launch adds to all existing tasks: an idle daemon among them could not run that job
  const wanted = growth > 0 ? capacity.total + growth : Math.max(inUse, floor.count);
  return {
    view,
    capacity,
    jobs,
    inUse,
    poolForecast,
    ...{ prewarmed, stock, stocks, ready },
    due: prewarmed + unplaced,
    floor,
    ...{ peopleWaiting: countWaiting(isUrgent), prebuildsWaiting },
    ...{ wanted, wantedBelowMax: Math.min(wanted, view.pool.max) },
    granted: capacity.total + forMin + launches.granted,
  };
}

/**
 * Counts launches for jobs, for transitions that are due and for `warm`. Launches that a floor
 * causes in any case do not count.
 */
function launchesOf(assigned: readonly Assigned[]): { readonly granted: number; readonly waiting: number } {
  const count = (served: Served): number =>
    sum(assigned, ({ offer, jobs }) => (offer.served === served && offer.price > 0 ? jobs : 0));
  return { granted: count('by-launch'), waiting: count('when-there-is-room') };
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
  };
}
