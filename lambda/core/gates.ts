/**
 * Gates: which pools are kept awake, or woken, so that coderd does what is due. One daemon opens the gate for every tag set that its tags
 * contain, so the pools are chosen that cost least together: those that are awake before others, then the cheapest.
 */
import type { EpochMs, PoolName } from './brands.ts';
import type { Floors } from './floors.ts';
import type { Transition } from './forecast.ts';
import { type Call, openersOf } from './lookout.ts';
import { by } from './order.ts';
import { priceOf } from './prices.ts';
import type { PoolSight } from './supply.ts';

/** A pool that opens a gate, and for what. */
export type Opening = {
  readonly sight: PoolSight;
  /** For which it has to be there now. */
  readonly due: readonly Transition[];
  /** For which it stays, since it is there. */
  readonly soon: readonly Transition[];
};

/** Chooses the pools that open the gates for all calls. */
export function chooseOpenings(
  calls: readonly Call[],
  floorsOf: (sight: PoolSight) => Floors,
  now: EpochMs,
): ReadonlyMap<PoolName, Opening> {
  const needs = calls.filter(({ isOpen }) => !isOpen).flatMap((call) => needOf(call, now));
  const chosen = cheapestCover(
    needs.map(({ pools }) => pools),
    (sight) => costOf(sight, floorsOf(sight)),
  );
  const openings = new Map<PoolName, Opening>();
  for (const { due, soon, pools } of needs) {
    const sight = pools.find((pool) => chosen.has(pool));
    if (sight === undefined) continue;
    const before = openings.get(sight.pool.name);
    openings.set(sight.pool.name, {
      sight,
      due: [...(before?.due ?? []), ...due],
      soon: [...(before?.soon ?? []), ...soon],
    });
  }
  return openings;
}

type Need = Pick<Opening, 'due' | 'soon'> & { readonly pools: readonly PoolSight[] };

/** What is due wakes a pool; for what comes a little later only one that is awake is kept. */
function needOf({ pools, due, ahead }: Call, now: EpochMs): readonly Need[] {
  if (due.length > 0) return [{ pools, due, soon: [] }];
  const awake = pools.filter(
    (sight) => openersOf(sight) > 0 && (ahead[0]?.at ?? 0) <= now + sight.pool.wake.maxDelayMs,
  );
  const until = now + Math.max(0, ...awake.map(({ pool }) => pool.wake.maxDelayMs));
  return awake.length === 0 ? [] : [{ pools: awake, due, soon: ahead.filter(({ at }) => at <= until) }];
}

/** More than any task costs an hour, in micro-dollars: to launch one is worse than to keep one. */
const LAUNCH = 1e9;
/** A pool whose starts fail is the last resort. */
const FAILING = 1e12;

/** What it costs to have one daemon there that would not be there anyway. */
function costOf(sight: PoolSight, floors: Floors): number {
  const isBusy = sight.tasks.some(({ state, use }) => state === 'working' && use === 'busy');
  if (isBusy || floors.min + floors.warm > 0) return 0;
  const price = priceOf(sight.pool);
  if (openersOf(sight) > 0) return price;
  return price + (sight.failing.isTripped ? FAILING : LAUNCH);
}

/** Looks at no more combinations; the first one that is found is good, and mostly the best. */
const MOST_STEPS = 20_000;

/** The pools that answer every need at the least cost together. Exact, but for the bound on steps. */
export function cheapestCover(
  needs: readonly (readonly PoolSight[])[],
  costOfPool: (sight: PoolSight) => number,
): ReadonlySet<PoolSight> {
  const costs = new Map(needs.flat().map((sight) => [sight, costOfPool(sight)]));
  const cost = (sight: PoolSight): number => costs.get(sight) ?? 0;
  // those with the fewest ways first: they leave no choice
  const inOrder = needs
    .toSorted(by(({ length }) => length))
    .map((options) => options.toSorted(by(cost, ({ pool }) => pool.name)));
  let best: { readonly chosen: ReadonlySet<PoolSight>; readonly total: number } | undefined;
  let steps = 0;
  const search = (chosen: ReadonlySet<PoolSight>, total: number): void => {
    if (++steps > MOST_STEPS || (best !== undefined && total >= best.total)) return;
    const open = inOrder.find((options) => !options.some((sight) => chosen.has(sight)));
    if (open === undefined) best = { chosen, total };
    else for (const sight of open) search(new Set([...chosen, sight]), total + cost(sight));
  };
  search(new Set(), 0);
  return best?.chosen ?? new Set();
}
