/** What each pool needs, before and after the bounds. All numbers are tasks. */

import type { Capacity } from '../capacity/capacity.ts';
import { type DueGroup, type Group, isPending, isUrgent } from '../demand/demand.ts';
import { deriveRecord, unforeseenIn } from '../demand/record.ts';
import { configuredFloor, floorOf, leastTasks } from '../forecast/floors.ts';
import type { Outlook } from '../forecast/pool-forecast.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { sum } from '../model/collections.ts';
import type { Floor, Served } from '../model/plan.ts';
import type { Daemon, OrganizationReadings } from '../model/snapshot.ts';
import { priceOf } from '../settings/prices.ts';
import type { PoolView } from '../supply/supply.ts';
import { drainedMs, type TaskView } from '../supply/task-state.ts';
import type { Assigned, Assignment } from './assignment.ts';
import type { PoolRoom, Room } from './launch-limits.ts';

export type Need = {
  readonly view: PoolView;
  readonly capacity: Capacity;
  /** Jobs assigned to this pool, by who will run them. */
  readonly jobs: Readonly<Record<Served, number>>;
  /** Tasks that hold a job now or will once the assigned jobs are served. */
  readonly inUse: number;
  readonly outlook: Outlook;
  /** Daemons that are ready, or are to be, for jobs that coderd is about to insert. */
  readonly prewarmed: number;
  /** Free daemons, or daemons to be, for builds that nobody can foresee. */
  readonly stock: number;
  /** Why there are not more of these. */
  readonly stockFacts: StockFacts | undefined;
  /** Idle daemons that are given up: `maxTasks` or `dollarsPerHour` keeps a job of another pool waiting, or `maxTasks` is exceeded. */
  readonly givenUp: number;
  /** All daemons that are kept, or launched, for what is no job yet: these two, `warm`, and those kept for what is due later. */
  readonly ready: number;
  /** Those jobs. */
  readonly due: number;
  readonly floor: Floor;
  /** Jobs that people wait for, while a limit leaves no room for them. */
  readonly peopleHeld: number;
  /** Prebuilds for which `prebuilds.maxTasks` launches nothing. */
  readonly prebuildsHeld: number;
  /** Before any bound but that one. */
  readonly wanted: number;
  /** After all bounds. */
  readonly granted: number;
  /** Whether a limit over all pools leaves nothing for more tasks. */
  readonly isRoomUsedUp: boolean;
  /** Whether that is `dollarsPerHour`. */
  readonly isTooDear: boolean;
  /** Idle daemons that stay, since the record of recent jobs tells too little to drain them. */
  readonly heldForRecord: number;
};

/** Of the stock that a pool has a part in. */
export type StockFacts = {
  /** Builds that nobody could foresee. */
  readonly perMinute: number;
  readonly replaceMs: number;
  /** What one more daemon would save, and each after it, in micro-dollars an hour. Empty: nothing. */
  readonly others: readonly number[];
  /** Of a minute that a person waits, in dollars. */
  readonly person: number;
  /** Hours from one use of it to the next; null: never. */
  readonly nextUsedEveryHours: number | null;
};

