/** Divides jobs into pieces that share no task in at least one optimal schedule, with their pools. */
import { type BoundJob, type BoundPool, LEAST_BILLED_MS } from './demand.ts';

export type Piece = { readonly jobs: readonly BoundJob[]; readonly pools: readonly number[] };

/** `jobs` are sorted by start. */
export function piecesOf(jobs: readonly BoundJob[], pools: readonly BoundPool[]): readonly Piece[] {
  return cut(jobs, pools).map((own) => withoutDearer(own, pools));
}

/** Divides by pools, then by pauses, and repeats: a part has pauses that all jobs together do not have. */
function cut(jobs: readonly BoundJob[], pools: readonly BoundPool[]): readonly (readonly BoundJob[])[] {
  const parts = byPools(jobs).flatMap((own) => byPauses(own, pools));
  return parts.length <= 1 ? parts : parts.flatMap((own) => cut(own, pools));
}

/** Groups of jobs that no chain of shared pools connects. */
function byPools(jobs: readonly BoundJob[]): readonly (readonly BoundJob[])[] {
  let groups: readonly ReadonlySet<number>[] = [];
  for (const { pools } of jobs) {
    const isTouched = (group: ReadonlySet<number>): boolean => pools.some((pool) => group.has(pool));
    const touched = groups.filter(isTouched);
    const others = groups.filter((group) => !isTouched(group));
    groups = [...others, new Set([...pools, ...touched.flatMap((group) => [...group])])];
  }
  return groups.map((group) => jobs.filter(({ pools: [pool = -1] }) => group.has(pool)));
}

function byPauses(jobs: readonly BoundJob[], pools: readonly BoundPool[]): readonly (readonly BoundJob[])[] {
  const longestMs = Math.max(0, ...poolsOf(jobs).map((pool) => longestIdleMs(pools[pool])));
  const parts: BoundJob[][] = [];
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  for (const job of jobs) {
    if (job.startMs - busyUntilMs >= longestMs) parts.push([]);
    parts.at(-1)?.push(job);
    busyUntilMs = Math.max(busyUntilMs, job.startMs + job.durationMs);
  }
  return parts;
}

/**
 * The shortest pause in which one idle task saves nothing against two tasks. One task is billed its
 * start and the pause. Two tasks are billed two starts, or two minutes if they run only briefly.
 */
function longestIdleMs(pool: BoundPool | undefined): number {
  const startMs = pool?.startMs ?? 0;
  return Math.max(startMs, 2 * LEAST_BILLED_MS - startMs);
}

/** Removes each pool that another pool can always replace at no higher cost. */
function withoutDearer(jobs: readonly BoundJob[], pools: readonly BoundPool[]): Piece {
  const used = poolsOf(jobs);
  const left = used.filter((pool) => !used.some((other) => replaces(other, pool, jobs, pools)));
  const own = jobs.map((job) => ({ ...job, pools: job.pools.filter((pool) => left.includes(pool)) }));
  return { jobs: own, pools: left };
}

function replaces(
  better: number,
  pool: number,
  jobs: readonly BoundJob[],
  pools: readonly BoundPool[],
): boolean {
  const [a, b] = [pools[better], pools[pool]];
  if (better === pool || a === undefined || b === undefined) return false;
  const fits = (one: number, other: number): boolean =>
    jobs.every((job) => !job.pools.includes(other) || job.pools.includes(one));
  if (!fits(better, pool)) return false;
  const cheaper = [
    b.dollarsPerHour - a.dollarsPerHour,
    b.dollarsPerHour * b.startMs - a.dollarsPerHour * a.startMs,
  ];
  const isSame = cheaper.every((by) => by === 0) && fits(pool, better);
  return cheaper.every((by) => by >= 0) && (!isSame || better < pool);
}

function poolsOf(jobs: readonly BoundJob[]): readonly number[] {
  return [...new Set(jobs.flatMap(({ pools }) => pools))].sort((a, b) => a - b);
}
