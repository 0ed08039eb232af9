/** What each pool needs, before and after the bounds. All numbers are tasks. */
import type { Assigned, Assignment } from './assignment.ts';
import type { PoolName } from './brands.ts';
import type { Capacity } from './capacity.ts';
import { type DueGroup, isPending } from './demand.ts';
import { floorOf, leastTasks } from './floors.ts';
import { sum } from './order.ts';
import type { Outlook } from './outlook.ts';
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
  readonly outlook: Outlook;
  /** Daemons that are ready, or are to be, for jobs that coderd is about to insert. */
  readonly prewarmed: number;
  /** Those jobs. */
  readonly due: number;
  readonly floor: Floor;
  /** Before any bound. */
  readonly wanted: number;
  /** After all bounds. */
  readonly granted: number;
  /** Whether `maxTasks` leaves nothing for more tasks. */
  readonly isRoomUsedUp: boolean;
};

/** Works out the needs of all pools, in their order. */
export function readNeeds(
  room: Room,
  { assigned }: Assignment,
  dueGroups: readonly DueGroup[],
): readonly Need[] {
  const byPool = Map.groupBy(assigned, ({ offer }) => offer.pool);
  const unplaced = unplacedDue(dueGroups, assigned);
  let rest = room.total - launchesOf(assigned).granted;
  const needs = room.pools.map((pool) => {
    const { name } = pool.sight.pool;
    const need = readNeed(pool, byPool.get(name) ?? [], unplaced.get(name) ?? 0);
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
export function spareOf({ sight, capacity, jobs, inUse, floor, granted, outlook, prewarmed }: Need): number {
  if (granted > capacity.total) return 0;
  // who would soon be brought back stays
  const soon = Math.min(outlook.soon, Math.max(0, sight.pool.prewarm.max - prewarmed));
  const kept = Math.max(floor.count, inUse + prewarmed + soon);
  const bounded = Math.min(kept, sight.pool.max);
  return capacity.working - Math.max(bounded, capacity.inUse + jobs['by-free']);
}

/** A pool whose starts keep failing is tried with one task at a time, beside those that are there. */
function wantsProbe({ sight, capacity, wanted }: Unprobed): boolean {
  if (!capacity.isHeldBack) return false;
  const isTrying = sight.tasks.some(({ state, use }) => state === 'starting' || use === 'registering');
  return !isTrying && Math.min(wanted, sight.pool.max) > capacity.total;
}

type Unprobed = Omit<Need, 'isRoomUsedUp'>;

/** Jobs that are about to come and get no daemon beforehand: told by a pool that has some of them, else by the first. */
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

function readNeed(
  { sight, capacity, outlook, forMin }: PoolRoom,
  assigned: readonly Assigned[],
  unplaced: number,
): Unprobed {
  const jobs = countJobs(assigned.filter(({ group }) => isPending(group)));
  const prewarmed = sum(assigned, ({ group, jobs: due }) => (group.for === 'due' ? due : 0));
  const inUse = capacity.inUse + sum(Object.values(jobs), (count) => count) - jobs['by-busy'];
  const floor = floorOf(outlook.floors, inUse, prewarmed);
  const launches = launchesOf(assigned);
  const toMin = Math.max(0, leastTasks(outlook.floors) - capacity.total);
  // beyond `prewarm.max` nobody is wanted before the jobs are there
  const short = Math.min(unplaced, Math.max(0, sight.pool.prewarm.max - prewarmed));
  const growth = toMin + launches.granted + launches.waiting + short;
  return {
    sight,
    capacity,
    jobs,
    inUse,
    outlook,
    prewarmed,
    due: prewarmed + unplaced,
    floor,
    // a launch comes on top of all there is: what is idle beside it could not run that job
    wanted: growth > 0 ? capacity.total + growth : Math.max(inUse, floor.count),
    granted: capacity.total + forMin + launches.granted,
  };
}

/** Launches for jobs, for what is due and for `warm`, beyond those that a floor brings in any case. */
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
