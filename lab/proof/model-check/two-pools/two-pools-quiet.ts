/**
 * Computes how two pools go on in a quiet world. Guards and daemons work, every job ends, every
 * call arrives, and no job is submitted. ECS places all tasks, or none of one pool at all. Then
 * every job that can run must run, and both pools must settle at what the configuration keeps.
 */
import { settlingJudge } from '../progress/settling.ts';
import { missingIn, surplusIn } from '../world/scheduler.ts';
import { type Judge, judgeAll } from '../world/search.ts';
import {
  type Call,
  carriedOut,
  describePools,
  isFree,
  SLOTS,
  type SmallPool,
  scheduledIn,
  servedBy,
  type TwoPools,
  type TwoPoolsCodes,
  type TwoPoolsLimits,
  tasksIn,
  withoutJob,
  withSlot,
} from './two-pools-state.ts';

export type QuietRules = {
  readonly limits: TwoPoolsLimits;
  readonly callsAt: (code: number) => readonly Call[];
};

/** The pool for which ECS cannot place any task; undefined if ECS places all tasks. */
type Blocked = number | undefined;

const BLOCKED: readonly Blocked[] = [undefined, 0, 1];

export function settlesFrom(codes: TwoPoolsCodes, rules: QuietRules): Judge {
  return judgeAll(
    BLOCKED.map((blocked) =>
      settlingJudge({
        after: (code) => roundFrom(code, codes, { ...rules, blocked }),
        isSettled: (code) => isSettled(codes.unpack(code), { ...rules, blocked }),
        describe: (code) => describePools(codes.unpack(code)),
      }),
    ),
  );
}

type BlockedRules = QuietRules & { readonly blocked: Blocked };

/** The states after one round: ECS, tasks and coderd act, then a look; waits are over at the end. */
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

function everyWay(options: readonly (readonly SmallPool[])[]): readonly TwoPools[] {
  return options.reduce<readonly TwoPools[]>(
    (ways, pools) => ways.flatMap((way) => pools.map((pool) => [...way, pool])),
    [[]],
  );
}

/** The pool after ECS has stopped its surplus, in every way. */
function withoutSurplus(pool: SmallPool): readonly SmallPool[] {
  const free = [...pool.slots.keys()].filter((slot) => isFree(pool.slots[slot] ?? 'none'));
  if (surplusIn(scheduledIn(pool)) === 0 || free.length === 0) return [pool];
  return free.flatMap((slot) => withoutSurplus(withSlot(pool, slot, 'none')));
}

/** The pool after ECS has placed its missing tasks, or has said that it cannot. */
function started(pool: SmallPool, isBlocked: boolean): SmallPool {
  const missing = missingIn(scheduledIn(pool));
  if (missing === 0) return pool;
  if (isBlocked) return { ...pool, isUnplaced: true };
  let rest = missing;
  const slots = pool.slots.map((state) => (state === 'none' && rest-- > 0 ? 'pending' : state));
  return { ...pool, slots, isUnplaced: false };
}

function calmed(pool: SmallPool): SmallPool {
  return { ...pool, slots: pool.slots.map((state) => SLOTS[state].calm) };
}

/** The pools after coderd has handed all possible jobs to idle daemons, in every way. */
function served(pools: TwoPools): readonly TwoPools[] {
  const ways = pools.flatMap((pool, at) => {
    const slot = pool.slots.indexOf('idle');
    if (slot < 0) return [];
    const waiting = servedBy(at).filter((from) => (pools[from]?.pending ?? 0) > 0);
    return waiting.map((from) => withoutJob(pools.with(at, withSlot(pool, slot, 'busy')), from));
  });
  return ways.length === 0 ? [pools] : ways.flatMap(served);
}

/** Guards that have left exit. The event about placement expires unless ECS still cannot place tasks. */
function timeIsOver(pool: SmallPool, isBlocked: boolean): SmallPool {
  const slots = pool.slots.map((state) => (state === 'left' ? 'none' : state));
  return { ...pool, slots, isUnplaced: pool.isUnplaced && isBlocked };
}

/** Jobs wait only for unplaceable tasks, each pool has what it keeps, and one task more may be tried. */
function isSettled(pools: TwoPools, { limits, blocked }: BlockedRules): boolean {
  const isAtRest = pools.every(({ slots, desired, pending }, at) => {
    const there = tasksIn({ slots });
    const isIdle = slots.every((state) => state === 'none' || state === 'idle');
    const probes = at === blocked ? 1 : 0;
    const canWait = at === blocked && !otherCanServe(at);
    return isIdle && (pending === 0 || canWait) && desired >= there && desired <= there + probes;
  });
  return isAtRest && isKept(pools, limits, blocked);
}

function otherCanServe(pool: number): boolean {
  return servedBy(1 - pool).includes(pool);
}

/** Whether the floors are kept; or as much of the stock as `maxTasks` allows, in either pool. */
function isKept(pools: TwoPools, { min, hasStock, maxTasks }: TwoPoolsLimits, blocked: Blocked): boolean {
  const there = pools.map(tasksIn);
  const sum = there.reduce((total, tasks) => total + tasks, 0);
  if (hasStock) return sum >= 1 && sum <= maxTasks;
  return there.every((tasks, at) => tasks === min[at] || (at === blocked && tasks <= (min[at] ?? 0)));
}
