/**
 * How the parts of a pool share its limits and floors. One part launches at a time: the cheapest
 * whose tasks ECS can start. The floors go to the cheapest part first, and the next one has what is
 * missing. So a part needs no other rule than any pool, and tasks move back to Spot once it is there
 * again.
 *
 * Spot costs what it costs: from two interruptions in an hour on, its price contains what the lost
 * builds cost.
 */
import { type Brand, type EpochMs, isSpotPart, type PoolName, poolOfPart } from '../model/brands.ts';
import { by, sum } from '../model/collections.ts';
import type { Doubt } from '../model/plan.ts';
import { launchCost, priceOf } from '../settings/prices.ts';
import { isHeldBack, mayGiveUp, measure } from '../supply/capacity.ts';
import { countInterruptions, type Share, type SpotProblem } from '../supply/spot.ts';
import type { PoolView } from '../supply/supply.ts';
import { isIdle } from '../supply/task-state.ts';
import type { TurnedPool } from './rolling.ts';

/** One interruption is chance. */
const LEAST_INTERRUPTIONS = 2;
/** A person waits for another start and build, and has to clean up what the lost one has left. */
const LOST_MINUTES = 10;
const LEAST_HOURS = 0.1;

/** `price`: of a task with the builds that it may lose, in micro-dollars an hour. */
type Priced = Pick<SpotProblem, 'interruptions' | 'price'> & { readonly view: PoolView };

/** Counts what AWS took back of a part on Spot. `now` is AWS's time. */
function priceWithLosses({ pool, starts, startTime }: PoolView, now: EpochMs): Omit<Priced, 'view'> {
  const listed = isSpotPart(pool.name) ? starts.map(({ task }) => task) : [];
  const { tasks, taskHours } = countInterruptions(listed, now);
  if (tasks < LEAST_INTERRUPTIONS) return { interruptions: tasks, price: priceOf(pool) };
  const loss = LOST_MINUTES * pool.waiting.person + launchCost(pool, startTime.p50Ms);
  const lost = Math.round((1e6 * tasks * loss) / Math.max(LEAST_HOURS, taskHours));
  return { interruptions: tasks, price: priceOf(pool) + lost };
}

/** A pool whose turns are marked, and that has its share: what later stages take. Only `shareParts` makes one. */
export type SharedPool = Brand<PoolView, 'SharedPool'>;

type DoubtsOf = (view: PoolView) => readonly Doubt[];

/** Gives every part of a pool what the others leave it. Pools without parts stay as they are. `now` is AWS's time. */
export function shareParts(
  views: readonly TurnedPool[],
  doubtsOf: DoubtsOf,
  now: EpochMs,
): readonly SharedPool[] {
  const parts = Map.groupBy(views, ({ pool }): PoolName => poolOfPart(pool.name));
  const shared = new Map<PoolView, PoolView>(
    [...parts.values()].flatMap((own) => (own.length > 1 ? share(own, doubtsOf, now) : [])),
  );
  const all: readonly PoolView[] = views.map((view) => shared.get(view) ?? view);
  return all as readonly SharedPool[];
}

function share(
  parts: readonly PoolView[],
  doubtsOf: DoubtsOf,
  now: EpochMs,
): readonly (readonly [PoolView, PoolView])[] {
  const priced = parts.map((view): Priced => ({ view, ...priceWithLosses(view, now) }));
  const used = priced
    .filter(({ view }) => !view.pool.retiring)
    .toSorted(by('price'))
    .map(({ view }) => view);
  const launching = used.find((view) => problemOf(view) === undefined) ?? used[0];
  return parts.map((view) => {
    const others = parts.filter((other) => other !== view);
    const elsewhere = sum(others, (other) => takenBy(other, doubtsOf(other)));
    const cheaper = used.slice(0, Math.max(0, used.indexOf(view))).flatMap(({ tasks }) => tasks);
    const working = cheaper.filter(({ state }) => state === 'working');
    const { max } = view.pool;
    const pool = { ...view.pool, max: Math.max(0, max - elsewhere) };
    const given: Share = {
      ...{ max, elsewhere, isLaunching: view === launching },
      cheaper: { working: working.length, idle: working.filter(isIdle).length },
      instead:
        view === launching
          ? insteadOf(
              priced.filter((other) => other.view !== view),
              priceOf(pool),
            )
          : undefined,
      isNeededElsewhere: others.some((other) => measure(other).inUse + measure(other).starting > 0),
    };
    return [view, { ...view, pool, share: given }] as const;
  });
}

/** Its tasks, those that start in vain too, and desired ones that ECS cannot start unless the count gives them up. */
function takenBy(view: PoolView, doubts: readonly Doubt[]): number {
  const capacity = measure(view);
  const starting = view.tasks.filter(({ state }) => state === 'starting').length;
  return capacity.total - capacity.starting + starting + (mayGiveUp(capacity, doubts) ? 0 : view.missing);
}

/** Why no task can start in a part. */
function problemOf(view: PoolView): SpotProblem['because'] | undefined {
  if (view.service === undefined) return 'no-service';
  if (!isHeldBack(view)) return undefined;
  return view.placement === undefined ? 'starts-failing' : 'placement-failing';
}

function insteadOf(others: readonly Priced[], price: number): SpotProblem | undefined {
  const spot = others.find(({ view: { pool } }) => isSpotPart(pool.name) && !pool.retiring);
  if (spot === undefined) return undefined;
  const { view, ...costs } = spot;
  const because = problemOf(view) ?? (costs.price > price ? 'interrupted' : undefined);
  return because === undefined ? undefined : { because, ...costs };
}
