/** What each pool needs, before and after the bounds. All numbers are tasks. */
import type { Assignment } from './assignment.ts';
import { applyBounds } from './bounds.ts';
import { type Capacity, measure } from './capacity.ts';
import type { Config } from './config.ts';
import { floorOf } from './floors.ts';
import { sum } from './order.ts';
import type { Floor, Served } from './plan.ts';
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
};

/** Works out the needs of all pools, in their order. `room`: tasks that may be added over all pools. */
export function readNeeds(
  pools: readonly PoolSight[],
  assignment: Assignment,
  room: number,
): readonly Need[] {
  const byPool = Map.groupBy(assignment.assigned, ({ offer }) => offer.pool);
  const needs = pools.map((sight) => readNeed(sight, countJobs(byPool.get(sight.pool.name) ?? [])));
  const granted = applyBounds(needs.map(toGrowth), room);
  return needs.map((need, index) => ({ ...need, granted: granted[index] ?? 0 }));
}

/** Tasks that may still be added before `maxTasks` is reached; those that are leaving count (docs/adr/0005). */
export function roomFor(pools: readonly PoolSight[], { limits }: Config): number {
  return limits.maxTasks - sum(pools, ({ tasks, missing }) => tasks.length + missing);
}

/** How many tasks are more than the pool has to keep. Starting ones are not counted: they might not come. */
export function spareOf({ sight, capacity, inUse, floor, granted }: Need): number {
  if (granted > capacity.total) return 0;
  const keep = Math.min(Math.max(floor.count, inUse), sight.pool.max);
  return capacity.working + capacity.unguarded - keep;
}

type Unbounded = Omit<Need, 'granted'>;

function readNeed(sight: PoolSight, jobs: Need['jobs']): Unbounded {
  const capacity = measure(sight);
  const launches = jobs['by-launch'] + jobs['when-there-is-room'];
  const inUse = capacity.inUse + jobs['by-free'] + jobs['by-starting'] + launches;
  const floor = floorOf(sight.pool, inUse);
  // a launch comes on top of all there is: what is idle beside it could not run that job
  const forJobs = launches > 0 ? capacity.total + launches : inUse;
  return { sight, capacity, jobs, inUse, floor, wanted: Math.max(forJobs, floor.count) };
}

function countJobs(assigned: Assignment['assigned']): Need['jobs'] {
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

function toGrowth({ sight, capacity, jobs, wanted }: Unbounded) {
  if (sight.service === undefined) return { have: 0, wanted: 0, most: 0, launches: 0, min: 0 };
  const { min, max } = sight.pool;
  return {
    have: capacity.total,
    wanted,
    most: Math.min(max, capacity.ceiling),
    launches: jobs['by-launch'],
    min,
  };
}
