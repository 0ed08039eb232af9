/**
 * Two pools in a world that has turned quiet: guards and daemons do their part, every job ends, every call arrives, nobody submits a job.
 * ECS places all tasks, or none of one pool for ever. Then every job that can be run is run, and both pools come to rest at what
 * the configuration keeps.
 */

import { settlingJudge } from '../progress/settling.ts';
import type { Violation } from '../world/search.ts';
import { type Call, carriedOut, NAMES, type TwoPoolsLimits } from './two-pools-look.ts';
import {
  describePools,
  isFree,
  type Place,
  type SmallPool,
  servedBy,
  type TwoPools,
  type TwoPoolsCodes,
  tasksIn,
  withoutJob,
  withPlace,
} from './two-pools-state.ts';

export type QuietRules = {
  readonly limits: TwoPoolsLimits;
  readonly callsAt: (code: number) => readonly Call[];
};

/** The pool of which ECS can place no task; undefined: it places all. */
type Blocked = number | undefined;

const BLOCKED: readonly Blocked[] = [undefined, 0, 1];

/** Judges a state by how each quiet world goes on from it. */
export function settlesFrom(
  codes: TwoPoolsCodes,
  rules: QuietRules,
): (code: number) => Violation | undefined {
  const judges = BLOCKED.map((blocked) =>
    settlingJudge({
      after: (code) => roundFrom(code, codes, { ...rules, blocked }),
      isSettled: (code) => isSettled(codes.unpack(code), { ...rules, blocked }),
      describe: (code) => describePools(codes.unpack(code), NAMES),
    }),
  );
  return (code) => {
    for (const judge of judges) {
      const violation = judge(code);
      if (violation !== undefined) return violation;
    }
    return undefined;
  };
}

type BlockedRules = QuietRules & { readonly blocked: Blocked };

/** ECS, tasks and coderd do their part, then a look looks; what takes long is over at the end. */
function roundFrom(
  code: number,
  codes: TwoPoolsCodes,
  { callsAt, blocked }: BlockedRules,
): readonly number[] {
  const scheduled = everyWay(codes.unpack(code).map(withoutSurplus)).map((pools) =>
    pools.map((pool, at) => calmed(started(pool, at === blocked))),
  );
  const looks = new Set(scheduled.flatMap(served).map((pools) => codes.pack(pools)));
  const after = [...looks].map((look) => {
    const acted = callsAt(look).reduce(carriedOut, codes.unpack(look));
    return codes.pack(acted.map((pool, at) => timeIsOver(pool, at === blocked)));
  });
  return [...new Set(after)];
}

/** One of each. */
function everyWay(options: readonly (readonly SmallPool[])[]): readonly TwoPools[] {
  return options.reduce<readonly TwoPools[]>(
    (ways, pools) => ways.flatMap((way) => pools.map((pool) => [...way, pool])),
    [[]],
  );
}

/** Every pool that may be left once ECS has stopped what is too much. */
function withoutSurplus(pool: SmallPool): readonly SmallPool[] {
  const free = [...pool.places.keys()].filter((slot) => isFree(pool.places[slot] ?? 'none'));
  if (tasksIn(pool) <= pool.desired || free.length === 0) return [pool];
  return free.flatMap((slot) => withoutSurplus(withPlace(pool, slot, 'none')));
}

/** ECS places what is missing, or says that it cannot. */
function started(pool: SmallPool, isBlocked: boolean): SmallPool {
  const missing = pool.desired - tasksIn(pool);
  if (missing <= 0) return pool;
  if (isBlocked) return { ...pool, isUnplaced: true };
  let rest = missing;
  const places = pool.places.map((place) => (place === 'none' && rest-- > 0 ? 'pending' : place));
  return { ...pool, places, isUnplaced: false };
}

const CALMED: Readonly<Record<Place, Place>> = {
  none: 'none',
  pending: 'idle',
  booting: 'idle',
  idle: 'idle',
  busy: 'idle',
  asked: 'left',
  finishing: 'left',
  left: 'left',
};

function calmed(pool: SmallPool): SmallPool {
  return { ...pool, places: pool.places.map((place) => CALMED[place]) };
}

/** Every way to hand all jobs to idle daemons. */
function served(pools: TwoPools): readonly TwoPools[] {
  const ways = pools.flatMap((pool, at) => {
    const slot = pool.places.indexOf('idle');
    if (slot < 0) return [];
    const waiting = servedBy(at).filter((from) => (pools[from]?.pending ?? 0) > 0);
    return waiting.map((from) => withoutJob(pools.with(at, withPlace(pool, slot, 'busy')), from));
  });
  return ways.length === 0 ? [pools] : ways.flatMap(served);
}

/** A guard that has left exits; an event says for six hours that ECS cannot place a task. */
function timeIsOver(pool: SmallPool, isBlocked: boolean): SmallPool {
  const places = pool.places.map((place) => (place === 'left' ? 'none' : place));
  return { ...pool, places, isUnplaced: pool.isUnplaced && isBlocked };
}

/** Jobs wait only where ECS places no task for them; each pool has what the configuration keeps; at most one more is tried. */
function isSettled(pools: TwoPools, { limits, blocked }: BlockedRules): boolean {
  const isAtRest = pools.every(({ places, desired, pending }, at) => {
    const there = tasksIn({ places });
    const isIdle = places.every((place) => place === 'none' || place === 'idle');
    const probes = at === blocked ? 1 : 0;
    const canWait = at === blocked && !otherCanServe(at);
    return isIdle && (pending === 0 || canWait) && desired >= there && desired <= there + probes;
  });
  return isAtRest && isKept(pools, limits, blocked);
}

/** Whether the jobs of a pool run in the other one too. */
function otherCanServe(pool: number): boolean {
  return servedBy(1 - pool).includes(pool);
}

/** The floors; or as much of the stock as `maxTasks` leaves room for, wherever it is. */
function isKept(pools: TwoPools, { min, hasStock, maxTasks }: TwoPoolsLimits, blocked: Blocked): boolean {
  const there = pools.map(tasksIn);
  const sum = there.reduce((total, tasks) => total + tasks, 0);
  if (hasStock) return sum >= 1 && sum <= maxTasks;
  return there.every((tasks, at) => tasks === min[at] || (at === blocked && tasks <= (min[at] ?? 0)));
}
