/**
 * The exploration of two pools of one organization under one `maxTasks`. Guards keep their promise here (pool.ts explores that): ECS
 * stops no task with a lease, and an idle one that is asked leaves. ECS places a task or says that it cannot. A look sees what is; it
 * may end between any two calls, or the calls of one pool may fail.
 */

import type { Decide } from '../deciders/decider.ts';
import type { Fail, Model } from '../world/search.ts';
import { type Call, carriedOut, lookOf, NAMES, type TwoPoolsLimits } from './two-pools-look.ts';
import { settlesFrom } from './two-pools-quiet.ts';
import {
  describePools,
  isFree,
  type Place,
  type SmallPool,
  servedBy,
  type TwoPools,
  TwoPoolsCodes,
  tasksIn,
  withoutJob,
  withPlace,
} from './two-pools-state.ts';

export type TwoPoolsRules = TwoPoolsLimits & {
  /** Of each pool. */
  readonly jobs: number;
  readonly decide: Decide;
};

type Step = { readonly what: string; readonly to: TwoPools };

/** The model of two pools. */
export function twoPoolsModel({ jobs, decide, ...limits }: TwoPoolsRules): Model {
  const codes = new TwoPoolsCodes(limits.maxTasks);
  const look = lookOf(limits, decide);
  const known = new Map<number, readonly Call[]>();
  const callsAt = (code: number): readonly Call[] => {
    const calls = known.get(code) ?? look(codes.unpack(code));
    known.set(code, calls);
    return calls;
  };
  const settles = settlesFrom(codes, { limits, callsAt });
  return {
    initial: codes.initial,
    expand: (code, emit, fail) => {
      const pools = codes.unpack(code);
      const calls = callsAt(code);
      judgeCalls(pools, calls, fail);
      judgeSum(pools, calls.reduce(carriedOut, pools), limits.maxTasks, fail);
      const steps = [...worldSteps(pools, jobs), ...lookSteps(pools, calls)];
      for (const { what, to } of steps) emit(codes.pack(to), what, -1);
    },
    judge: settles,
    describe: (code) => describePools(codes.unpack(code), NAMES),
  };
}

/** What a look must not do: ask a busy daemon, or set a count below the tasks that have not left. */
function judgeCalls(pools: TwoPools, calls: readonly Call[], fail: Fail): void {
  for (const call of calls) {
    const places = pools[call.pool]?.places ?? [];
    const name = NAMES[call.pool];
    if (call.kind === 'ask') {
      if (call.slots.some((slot) => places[slot] === 'busy'))
        fail('safety', `${name}: a busy task is asked`, -1);
      continue;
    }
    const staying = places.filter((place) => place !== 'none' && place !== 'left').length;
    if (call.desired < staying)
      fail(
        'count',
        `${name}: the count is set to ${call.desired}, below ${staying} task(s) that have not left`,
        -1,
      );
  }
}

/** No plan raises what is there or desired above `maxTasks`: what leaves counts (docs/adr/0005). */
function judgeSum(before: TwoPools, after: TwoPools, maxTasks: number, fail: Fail): void {
  const sum = sumOf(after);
  if (sum > maxTasks && sum > sumOf(before))
    fail('count', `${sum} tasks are there or desired, above maxTasks ${maxTasks}`, -1);
}

function sumOf(pools: TwoPools): number {
  return pools.reduce((sum, pool) => sum + Math.max(pool.desired, tasksIn(pool)), 0);
}

/** All calls, those until the look ends, or those of one pool while the other's fail. */
function lookSteps(pools: TwoPools, calls: readonly Call[]): readonly Step[] {
  const after = (done: readonly Call[]): TwoPools => done.reduce(carriedOut, pools);
  return [
    ...calls.map((_, at) => {
      const ends = at + 1 < calls.length ? ' and ends before its last call' : '';
      return { what: `a look looks, decides and acts${ends}`, to: after(calls.slice(0, at + 1)) };
    }),
    ...pools.flatMap((_, failing) => {
      const done = calls.filter(({ pool }) => pool !== failing);
      if (done.length === calls.length) return [];
      return [
        { what: `a look looks, decides and acts; its calls for ${NAMES[failing]} fail`, to: after(done) },
      ];
    }),
  ];
}

function worldSteps(pools: TwoPools, jobs: number): readonly Step[] {
  return pools.flatMap((pool, at) => {
    const own = [...jobSteps(pool, jobs), ...ecsSteps(pool), ...taskSteps(pool)].map(({ what, to }) => ({
      what: `${NAMES[at]}: ${what}`,
      to: pools.with(at, to),
    }));
    return [...own, ...handedJobs(pools, at)];
  });
}

type PoolStep = { readonly what: string; readonly to: SmallPool };

function jobSteps(pool: SmallPool, jobs: number): readonly PoolStep[] {
  return pool.pending < jobs
    ? [{ what: 'a job is submitted', to: { ...pool, pending: pool.pending + 1 } }]
    : [];
}

/** ECS keeps the count, and stops any task that is not protected where there are too many. */
function ecsSteps(pool: SmallPool): readonly PoolStep[] {
  const { places, desired, isUnplaced } = pool;
  const there = tasksIn(pool);
  const steps: PoolStep[] = [];
  if (isUnplaced)
    steps.push({
      what: 'six hours pass since ECS could not place a task',
      to: { ...pool, isUnplaced: false },
    });
  if (there < desired) {
    if (!isUnplaced) steps.push({ what: 'ECS cannot place a task', to: { ...pool, isUnplaced: true } });
    const slot = places.indexOf('none');
    if (slot >= 0)
      steps.push({
        what: 'ECS starts a task',
        to: { ...withPlace(pool, slot, 'pending'), isUnplaced: false },
      });
  }
  if (there > desired)
    for (const [slot, place] of places.entries())
      if (isFree(place))
        steps.push({ what: `ECS stops the task that is ${place}`, to: withPlace(pool, slot, 'none') });
  return steps;
}

const MOVES: Readonly<Record<Place, readonly (readonly [string, Place])[]>> = {
  none: [],
  pending: [['a task begins to run', 'booting']],
  booting: [['a task takes its lease, and its daemon registers', 'idle']],
  idle: [['a daemon dies, and its guard leaves', 'left']],
  busy: [['a job ends', 'idle']],
  asked: [['a task that was asked has left', 'left']],
  finishing: [['a task that was asked ends its job and has left', 'left']],
  left: [['a guard that has left is not stopped for long, and exits', 'none']],
};

function taskSteps(pool: SmallPool): readonly PoolStep[] {
  return pool.places.flatMap((place, slot) =>
    MOVES[place].map(([what, to]) => ({ what, to: withPlace(pool, slot, to) })),
  );
}

/** A daemon is handed a job that it can run, also after it was asked and before its guard has seen that. */
function handedJobs(pools: TwoPools, at: number): readonly Step[] {
  const pool = pools[at];
  if (pool === undefined) return [];
  return servedBy(at).flatMap((from) =>
    pool.places.flatMap((place, slot): readonly Step[] => {
      if ((place !== 'idle' && place !== 'asked') || (pools[from]?.pending ?? 0) === 0) return [];
      const holding = withPlace(pool, slot, place === 'idle' ? 'busy' : 'finishing');
      const to = withoutJob(pools.with(at, holding), from);
      return [{ what: `${NAMES[at]}: a daemon is handed a job of ${NAMES[from]}`, to }];
    }),
  );
}
