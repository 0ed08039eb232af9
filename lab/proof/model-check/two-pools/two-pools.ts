/**
 * The exploration of two pools of one organization under one `maxTasks`. Guards keep the protocol
 * here (pool.ts explores that): ECS stops no task with a lease, and an idle task leaves after a
 * drain request. ECS places a task or says that it cannot. A look sees the current state. It may
 * end between any two calls, or its calls for one pool may fail.
 */
import type { LookRules } from '../deciders/decider.ts';
import { missingIn, surplusIn } from '../world/scheduler.ts';
import type { Fail, Model } from '../world/search.ts';
import { settlesFrom } from './two-pools-quiet.ts';
import {
  type Call,
  carriedOut,
  describePools,
  isFree,
  lookOf,
  NAMES,
  type SlotState,
  type SmallPool,
  scheduledIn,
  servedBy,
  type TwoPools,
  TwoPoolsCodes,
  type TwoPoolsLimits,
  tasksIn,
  withoutJob,
  withSlot,
} from './two-pools-state.ts';

export type TwoPoolsRules = TwoPoolsLimits & {
  readonly jobs: number;
  readonly look: LookRules;
};

type Step = { readonly what: string; readonly to: TwoPools };

export function twoPoolsModel({ jobs, look: rules, ...limits }: TwoPoolsRules): Model {
  const codes = new TwoPoolsCodes(limits.maxTasks);
  const look = lookOf(limits, rules);
  const known = new Map<number, readonly Call[]>();
  const callsAt = (code: number): readonly Call[] => {
    const calls = known.get(code) ?? look(codes.unpack(code));
    known.set(code, calls);
    return calls;
  };
  const settles = settlesFrom(codes, { limits, callsAt });
  return {
    initial: 0,
    expand: (code, emit, fail) => {
      const pools = codes.unpack(code);
      const calls = callsAt(code);
      judgeCalls(pools, calls, fail);
      judgeSum(pools, calls.reduce(carriedOut, pools), limits.maxTasks, fail);
      const steps = [...worldSteps(pools, jobs), ...lookSteps(pools, calls)];
      for (const { what, to } of steps) emit(codes.pack(to), what, -1);
    },
    judge: settles,
    describe: (code) => describePools(codes.unpack(code)),
  };
}

/** A look must not ask a busy daemon to drain, or set a count below the tasks that have not left. */
function judgeCalls(pools: TwoPools, calls: readonly Call[], fail: Fail): void {
  for (const call of calls) {
    const slots = pools[call.pool]?.slots ?? [];
    const name = NAMES[call.pool];
    if (call.kind === 'ask') {
      if (call.slots.some((slot) => slots[slot] === 'busy'))
        fail('safety', `${name}: the autoscaler sends a drain request to a busy task`, -1);
      continue;
    }
    const staying = slots.filter((state) => state !== 'none' && state !== 'left').length;
    if (call.desired < staying)
      fail(
        'count',
        `${name}: the autoscaler sets the count to ${call.desired}, but ${staying} task(s) have not left`,
        -1,
      );
  }
}

/** No plan may raise tasks or desired counts above `maxTasks`; leaving tasks count (docs/adr/0005). */
function judgeSum(before: TwoPools, after: TwoPools, maxTasks: number, fail: Fail): void {
  const sum = sumOf(after);
  if (sum > maxTasks && sum > sumOf(before))
    fail('count', `${sum} tasks exist or are desired, above maxTasks ${maxTasks}`, -1);
}

function sumOf(pools: TwoPools): number {
  return pools.reduce((sum, pool) => sum + Math.max(pool.desired, tasksIn(pool)), 0);
}

/** All calls of a look, the calls until it ends early, or those of one pool while the other's fail. */
function lookSteps(pools: TwoPools, calls: readonly Call[]): readonly Step[] {
  const after = (done: readonly Call[]): TwoPools => done.reduce(carriedOut, pools);
  return [
    ...calls.map((_, at) => {
      const ends = at + 1 < calls.length ? ' and ends before its last call' : '';
      return { what: `a look reads, decides and acts${ends}`, to: after(calls.slice(0, at + 1)) };
    }),
    ...pools.flatMap((_, failing) => {
      const done = calls.filter(({ pool }) => pool !== failing);
      if (done.length === calls.length) return [];
      return [
        { what: `a look reads, decides and acts; its calls for ${NAMES[failing]} fail`, to: after(done) },
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

/** ECS keeps the desired count, and may stop any unprotected task when there are too many. */
function ecsSteps(pool: SmallPool): readonly PoolStep[] {
  const { slots, isUnplaced } = pool;
  const steps: PoolStep[] = [];
  if (isUnplaced)
    steps.push({
      what: 'six hours pass since ECS could not place a task',
      to: { ...pool, isUnplaced: false },
    });
  if (missingIn(scheduledIn(pool)) > 0) {
    if (!isUnplaced) steps.push({ what: 'ECS cannot place a task', to: { ...pool, isUnplaced: true } });
    const slot = slots.indexOf('none');
    if (slot >= 0)
      steps.push({
        what: 'ECS starts a task',
        to: { ...withSlot(pool, slot, 'pending'), isUnplaced: false },
      });
  }
  if (surplusIn(scheduledIn(pool)) > 0)
    for (const [slot, state] of slots.entries())
      if (isFree(state))
        steps.push({ what: `ECS stops the task that is ${state}`, to: withSlot(pool, slot, 'none') });
  return steps;
}

/** What can happen to a task by itself. */
const MOVES: Readonly<Record<SlotState, readonly [what: string, to: SlotState] | undefined>> = {
  none: undefined,
  pending: ['a task starts to run', 'booting'],
  booting: ['a task takes its lease, and its daemon registers', 'idle'],
  idle: ['a daemon dies, and its guard releases the protection', 'left'],
  busy: ['a job ends', 'idle'],
  asked: ['a task with a drain request has left', 'left'],
  finishing: ['a task with a drain request ends its job and has left', 'left'],
  left: ['ECS does not stop a task that has left, and its guard exits', 'none'],
};

function taskSteps(pool: SmallPool): readonly PoolStep[] {
  return pool.slots.flatMap((state, slot) => {
    const [what, to] = MOVES[state] ?? [];
    return what === undefined || to === undefined ? [] : [{ what, to: withSlot(pool, slot, to) }];
  });
}

/** coderd hands a daemon a job that fits, even after a drain request that the guard has not seen. */
function handedJobs(pools: TwoPools, at: number): readonly Step[] {
  const pool = pools[at];
  if (pool === undefined) return [];
  return servedBy(at).flatMap((from) =>
    pool.slots.flatMap((state, slot): readonly Step[] => {
      if ((state !== 'idle' && state !== 'asked') || (pools[from]?.pending ?? 0) === 0) return [];
      const holding = withSlot(pool, slot, state === 'idle' ? 'busy' : 'finishing');
      const to = withoutJob(pools.with(at, holding), from);
      return [{ what: `${NAMES[at]}: coderd hands a daemon a job of ${NAMES[from]}`, to }];
    }),
  );
}
