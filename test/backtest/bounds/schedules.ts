/** Schedules without any wait, by hand and by chance: what a bound may not be above. */
import type { BoundJob, BoundPool } from '../../../backtest/bounds/demand.ts';
import type { Random } from '../../../simulator/base/random.ts';

/** A task: its pool, and from its first job's start to its last job's end. */
type Task = { readonly pool: number; readonly fromMs: number; readonly toMs: number };

/** Said here once more, in its own words, so that the bound is checked against it. */
function dollarsOf(tasks: readonly Task[], pools: readonly BoundPool[]): number {
  return tasks.reduce((sum, { pool, fromMs, toMs }) => {
    const { startMs = 0, dollarsPerHour = 0 } = pools[pool] ?? {};
    return sum + (Math.max(60_000, startMs + toMs - fromMs) / 3_600_000) * dollarsPerHour;
  }, 0);
}

/** Jobs in an order in which a task can take the one after the other: those of no length before others of the same start. */
function inTurn(jobs: readonly BoundJob[]): readonly BoundJob[] {
  return jobs.toSorted((a, b) => a.startMs - b.startMs || a.durationMs - b.durationMs);
}

/** What the next job can do: a place among the tasks, and the task as it is then. */
function movesOf({ startMs, durationMs, pools }: BoundJob, tasks: readonly Task[]) {
  const toMs = startMs + durationMs;
  return [
    ...tasks.flatMap((task, place) =>
      task.toMs <= startMs && pools.includes(task.pool) ? [{ place, task: { ...task, toMs } }] : [],
    ),
    ...pools.map((pool) => ({ place: tasks.length, task: { pool, fromMs: startMs, toMs } })),
  ];
}

/** By trying all schedules. */
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

/** Some schedule: the more `thrift`, 0 to 1, the more often a job takes what costs the least at that moment. */
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
