/** Replays a trace before and after a change of the configuration, in pairs with the same seed. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { by } from '../../../lambda/decision/model/collections.ts';
import { estimatesOf, perMonth } from '../estimate/estimate.ts';
import { fittingOf, withoutUnservedJobs } from '../replay/fitting.ts';
import type { Figures } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import { orderOf } from '../search/compare.ts';
import type { Progress, WorkerPool } from '../search/worker-pool.ts';
import type { Trace } from '../trace/trace.ts';
import { type Difference, differenceOf, type Pair } from './difference.ts';
import { namesOf, type PoolPair, pairPools } from './pool-pairs.ts';
import {
  type ConfigChange,
  type GroupChange,
  type JobFits,
  MEASURES,
  type MeasureId,
  type PoolChange,
} from './result.ts';

type ChangeOptions = {
  readonly trace: Trace;
  /** Invalid lines of the file that were left out. */
  readonly skipped: number;
  readonly before: Deployment;
  readonly after: Deployment;
  /** One pair of replays for each. */
  readonly seeds: readonly number[];
  readonly region: string;
  readonly workerPool: WorkerPool;
  readonly progress: Progress;
};

type Pairs = readonly Pair<Figures>[];

/** The same options give the same figures, with any number of threads. */
export async function changeOf(options: ChangeOptions): Promise<ConfigChange> {
  const { trace, skipped, seeds } = options;
  const replays = await Promise.all(seeds.map((seed) => replayPair(options, seed)));
  const pairs = replays.map(({ before, after }) => ({ before: before.figures, after: after.figures }));
  const { name, from, to, jobs, outages } = trace;
  return {
    trace: { name, from, to, outages, skipped, jobs: jobs.length },
    seeds,
    fits: fitsOf(options),
    jobsOfPeople: differenceOf(pairs, ({ waitOfPeople }) => waitOfPeople.jobs).after,
    measures: measuresOf(pairs, trace),
    estimates: {
      before: estimatesOf(replays.map(({ before }) => before.days)),
      after: estimatesOf(replays.map(({ after }) => after.days)),
    },
    pools: poolsOf(pairs, options),
    groups: groupsOf(pairs),
  };
}

async function replayPair(options: ChangeOptions, seed: number): Promise<Pair<Run>> {
  const [before, after] = await Promise.all([
    replay(options.before, 'before', options, seed),
    replay(options.after, 'after', options, seed),
  ]);
  return { before, after };
}

async function replay(
  deployment: Deployment,
  side: keyof Pair<unknown>,
  { trace: whole, region, workerPool, progress }: ChangeOptions,
  seed: number,
): Promise<Run> {
  const { trace, config } = withoutUnservedJobs({ trace: whole, config: deployment });
  const order = orderOf({ trace, config, seed, region, valueOfMinute: 0 }, { policy: 'autoscaler' }, false);
  return workerPool.run(order, progress.add(`${side}, seed ${seed}`, 1));
}

function fitsOf({ trace, before, after }: ChangeOptions): JobFits {
  const fits = { both: 0, onlyBefore: 0, onlyAfter: 0, neither: 0 };
  const sides = [before, after].map((config) =>
    fittingOf({ pools: config.pools.filter(({ retiring }) => !retiring) }),
  );
  for (const job of trace.jobs) {
    const [isBefore, isAfter] = sides.map((fitting) => fitting(job).length > 0);
    fits[isBefore ? (isAfter ? 'both' : 'onlyBefore') : isAfter ? 'onlyAfter' : 'neither']++;
  }
  return fits;
}

function measuresOf(pairs: Pairs, trace: Trace): Record<MeasureId, Difference> {
  const rows = Object.entries(MEASURES).map(([id, measure]) => [
    id,
    differenceOf(pairs, (figures) => measure({ figures, trace })),
  ]);
  return Object.fromEntries(rows);
}

function poolsOf(pairs: Pairs, { trace, before, after }: ChangeOptions): readonly PoolChange[] {
  return pairPools(before.pools, after.pools).map((pools) => ({
    state: stateOf(pools),
    names: namesOf(pools),
    fitting: fittingJobs(pools, trace),
    dollarsPerMonth: poolDifference(pairs, pools, ({ tasks }, pool) =>
      perMonth(tasks.byPool[pool]?.dollars ?? 0, trace.to - trace.from),
    ),
    launches: poolDifference(pairs, pools, ({ tasks }, pool) => tasks.byPool[pool]?.launches ?? 0),
    jobs: poolDifference(pairs, pools, ({ waitByPool }, pool) => waitByPool[pool]?.jobs ?? 0),
  }));
}

function stateOf({ before, after }: PoolPair): PoolChange['state'] {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  return before.name === after.name ? 'kept' : 'renamed';
}

function fittingJobs({ before, after = before }: PoolPair, { jobs }: Trace): number {
  if (after === undefined || after.retiring) return 0;
  const fitting = fittingOf({ pools: [after] });
  return jobs.filter((job) => fitting(job).length > 0).length;
}

function poolDifference(
  pairs: Pairs,
  pools: PoolPair,
  of: (figures: Figures, pool: string) => number,
): Difference {
  const sides = pairs.map(({ before, after }) => ({
    before: pools.before === undefined ? 0 : of(before, pools.before.name),
    after: pools.after === undefined ? 0 : of(after, pools.after.name),
  }));
  return differenceOf(sides, (value) => value);
}

/** Groups that have jobs before and after. A single group has the waits of all people. */
function groupsOf(pairs: Pairs): readonly GroupChange[] {
  const figures = pairs.flatMap(({ before, after }) => [before, after]);
  const names = new Set(figures.flatMap(({ waitOfPeopleByGroup }) => Object.keys(waitOfPeopleByGroup)));
  if (names.size < 2) return [];
  const groups = [...names].map((group) => ({
    group,
    jobs: Math.min(...figures.map((each) => each.waitOfPeopleByGroup[group]?.jobs ?? 0)),
    meanWaitS: differenceOf(pairs, (each) => each.waitOfPeopleByGroup[group]?.meanS ?? 0),
    p95WaitS: differenceOf(pairs, (each) => each.waitOfPeopleByGroup[group]?.p95S ?? 0),
  }));
  return groups.filter(({ jobs }) => jobs > 0).sort(by(({ group }) => group));
}
