/** Judges at each look whether limits are exceeded, by what was allowed when the tasks came. */
import { sum } from '../../../lambda/decision/model/collections.ts';
import { type PoolPlan, REPLACING } from '../../../lambda/decision/model/plan.ts';
import type { PoolTasks } from './tasks-by-pool.ts';
import { partsOf } from './world/plan.ts';
import type { WorldEvents } from './world/world-events.ts';

type Tasks = ReadonlyMap<string, PoolTasks>;

type Use = {
  readonly limit: string;
  readonly tasks: number;
  /** The tasks that ECS runs or will run. */
  readonly wanted: number;
  /** What the limit allows now. */
  readonly most: number;
  /** So many tasks were allowed since the last look, by a person or by ECS. 0: none of them changed a count. */
  readonly byOthers: number;
};

const NONE: PoolTasks = { wanted: 0, staying: 0, leaving: 0, uncounted: 0 };
/** The name of `maxTasks` among the limits. No pool has it. */
const ALL = '*';

export class Limits {
  readonly #events: WorldEvents;
  /** What was allowed at the last look. */
  readonly #allowed = new Map<string, number>();
  /** The count of each pool at the last look, as far as it was allowed. */
  readonly #counts = new Map<string, number>();
  /** The old tasks that ECS did not count at the last look. */
  readonly #uncounted = new Map<string, number>();
  /** How many of the changes by hand are judged. */
  #judged = 0;
  /** The most tasks since a look launched above `maxTasks` while a service was hidden. 0: there are no more than that. */
  #mostHidden = 0;

  constructor(events: WorldEvents) {
    this.#events = events;
  }

  /** One name for each limit that is exceeded. */
  exceeded(
    pools: readonly PoolPlan[],
    tasks: Tasks,
  ): readonly ('tasksAboveMax' | 'tasksAboveMaxTasks' | 'aboveMaxTasksHidden')[] {
    const byHand = this.#events.countsByHand.slice(this.#judged);
    this.#judged += byHand.length;
    const all = sumOf(tasks);
    const byEcs = pools.filter(({ name }) => this.#isStartedByEcs(name, tasks.get(name) ?? NONE));
    const above = pools.filter((plan) => {
      const { name } = plan;
      const own = tasks.get(name) ?? NONE;
      const changes = byHand.filter(({ pool }) => pool === name).map(({ tasks }) => tasks);
      const most = maxOf(this.#events, plan) + this.#shareOf(plan);
      const byOthers = Math.max(0, ...changes, byEcs.includes(plan) ? countOf(own) : 0);
      const refilled = this.#refilledBy(name, { ...own, most, byOthers });
      return this.#isExceeded({
        limit: name,
        tasks: own.staying,
        wanted: own.wanted,
        most,
        byOthers: Math.max(byOthers, refilled),
      });
    });
    const { maxTasks: most } = this.#events.plan;
    const changes = byHand.map(({ allTasks }) => allTasks);
    const byOthers = Math.max(0, ...changes, byEcs.length > 0 ? countOf(all) : 0);
    const used = all.staying + all.leaving;
    const isHidden = this.#isAboveHidden(Math.max(used, all.wanted), most);
    const isAbove = this.#isExceeded({ limit: ALL, tasks: used, wanted: all.wanted, most, byOthers });
    return [
      ...above.map(() => 'tasksAboveMax' as const),
      ...(isAbove ? [isHidden ? ('aboveMaxTasksHidden' as const) : ('tasksAboveMaxTasks' as const)] : []),
    ];
  }

  /**
   * What was allowed once stays allowed until it has left: a world begins above a limit, an override ends, a person
   * sets a count, ECS starts tasks of its own.
   */
  #isExceeded({ limit, tasks, wanted, most, byOthers }: Use): boolean {
    const before = Math.max(this.#allowed.get(limit) ?? Number.POSITIVE_INFINITY, byOthers);
    const allowed = Math.max(most, Math.min(before, Math.max(tasks, wanted)));
    this.#allowed.set(limit, allowed);
    return tasks > allowed;
  }

  /**
   * While a deployment is in progress no look lowers a count, so ECS replaces each task that leaves: up to the
   * count, as far as it was allowed when it was raised.
   */
  #refilledBy(pool: string, use: PoolTasks & Pick<Use, 'most' | 'byOthers'>): number {
    const { most, leaving, byOthers } = use;
    const before = Math.max(this.#counts.get(pool) ?? 0, byOthers);
    const count = Math.min(countOf(use), Math.max(before, most + leaving));
    this.#counts.set(pool, count);
    return this.#isDeploying(pool) ? count : 0;
  }

  #isDeploying(name: string): boolean {
    const { world, fleet } = this.#events;
    const pool = fleet.pools.find((it) => it.name === name);
    const parts = pool === undefined ? [] : partsOf(pool);
    return parts
      .map((part) => world.service(part).state)
      .some(({ primary, older }) => primary.rolloutState === 'IN_PROGRESS' || older.length > 0);
  }

  /** After an early success ECS may no longer count the old tasks, and starts as many again. */
  #isStartedByEcs(pool: string, { uncounted }: PoolTasks): boolean {
    const before = this.#uncounted.get(pool) ?? 0;
    this.#uncounted.set(pool, uncounted);
    return uncounted > before;
  }

  /** A pool may exceed `max` by a share while it replaces tasks (docs/adr/0009). */
  #shareOf(plan: PoolPlan): number {
    const share = Math.ceil((maxOf(this.#events, plan) * this.#events.plan.atOncePercent) / 100);
    return Math.min(sum(plan.why, replacedBy), Math.max(1, share));
  }

  /** Whether so many tasks were launched while ECS's lists lacked a service. More of them are not excused. */
  #isAboveHidden(tasks: number, most: number): boolean {
    const { unlisted, unreadable } = this.#events.world.ecs;
    const isHidden = unlisted.size + unreadable.size > 0;
    if (tasks <= most) this.#mostHidden = 0;
    else if (isHidden) this.#mostHidden = Math.max(this.#mostHidden, tasks);
    return tasks <= this.#mostHidden;
  }
}

/** The pool's `max`, or the count of an override above it. */
export function maxOf(
  { fleet }: WorldEvents,
  { name, overrides }: Pick<PoolPlan, 'name' | 'overrides'>,
): number {
  const max = fleet.pools.find((pool) => pool.name === name)?.max ?? 0;
  return Math.max(max, ...overrides.map(({ count = 0 }) => count));
}

/** How many tasks a reason replaces: the count has room for their replacements. */
export function replacedBy(reason: PoolPlan['why'][number]): number {
  // one task launches beside those whose daemons coderd does not list
  if (reason.code === 'launching-beside-unseen' || reason.code === 'launching-to-be-seen') return 1;
  return 'tasks' in reason && REPLACING.some((code) => code === reason.code) ? reason.tasks : 0;
}

/** What ECS runs or will run, the old tasks included that it does not count. */
const countOf = ({ wanted, uncounted }: PoolTasks): number => wanted + uncounted;

function sumOf(tasks: Tasks): PoolTasks {
  const total = (of: (pool: PoolTasks) => number): number => sum([...tasks.values()], of);
  return {
    wanted: total(({ wanted }) => wanted),
    staying: total(({ staying }) => staying),
    leaving: total(({ leaving }) => leaving),
    uncounted: total(({ uncounted }) => uncounted),
  };
}
