/**
 * Idle daemons for which the rule of the stock does not decide alone: those that make room for a
 * job of another pool, and those that stay because the record of builds is too short.
 */

import { type Assigned, countLaunches } from '../assign/assignment.ts';
import type { LaunchLimits, PoolLaunchLimits } from '../assign/launch-limits.ts';
import { isPending } from '../demand/demand.ts';
import { servedUnforeseen } from '../demand/record.ts';
import { leastTasks } from '../forecast/floors.ts';
import { type EpochMs, type PoolName, poolOfPart } from '../model/brands.ts';
import { sum } from '../model/collections.ts';
import { MINUTE_MS } from '../model/units.ts';
import { priceOf } from '../settings/prices.ts';
import { mayDrain } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';
import { drainedMs, isIdle, isIdleLongEnough, isLeaving, type TaskView } from '../supply/task-state.ts';

/** Which idle daemons the rule of the stock does not decide about. */
export type IdleDaemons = {
  /** Idle daemons that drain because a limit over all pools is reached. */
  readonly givenUp: number;
  /** Idle daemons that stay because the autoscaler has not learned enough to drain them. */
  readonly heldForRecord: number;
};

type GivenUp = {
  readonly givenUp: ReadonlyMap<PoolName, number>;
  /** Tasks for which there is still no room. */
  readonly waiting: number;
};

/** What the assignment leaves of the launches over all pools and of the money. */
export type Rest = { readonly launches: number; readonly budget: number };

type Known = { readonly rest: Rest; readonly unlearned: ReadonlySet<PoolName> };

/** Chooses them, by pool. */
export function chooseIdle(
  limits: LaunchLimits,
  assigned: readonly Assigned[],
  { rest, unlearned }: Known,
  now: EpochMs,
): ReadonlyMap<PoolName, IdleDaemons> {
  const { givenUp, waiting } = chooseGivenUp(limits, assigned, rest, now);
  const idle = new Map<PoolName, IdleDaemons>();
  let unmet = waiting;
  for (const { view } of limits.pools) {
    const given = givenUp.get(view.pool.name) ?? 0;
    // a job that waits for room goes before daemons that are only kept because the record is short
    const held = Math.max(0, countHeldForRecord(view, unlearned, now) - given);
    const freed = Math.min(unmet, held);
    unmet -= freed;
    idle.set(view.pool.name, { givenUp: given, heldForRecord: held - freed });
  }
  return idle;
}

/**
 * Chooses idle daemons of the stock to give up. The cause is a job of another pool that waits for
 * room, or more tasks than `maxTasks`. Counted by pool; daemons that can be asked now go first, then
 * those of the last groups. Tasks that are about to stop make room too.
 */
function chooseGivenUp(
  { pools, total }: LaunchLimits,
  assigned: readonly Assigned[],
  rest: Rest,
  now: EpochMs,
): GivenUp {
  const pending = assigned.filter(({ group }) => isPending(group));
  const byPool = Map.groupBy(pending, ({ offer }) => offer.pool);
  const heldJobs = pools.flatMap(({ view: { pool }, beyond }) => {
    const { granted, waiting } = countLaunches(byPool.get(pool.name) ?? []);
    const jobs = Math.min(waiting, Math.max(0, beyond - granted));
    return jobs > 0 ? [{ jobs, price: priceOf(pool) }] : [];
  });
  const givenUp = new Map<PoolName, number>();
  if (rest.launches > 0 && heldJobs.some(({ price }) => price <= rest.budget)) return { givenUp, waiting: 0 };
  const aboutToStop = sum(pools, ({ view }) => view.tasks.filter((task) => isAboutToStop(task, now)).length);
  let waiting = Math.max(0, sum(heldJobs, ({ jobs }) => jobs) + Math.max(0, -total) - aboutToStop);
  const stock = new Map(
    assigned
      .toReversed()
      .filter(isIdleStock)
      .map((row) => [row, row.jobs]),
  );
  const giveUp = (mostOf: (pool: PoolLaunchLimits) => number): void => {
    for (const [row, daemons] of stock) {
      const pool = pools.find(({ view }) => view.pool.name === row.offer.pool);
      if (pool === undefined) continue;
      const { name } = pool.view.pool;
      const before = givenUp.get(name) ?? 0;
      const most = Math.min(mostOf(pool), pool.capacity.total - leastTasks(pool.poolForecast.floors));
      const taken = Math.max(0, Math.min(daemons, waiting, most - before));
      waiting -= taken;
      stock.set(row, daemons - taken);
      givenUp.set(name, before + taken);
    }
  };
  giveUp((pool) => askedNow(pool, now));
  giveUp(() => Number.POSITIVE_INFINITY);
  return { givenUp, waiting };
}

const isIdleStock = ({ group, offer }: Assigned): boolean =>
  (group.for === 'stock' || group.for === 'later') && offer.served === 'by-free';

/** How many daemons the pool can ask to leave in this look (drain/). */
function askedNow({ view, capacity, isDoubtful }: PoolLaunchLimits, now: EpochMs): number {
  if (!mayDrain(capacity, isDoubtful)) return 0;
  return view.tasks.filter((task) => task.state === 'working' && isIdleLongEnough(task, view.pool, now))
    .length;
}

/** An idle daemon leaves within seconds. After this time it is not expected to. */
const LEAVES_WITHIN_MS = 10 * MINUTE_MS;

function isAboutToStop(task: TaskView, now: EpochMs): boolean {
  if (task.state === 'left') return true;
  if (task.use !== 'idle' || !isLeaving(task)) return false;
  // a guard leaves 23 h of the lease while it drains, and then none
  const forMs = drainedMs(task) ?? now - (task.idleSince ?? now);
  return forMs < LEAVES_WITHIN_MS;
}

/** An earlier look meant to keep a daemon that has been idle for longer. */
const MIN_KEPT_MS = 120_000;

/**
 * Counts idle daemons that must not drain because the record is too short. A process that has just
 * begun to record knows too few builds, so it drains no daemon that an earlier process kept. The
 * record is also too short while the workspaces cannot be read anew.
 */
function countHeldForRecord(
  { pool, organization, tasks }: PoolView,
  unlearned: ReadonlySet<PoolName>,
  now: EpochMs,
): number {
  if (organization === undefined || pool.warm !== 'auto') return 0;
  const { status } = organization.workspaces ?? {};
  const isUnsure = unlearned.has(poolOfPart(pool.name)) || status === 'failed' || status === 'stale';
  if (!isUnsure) return 0;
  const isUnforeseen = servedUnforeseen(organization);
  const isStock = ({ daemon, idleSince = now }: TaskView): boolean =>
    now - idleSince >= MIN_KEPT_MS || isUnforeseen(daemon) === true;
  return tasks.filter((task) => task.state === 'working' && isIdle(task) && isStock(task)).length;
}
