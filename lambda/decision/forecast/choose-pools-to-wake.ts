/**
 * The wake assignments: which pools stay awake or wake so that coderd makes the transitions that
 * are due, from the wake demands. One daemon opens the gate for every tag set that its tags
 * contain. The chosen pools cost little together: pools that are awake come first, then the cheapest.
 */
import type { Transition } from '../demand/transitions.ts';
import type { EpochMs, PoolName } from '../model/brands.ts';
import { HOUR_MS } from '../model/units.ts';
import { launchCost, priceOf } from '../settings/prices.ts';
import { isHeldBack, launchesElsewhere } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';
import type { Floors } from './floors.ts';
import { cheapCover } from './set-cover.ts';
import { hasWrongKey, leadOf, openersOf, type WakeDemand } from './wake-demand.ts';

/** The transitions for which one pool opens the gate. */
export type WakeAssignment = {
  /** Transitions for which the pool must have a daemon now. */
  readonly due: readonly Transition[];
  /** For which the pool stays: a restart would cost more, or they may not be made yet. */
  readonly soon: readonly Transition[];
};

/** Chooses the pools that open the gates for all wake demands. */
export function assignWakes(
  demands: readonly WakeDemand[],
  floorsOf: (view: PoolView) => Floors,
  now: EpochMs,
): ReadonlyMap<PoolName, WakeAssignment> {
  const needs = demands.filter(({ isOpen }) => !isOpen).flatMap((demand) => openingNeedsOf(demand, now));
  const candidates = new Set(needs.flatMap(({ pools }) => pools));
  const costs = new Map([...candidates].map((view) => [view, costOf(view, floorsOf(view))]));
  const chosen = new Set(
    [...Map.groupBy(needs, ({ pools: [first] }) => first?.organization).values()].flatMap((together) => [
      ...cheapCover(
        together.map(({ pools }) => pools),
        costs,
      ),
    ]),
  );
  const byPool = Map.groupBy(needs, ({ pools }) => pools.find((pool) => chosen.has(pool))?.pool.name);
  return new Map(
    [...byPool].flatMap(([name, own]) => {
      const assigned = { due: own.flatMap(({ due }) => due), soon: own.flatMap(({ soon }) => soon) };
      return name === undefined ? [] : [[name, assigned] as const];
    }),
  );
}

type OpeningNeed = WakeAssignment & { readonly pools: readonly PoolView[] };

/** What is due wakes a pool; what comes a little later only keeps one awake. */
function openingNeedsOf(
  { pools, due, ahead, presumed, wakeFor }: WakeDemand,
  now: EpochMs,
): readonly OpeningNeed[] {
  const staysUntil = (views: readonly PoolView[]): number =>
    now + Math.max(0, ...views.map((view) => stayMs(view, wakeFor)));
  const soonUntil = (until: number): readonly Transition[] => [
    ...presumed,
    ...ahead.slice(due.length).filter(({ at }) => at <= until),
  ];
  if (due.length > 0) return [{ pools, due, soon: soonUntil(staysUntil(pools)) }];
  const [first] = ahead;
  const isAnySoon = (until: number): boolean =>
    presumed.length > 0 || (first !== undefined && first.at <= until);
  const awake = pools.filter((view) => openersOf(view) > 0 && isAnySoon(staysUntil([view])));
  return awake.length === 0 ? [] : [{ pools: awake, due, soon: soonUntil(staysUntil(awake)) }];
}

/** For how many milliseconds it is cheaper to keep a task than to stop it and start another one. */
export function stayMs({ pool, startTime }: PoolView, wakeFor: WakeDemand['wakeFor']): number {
  const ms = (launchCost(pool, startTime.p50Ms) / (priceOf(pool) / 1e6)) * HOUR_MS;
  return wakeFor === 'autostart' ? ms + leadOf({ pool, startTime }) : ms;
}

/** For a pool that has to launch. More than any task costs, so keeping one is better. */
const LAUNCH_PENALTY = 1e9;
/** For the last resort: starts or placement fail, another part of the pool launches, or the daemons have another key. */
const FAILING_PENALTY = 1e12;

/** The cost of one daemon that the pool would not have for another reason. */
function costOf(view: PoolView, floors: Floors): number {
  const price = priceOf(view.pool);
  if (hasWrongKey(view)) return price + FAILING_PENALTY;
  const isBusy = view.tasks.some(({ state, use }) => state === 'working' && use === 'busy');
  if (isBusy || floors.min + floors.warm > 0) return 0;
  if (openersOf(view) > 0) return price;
  return price + (isHeldBack(view) || launchesElsewhere(view) ? FAILING_PENALTY : LAUNCH_PENALTY);
}
