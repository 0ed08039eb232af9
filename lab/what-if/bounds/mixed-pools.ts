/**
 * Computes the lower bound for jobs that fit several pools, as a linear program: a flow of tasks
 * along the time of each pool. A job takes an idle or new task of one of its pools, and returns it
 * at its end.
 *
 * The result is a bound, not always a schedule, for three reasons. A job may be split among pools,
 * although solutions are almost always whole. Tasks of a pool are interchangeable: to stop one, it
 * is enough that one is idle and one is old enough for Fargate's minimum. A piece of more than
 * `MOST_WITH_MINIMUM` jobs ignores the minimum, which slows the program down and matters least when
 * many jobs run.
 */
import { type Bill, type BoundJob, type BoundPool, eventsOf, LEAST_BILLED_MS } from './demand.ts';
import { LinearProgram, type Sum } from './linear-program.ts';
import type { Piece } from './pieces.ts';

const MOST_WITH_MINIMUM = 200;

/** The bill of one unit of a variable. */
type Billed = { readonly pool: number; readonly ms: number; readonly launches: number };

export async function billMixedPools(
  { jobs, pools: used }: Piece,
  pools: readonly BoundPool[],
): Promise<readonly (readonly [pool: number, bill: Bill])[]> {
  const flow = new TaskFlow(pools);
  const choices = jobs.map((job) => flow.addChoice(job));
  for (const pool of used) {
    const own = jobs.flatMap((job, index) => {
      const here = choices[index]?.get(pool);
      return here === undefined ? [] : [{ ...job, here }];
    });
    flow.addPool(pool, own, { hasMinimum: jobs.length <= MOST_WITH_MINIMUM });
  }
  return flow.solve(used);
}

/** A job and the variable that says whether it runs in the pool at hand. */
type PoolJob = BoundJob & { readonly here: number };

/** A change of the number of idle tasks of a pool. Positive factors take or stop a task. */
type Step = {
  readonly atMs: number;
  readonly change: Sum;
  readonly canStop: boolean;
  /** The launch whose task reaches Fargate's minimum here. */
  readonly old?: number;
};

class TaskFlow {
  readonly #program = new LinearProgram();
  readonly #billed: Billed[] = [];
  readonly #pools: readonly BoundPool[];

  constructor(pools: readonly BoundPool[]) {
    this.#pools = pools;
  }

  /** One variable for each pool. Their sum is 1. */
  addChoice({ pools, durationMs }: BoundJob): ReadonlyMap<number, number> {
    const choice = pools.map((pool) => [pool, this.#add(pool, durationMs)] as const);
    this.#program.addEquation(
      choice.map(([, variable]) => [variable, 1]),
      1,
    );
    return new Map(choice);
  }

  addPool(pool: number, jobs: readonly PoolJob[], { hasMinimum }: { readonly hasMinimum: boolean }): void {
    const startMs = this.#pools[pool]?.startMs ?? 0;
    const launches = jobs.map(() => this.#add(pool, startMs, 1));
    const isOldAfterMs = hasMinimum && startMs < LEAST_BILLED_MS ? LEAST_BILLED_MS - startMs : undefined;
    const steps = stepsOf(jobs, launches, isOldAfterMs);
    let idle: Sum = [];
    let old: Sum = [];
    for (const [index, step] of steps.entries()) {
      const lastsMs = (steps[index + 1]?.atMs ?? step.atMs) - step.atMs;
      const now = this.#add(pool, lastsMs);
      const stopped: Sum = step.canStop ? [[this.#add(pool, 0), 1]] : [];
      this.#program.addEquation([[now, 1], ...idle, ...step.change, ...stopped], 0);
      idle = [[now, -1]];
      if (isOldAfterMs !== undefined && step.canStop) old = this.#age(pool, old, step, stopped);
    }
  }

  /** Only tasks that reached Fargate's minimum may stop. `old` is the number of such tasks that run. */
  #age(pool: number, old: Sum, step: Step, stopped: Sum): Sum {
    const now = this.#add(pool, 0);
    const reached: Sum = step.old === undefined ? [] : [[step.old, -1]];
    this.#program.addEquation([[now, 1], ...old, ...reached, ...stopped], 0);
    return [[now, -1]];
  }

  async solve(used: readonly number[]): Promise<readonly (readonly [pool: number, bill: Bill])[]> {
    const values = await this.#program.solve();
    return used.map((pool) => {
      const own = this.#billed.flatMap((each, variable) =>
        each.pool === pool ? [{ ...each, count: values[variable] ?? 0 }] : [],
      );
      const billedMs = own.reduce((sum, { ms, count }) => sum + ms * count, 0);
      const launches = own.reduce((sum, each) => sum + each.launches * each.count, 0);
      return [pool, { billedMs, launches: Math.round(launches) }];
    });
  }

  #add(pool: number, ms: number, launches = 0): number {
    this.#billed.push({ pool, ms, launches });
    return this.#program.addVariable((ms / 1000) * (this.#pools[pool]?.dollarsPerHour ?? 0));
  }
}

/** `isOldAfterMs`: Fargate's minimum without the start. Undefined if the minimum does not matter. */
function stepsOf(
  jobs: readonly PoolJob[],
  launches: readonly number[],
  isOldAfterMs: number | undefined,
): readonly Step[] {
  const steps = eventsOf(jobs).map(({ atMs, job, isStart }): Step => {
    const here = jobs[job]?.here ?? 0;
    if (!isStart) return { atMs, change: [[here, -1]], canStop: true };
    const launched = [launches[job] ?? 0, -1] as const;
    return { atMs, change: [[here, 1], launched], canStop: false };
  });
  if (isOldAfterMs === undefined) return steps;
  const olds = jobs.map(({ startMs }, job): Step => {
    return { atMs: startMs + isOldAfterMs, change: [], canStop: true, old: launches[job] ?? 0 };
  });
  return [...steps, ...olds].toSorted((a, b) => a.atMs - b.atMs);
}