/** Works out the needs of all pools, in their order. */
export function deriveNeeds(
  room: Room,
  { assigned }: Assignment,
  dueGroups: readonly DueGroup[],
  now: EpochMs,
): readonly Need[] {
  const byPool = Map.groupBy(assigned, ({ offer }) => offer.pool);
  const unplaced = unplacedDue(dueGroups, assigned);
  let rest = room.total - launchesOf(assigned).granted;
  let budget = room.budget - paidFor({ assigned });
  const facts = stockFactsOf(assigned);
  const { givenUp, waiting } = giveUp(room, assigned);
  const needs = room.pools.map((pool) => {
    const { name } = pool.view.pool;
    const rows = byPool.get(name) ?? [];
    const need = {
      ...readNeed(pool, rows, unplaced.get(name) ?? 0),
      stockFacts: rows.flatMap(({ group }) => facts.get(group) ?? [])[0],
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
    const isTooDear = budget < priceOf(need.view.pool);
    // a job that waits for room goes before daemons that may be of use
    const held = Math.max(0, heldIn(need, now) - need.givenUp);
    const freed = Math.min(unmet, held);
    unmet -= freed;
    return { ...need, isTooDear, isRoomUsedUp: isTooDear || rest <= 0, heldForRecord: held - freed };
  });
}

/** Jobs that need a task that is still to be launched, now or when there is room. */
export function launchesFor({ jobs }: Pick<Need, 'jobs'>): number {
  return jobs['by-launch'] + jobs['when-there-is-room'];
}

/** How many tasks are more than the pool has to keep. Only leased ones count: others might not stay or not come. */
export function spareOf(need: Need): number {
  const { view, capacity, jobs, inUse, outlook, granted, ready, givenUp, heldForRecord } = need;
  if (granted > capacity.total) return 0;
  // what makes room for others is stock, and never what a setting or the forecast keeps
  const { count: configured } = configuredFloor(outlook.floors, inUse);
  const wanted = Math.max(configured, outlook.floors.wake, inUse + ready - givenUp);
  const bounded = Math.min(Math.max(wanted, inUse + heldForRecord), view.pool.max);
  return capacity.working - Math.max(bounded, capacity.inUse + jobs['by-free']);
}

/** Who has been idle for so long, an earlier look meant to keep. */
const KEPT_MS = 120_000;

/**
 * A process that has just begun to record knows too few builds: it drains nobody whom an earlier one kept. As little is known where the
 * workspaces could not be read anew.
 */
function heldIn({ view: { pool, organization, tasks } }: Pick<Need, 'view'>, now: EpochMs): number {
  if (organization === undefined || pool.warm !== 'auto') return 0;
  const { status } = organization.workspaces ?? {};
  const isUnsure = deriveRecord(organization).isYoung(now) || status === 'failed' || status === 'stale';
  if (!isUnsure) return 0;
  const isStock = ({ daemon, idleSince = now }: TaskView): boolean =>
    now - idleSince >= KEPT_MS || hasServedPeople(daemon, organization);
  return tasks.filter((task) => task.state === 'working' && task.use === 'idle' && isStock(task)).length;
}

/** Its last job was one that nobody could foresee. */
function hasServedPeople(daemon: Daemon | undefined, organization: OrganizationReadings): boolean {
  const id = daemon?.previous_job?.id;
  const job = organization.previousJobs.items.find((previous) => previous.id === id);
  return job !== undefined && unforeseenIn(organization)(job);
}

export function isPaid({ served, price }: Assigned['offer']): boolean {
  return served === 'by-launch' && price > 0;
}

/** What the launches cost together, in micro-dollars an hour. */
export function paidFor({ assigned }: Pick<Assignment, 'assigned'>): number {
  return sum(assigned, ({ offer, jobs }) => (isPaid(offer) ? jobs * offer.price : 0));
}

function stockFactsOf(assigned: readonly Assigned[]): ReadonlyMap<Group, StockFacts> {
  const byGroup = Map.groupBy(assigned, ({ group }) => group);
  return new Map(
    [...byGroup].flatMap(([group, rows]) => {
      if (group.for !== 'stock') return [];
      const { values, perMinute, replaceMs, person } = group;
      const others = values.slice(sum(rows, ({ jobs }) => jobs));
      const share = (others[0] ?? 0) / (person * 60e6);
      const nextUsedEveryHours = share > 0 ? replaceMs / 3_600_000 / share : null;
      return [[group, { perMinute, replaceMs, others, person, nextUsedEveryHours }] as const];
    }),
  );
}

/**
 * Idle daemons that a limit over all pools takes from the stock, since a job of another pool waits for room or more tasks are there than
 * `maxTasks`: by pool, those of the last groups first. Tasks that are about to go make room too.
 */
function giveUp({ pools, total, budget }: Room, assigned: readonly Assigned[]): GivenUp {
  const byPool = Map.groupBy(assigned, ({ offer }) => offer.pool);
  const held = pools.flatMap(({ view: { pool }, beyond }) => {
    const { granted, waiting } = launchesOf(
      (byPool.get(pool.name) ?? []).filter(({ group }) => isPending(group)),
    );
    const jobs = Math.min(waiting, Math.max(0, beyond - granted));
    return jobs > 0 ? [{ jobs, price: priceOf(pool) }] : [];
  });
  const going = sum(pools, ({ view }) => view.tasks.filter(isAboutToGo).length);
  let waiting = Math.max(0, sum(held, ({ jobs }) => jobs) + Math.max(0, -total) - going);
  const givenUp = new Map<PoolName, number>();
  const beyondFloors = new Map(
    pools.map(({ view, capacity, outlook }) => [view.pool.name, capacity.total - leastTasks(outlook.floors)]),
  );
  const isAffordable = held.some(({ price }) => price <= budget - paidFor({ assigned }));
  if (total > launchesOf(assigned).granted && isAffordable) return { givenUp, waiting: 0 };
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

/** An idle daemon that was asked leaves within seconds. One that does not is not waited for. */
const GOES_WITHIN_MS = 10 * 60_000;

function isAboutToGo(task: TaskView): boolean {
  if (task.state === 'left') return true;
  return task.state === 'leaving' && task.use === 'idle' && (drainedMs(task) ?? 0) < GOES_WITHIN_MS;
}

type GivenUp = {
  readonly givenUp: ReadonlyMap<PoolName, number>;
  /** Tasks for which that makes no room. */
  readonly waiting: number;
};

/** A pool whose starts keep failing, or whose tasks ECS cannot place, is tried with one task at a time, beside those that are there. */
function wantsProbe({ view, capacity, wanted }: Unprobed): boolean {
  if (!capacity.isHeldBack) return false;
  const isTrying = view.tasks.some(({ state, use }) => state === 'starting' || use === 'registering');
  return !isTrying && Math.min(wanted, view.pool.max) > capacity.total;
}

type Unprobed = Omit<Need, 'isRoomUsedUp' | 'isTooDear' | 'heldForRecord'>;
type Unlimited = Omit<Unprobed, 'stockFacts' | 'givenUp'>;

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
  { view, capacity, outlook, forMin, beyond, forPrebuilds, isPendingOnly }: PoolRoom,
  assigned: readonly Assigned[],
  unplaced: number,
): Unlimited {
  const jobs = countJobs(assigned.filter(({ group }) => isPending(group)));
  const prewarmed = sum(assigned, ({ group, jobs: due }) => (group.for === 'due' ? due : 0));
  const inUse = capacity.inUse + sum(Object.values(jobs), (count) => count) - jobs['by-busy'];
  const stock = sum(assigned, ({ group, jobs: count }) => (group.for === 'stock' ? count : 0));
  const ready = sum(assigned, ({ group, jobs: count }) => (isPending(group) ? 0 : count));
  const floor = floorOf(outlook.floors, { inUse, due: prewarmed, stock });
  const launches = launchesOf(assigned);
  const toMin = isPendingOnly ? 0 : Math.max(0, leastTasks(outlook.floors) - capacity.total);
  // beyond `prewarm.max` nobody is wanted before the jobs are there
  const short = Math.min(unplaced, Math.max(0, view.pool.prewarm.max - prewarmed));
  const held = (isHeld: (group: Group) => boolean): number =>
    launchesOf(assigned.filter(({ group }) => isHeld(group))).waiting;
  const prebuilds = launchesOf(assigned.filter(({ group }) => group.for === 'prebuilds'));
  const isCapped = forPrebuilds < beyond && prebuilds.granted >= forPrebuilds;
  const prebuildsHeld = isCapped ? prebuilds.waiting : 0;
  const growth = toMin + launches.granted + launches.waiting - prebuildsHeld + short;
  return {
    view,
    capacity,
    jobs,
    inUse,
    outlook,
    ...{ prewarmed, stock, ready },
    due: prewarmed + unplaced,
    floor,
    ...{ peopleHeld: held(isUrgent), prebuildsHeld },
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
