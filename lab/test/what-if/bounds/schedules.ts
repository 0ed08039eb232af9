/**
 * Computes the cost of schedules without any wait, by exhaustive search and at random. A bound must
 * not exceed it.
 */
import type { BoundJob, BoundPool } from '../../../what-if/bounds/demand.ts';
import type { Random } from '../../../world/base/random.ts';

/** A task: its pool, the start of its first job and the end of its last job. */
type Task = { readonly pool: number; readonly fromMs: number; readonly toMs: number };

/** The billing rule, implemented independently of the bounds, so that tests compare both. */
function dollarsOf(tasks: readonly Task[], pools: readonly BoundPool[]): number {
  return tasks.reduce((sum, { pool, fromMs, toMs }) => {
    const { startMs = 0, dollarsPerHour = 0 } = pools[pool] ?? {};
    return sum + (Math.max(60_000, startMs + toMs - fromMs) / 3_600_000) * dollarsPerHour;
  }, 0);
}

/**
 * Sorts jobs so that a task can take one after the other: jobs of 0 s come before others with the
 * same start.
 */
function inTurn(jobs: readonly BoundJob[]): readonly BoundJob[] {
  return jobs.toSorted((a, b) => a.startMs - b.startMs || a.durationMs - b.durationMs);
}

/** The choices of the next job: the index of a task, and that task with the job. */
function movesOf({ startMs, durationMs, pools }: BoundJob, tasks: readonly Task[]) {
  const toMs = startMs + durationMs;
  return [
    ...tasks.flatMap((task, place) =>
      task.toMs <= startMs && pools.includes(task.pool) ? [{ place, task: { ...task, toMs } }] : [],
    ),
    ...pools.map((pool) => ({ place: tasks.length, task: { pool, fromMs: startMs, toMs } })),
  ];
}

/** The lowest cost of all schedules. */
export function leastDollars(jobs: readonly BoundJob[], pools: readonly BoundPool[]): number {
  const search = ([job, ...rest]: readonly BoundJob[], tasks: readonly Task[]): number => {
    if (job === undefined) return dollarsOf(tasks, pools);
    const costs = movesOf(job, tasks).map(({ place, task }) =>
      search(rest, [...tasks.slice(0, place), task, ...tasks.slice(place + 1)]),
    );
    return Math.min(...costs);
  };
  return search(inTurn(jobs), []);
}

/**
 * The cost of one random schedule. `thrift`: how often a job takes the cheapest choice of the
 * moment, 0 to 1.
 */
export function someDollars(
  jobs: readonly BoundJob[],
  pools: readonly BoundPool[],
  { random, thrift }: { readonly random: Random; readonly thrift: number },
): number {
  const tasks: Task[] = [];
  for (const job of inTurn(jobs)) {
    const moves = movesOf(job, tasks);
    const costOf = ({ place, task }: (typeof moves)[number]): number => {
      const before = tasks[place];
      return dollarsOf([task], pools) - (before === undefined ? 0 : dollarsOf([before], pools));
    };
    const cheapest = moves.reduce((a, b) => (costOf(b) < costOf(a) ? b : a));
    const move = random.next() < thrift ? cheapest : random.pick(moves);
    if (move !== undefined) tasks[move.place] = move.task;
  }
  return dollarsOf(tasks, pools);
}
