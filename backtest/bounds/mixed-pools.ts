/**
 * What tasks cost at least where jobs can run in one of several pools: a flow of tasks along each pool's time, as a
 * linear program. A job takes a task of one of its pools, idle or new, and gives it back to the same pool at its end.
 *
 * A bound in three ways. Jobs may be divided among pools (solutions are whole nearly always, and schedules then). Tasks of a pool
 * are alike: for one to be stopped, it is enough that one is idle and one is old enough for Fargate's minimum. And in pieces of
 * more than `MOST_WITH_MINIMUM` jobs the minimum is left out: it makes the program slow, and matters least where much goes on.
 */
import { type Bill, type BoundJob, type BoundPool, LEAST_BILLED_MS } from './demand.ts';
import { eventsOf } from './events.ts';
import { LinearProgram, type Sum } from './linear-program.ts';
import type { Piece } from './pieces.ts';

const MOST_WITH_MINIMUM = 200;

/** What one of a variable is billed. */
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

/** What changes how many tasks of a pool are idle: positive factors take or stop one. */
type Step = {
  readonly atMs: number;
  readonly change: Sum;
  readonly canStop: boolean;
  /** The launch that reaches the minimum here. */
  readonly old?: number;
};

class TaskFlow {
  readonly #program = new LinearProgram();
  readonly #billed: Billed[] = [];
  readonly #pools: readonly BoundPool[];

  constructor(pools: readonly BoundPool[]) {
    this.#pools = pools;
  }

  /** A variable for each pool, together 1. */
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

  /** Stopped tasks have been old enough: `old` is how many are and run. */
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

/** `isOldAfterMs`: the minimum less a start; undefined where it does not matter. */
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
