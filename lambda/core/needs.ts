/** What each pool needs, before and after the bounds. All numbers are tasks. */
import type { Assigned, Assignment } from './assignment.ts';
import type { Capacity } from './capacity.ts';
import { floorOf } from './floors.ts';
import { sum } from './order.ts';
import type { Floor, Served } from './plan.ts';
import type { PoolRoom, Room } from './room.ts';
import type { PoolSight } from './supply.ts';

export type Need = {
  readonly sight: PoolSight;
  readonly capacity: Capacity;
  /** Jobs assigned to this pool, by who will run them. */
  readonly jobs: Readonly<Record<Served, number>>;
  /** Tasks that hold a job now or will once the assigned jobs are served. */
  readonly inUse: number;
  readonly floor: Floor;
  /** Before any bound. */
  readonly wanted: number;
  /** After all bounds. */
  readonly granted: number;
  /** Whether `maxTasks` leaves nothing for more tasks. */
  readonly isRoomUsedUp: boolean;
};

/** Works out the needs of all pools, in their order. */
export function readNeeds(room: Room, { assigned }: Assignment): readonly Need[] {
  const byPool = Map.groupBy(assigned, ({ offer }) => offer.pool);
  let rest = room.total - launchesOf(assigned).granted;
  const needs = room.pools.map((pool) => {
    const need = readNeed(pool, byPool.get(pool.sight.pool.name) ?? []);
    const probe = rest > 0 && wantsProbe(need) ? 1 : 0;
    rest -= probe;
    return { ...need, granted: need.granted + probe };
  });
  return needs.map((need) => ({ ...need, isRoomUsedUp: rest <= 0 }));
}

/** Jobs that need a task that is still to be launched, now or when there is room. */
export function launchesFor({ jobs }: Pick<Need, 'jobs'>): number {
  return jobs['by-launch'] + jobs['when-there-is-room'];
}

/** How many tasks are more than the pool has to keep. Only leased ones count: others might not stay or not come. */
export function spareOf({ sight, capacity, jobs, inUse, floor, granted }: Need): number {
  if (granted > capacity.total) return 0;
  const bounded = Math.min(Math.max(floor.count, inUse), sight.pool.max);
  return capacity.working - Math.max(bounded, capacity.inUse + jobs['by-free']);
}

/** A pool whose starts keep failing is tried with one task at a time, beside those that are there. */
function wantsProbe({ sight, capacity, wanted }: Unprobed): boolean {
  if (!capacity.isHeldBack) return false;
  const isTrying = sight.tasks.some(({ state, use }) => state === 'starting' || use === 'registering');
  return !isTrying && Math.min(wanted, sight.pool.max) > capacity.total;
}

type Unprobed = Omit<Need, 'isRoomUsedUp'>;

function readNeed({ sight, capacity, forMin }: PoolRoom, assigned: readonly Assigned[]): Unprobed {
  const jobs = countJobs(assigned.filter(({ group }) => group.for !== 'warm'));
  const inUse = capacity.inUse + sum(Object.values(jobs), (count) => count) - jobs['by-busy'];
  const floor = floorOf(sight.pool, inUse);
  const launches = launchesOf(assigned);
  const toMin = Math.max(0, sight.pool.min - capacity.total);
  const growth = toMin + launches.granted + launches.waiting;
  return {
    sight,
    capacity,
    jobs,
    inUse,
    floor,
    // a launch comes on top of all there is: what is idle beside it could not run that job
    wanted: growth > 0 ? capacity.total + growth : Math.max(inUse, floor.count),
    granted: capacity.total + forMin + launches.granted,
  };
}

/** Launches for jobs and for `warm`, beyond those that `min` brings in any case. */
function launchesOf(assigned: readonly Assigned[]): { readonly granted: number; readonly waiting: number } {
  const count = (served: Served): number =>
    sum(assigned, ({ offer, jobs }) => (offer.served === served && offer.price > 0 ? jobs : 0));
  return { granted: count('by-launch'), waiting: count('when-there-is-room') };
}

function countJobs(assigned: readonly Assigned[]): Need['jobs'] {
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
