/**
 * The decision: a pure function from a snapshot and the configuration to a plan. No clock (time is `takenAt`),
 * no environment, no randomness; the order of the input changes nothing.
 *
 * supply → demand → assignment → floors → bounds, last → who leaves → counts
 */
import { type Assigned, type Assignment, assign } from './assignment.ts';
import { applyBounds } from './bounds.ts';
import { type Capacity, countDaemons, measure } from './capacity.ts';
import type { Config } from './config.ts';
import { decideCount } from './counts.ts';
import { readDemand } from './demand.ts';
import { floorOf } from './floors.ts';
import { decideLeaving, type LeaveDecision } from './leaving.ts';
import { readOffers } from './offers.ts';
import { sum } from './order.ts';
import type { Action, Doubt, Floor, Plan, PoolPlan, Reason, Served } from './plan.ts';
import { reportAssignment, reportFindings, reportUnserved } from './report.ts';
import { judgeSight, type Sight } from './sight.ts';
import type { Service, Snapshot } from './snapshot.ts';
import { type PoolSight, readSupply } from './supply.ts';

/** Decides what to do about a snapshot. Total: it has an answer for every snapshot. */
export function decide(snapshot: Snapshot, config: Config): Plan {
  const pools = readSupply(snapshot, config);
  const sight = judgeSight(pools, snapshot);
  const room = config.limits.maxTasks - sum(pools, existingTasks);
  const assignment = assign(readDemand(snapshot), readOffers(pools, snapshot), room);
  const needs = pools.map((pool) => readNeed(pool, assignment));
  const wanted = applyBounds(needs.map(toGrowth), room);
  const decisions = needs.map((need, index) =>
    decidePool(need, wanted[index] ?? 0, { snapshot, sight, config }),
  );
  return {
    version: 1,
    takenAt: new Date(snapshot.takenAt).toISOString(),
    pools: decisions.map(({ plan }) => plan),
    actions: inOrder(decisions.flatMap(({ actions }) => actions)),
    assignment: reportAssignment(assignment),
    unserved: reportUnserved(assignment, pools),
    findings: reportFindings(pools, sight, snapshot),
  };
}

/** What one pool needs before any bound. */
type Need = {
  readonly sight: PoolSight;
  readonly capacity: Capacity;
  readonly jobs: Readonly<Record<Served, number>>;
  /** Tasks that hold a job now or will once the assigned jobs are served. */
  readonly inUse: number;
  readonly floor: Floor;
  /** Tasks. */
  readonly wanted: number;
};

function readNeed(sight: PoolSight, assignment: Assignment): Need {
  const capacity = measure(sight);
  const jobs = countJobs(assignment.assigned.filter(({ offer }) => offer.pool === sight.pool.name));
  const launches = jobs['by-launch'] + jobs['when-there-is-room'];
  const inUse = capacity.inUse + jobs['by-free'] + jobs['by-starting'] + launches;
  const floor = floorOf(sight.pool, inUse);
  // a launch comes on top of all there is: what is idle beside it could not run that job
  const forJobs = launches > 0 ? capacity.total + launches : inUse;
  return { sight, capacity, jobs, inUse, floor, wanted: Math.max(forJobs, floor.count) };
}

function countJobs(assigned: readonly Assigned[]): Readonly<Record<Served, number>> {
  const count = (served: Served): number =>
    sum(assigned, ({ offer, jobs }) => (offer.served === served ? jobs : 0));
  return {
    'by-free': count('by-free'),
    'by-starting': count('by-starting'),
    'by-launch': count('by-launch'),
    'when-there-is-room': count('when-there-is-room'),
    'by-busy': 0,
  };
}

function toGrowth({ sight, capacity, jobs, wanted }: Need) {
  const { min, max } = sight.pool;
  if (sight.service === undefined) return { have: 0, wanted: 0, max: 0, launches: 0, min: 0 };
  return { have: capacity.total, wanted, max, launches: jobs['by-launch'], min };
}

/** Tasks that ECS has or means to have for a pool: what counts against `maxTasks`. */
function existingTasks({ tasks, missing }: PoolSight): number {
  return tasks.length + missing;
}

type Context = { readonly snapshot: Snapshot; readonly sight: Sight; readonly config: Config };
type PoolDecision = { readonly plan: PoolPlan; readonly actions: readonly Action[] };

function decidePool(need: Need, wanted: number, context: Context): PoolDecision {
  const { service } = need.sight;
  if (service === undefined) return withoutService(need);
  const doubts = context.sight.doubtsOf(need.sight);
  const count = decideCount({ service, capacity: need.capacity, wanted, doubts });
  const leaving =
    wanted > need.capacity.total ? [] : decideLeaving(need.sight, spareOf(need), context.snapshot.takenAt);
  const why = [
    ...jobReasons(need),
    ...boundReasons(need, wanted, context.config),
    ...leaveReasons(leaving, doubts),
    ...count.why,
  ];
  return {
    plan: toPlan(need, service, count.to, why),
    actions: [
      ...countAction(need, service, count.to, why),
      ...(doubts.length > 0 ? [] : askActions(need, leaving)),
    ],
  };
}

/** Starting tasks are not counted: until they have started, those that run are kept in their place. */
function spareOf({ sight, capacity, inUse, floor }: Need): number {
  const keep = Math.min(Math.max(floor.count, inUse), sight.pool.max);
  return capacity.working + capacity.unguarded - keep;
}

function jobReasons({ jobs, floor, inUse }: Need): readonly Reason[] {
  const reasons: Reason[] = [];
  const [free, starting] = [jobs['by-free'], jobs['by-starting']];
  const launches = jobs['by-launch'] + jobs['when-there-is-room'];
  if (launches > 0) reasons.push({ code: 'pending-jobs', jobs: launches });
  if (free > 0) reasons.push({ code: 'served-by-free', jobs: free });
  if (starting > 0) reasons.push({ code: 'served-by-starting', jobs: starting });
  if (floor.count > inUse) reasons.push({ code: 'floor', ...floor });
  return reasons;
}

function boundReasons({ sight, wanted }: Need, granted: number, { limits }: Config): readonly Reason[] {
  const { max } = sight.pool;
  const reasons: Reason[] = [];
  if (wanted > max) reasons.push({ code: 'capped-at-max', wanted, max });
  const capped = Math.min(wanted, max);
  if (granted < capped)
    reasons.push({ code: 'capped-at-max-tasks', wanted: capped, granted, maxTasks: limits.maxTasks });
  return reasons;
}

function leaveReasons(leaving: readonly LeaveDecision[], doubts: readonly Doubt[]): readonly Reason[] {
  const count = (why: LeaveDecision['why']): number =>
    leaving.filter((decision) => decision.why === why).length;
  const [long, brief] = [count('idle-long-enough'), count('idle-too-briefly')];
  const reasons: Reason[] = [];
  if (long > 0 && doubts.length === 0) reasons.push({ code: 'idle-long-enough', tasks: long });
  if (long > 0 && doubts.length > 0) reasons.push({ code: 'holding-for-doubt', doubts });
  if (brief > 0) reasons.push({ code: 'idle-too-briefly', tasks: brief });
  return reasons;
}

function askActions({ sight }: Need, leaving: readonly LeaveDecision[]): readonly Action[] {
  return leaving.flatMap(({ task, kind, why }) =>
    kind === 'leave' ? [{ kind: 'ask-to-leave', pool: sight.pool.name, task: task.task.taskArn, why }] : [],
  );
}

function countAction(need: Need, service: Service, to: number, why: readonly Reason[]): readonly Action[] {
  const from = service.desiredCount;
  if (to === from) return [];
  const code = why.find((reason) => (to > from ? RAISES : LOWERS).has(reason.code))?.code ?? 'pending-jobs';
  return [
    { kind: 'set-desired', pool: need.sight.pool.name, service: service.serviceArn, from, to, why: code },
  ];
}

const RAISES: ReadonlySet<Reason['code']> = new Set(['pending-jobs', 'floor', 'count-below-tasks']);
const LOWERS: ReadonlySet<Reason['code']> = new Set(['tasks-left']);

function withoutService(need: Need): PoolDecision {
  return { plan: toPlan(need, undefined, 0, [...jobReasons(need), { code: 'no-service' }]), actions: [] };
}

function toPlan(need: Need, service: Service | undefined, to: number, why: readonly Reason[]): PoolPlan {
  return {
    name: need.sight.pool.name,
    service: service?.serviceArn ?? null,
    desired: service === undefined ? { from: null, to: null } : { from: service.desiredCount, to },
    daemons: countDaemons(need.sight),
    pending: sum(Object.values(need.jobs), (jobs) => jobs),
    floor: need.floor,
    why: why.length > 0 ? dedupe(why) : [{ code: 'nothing-to-do' }],
  };
}

/** A doubt may hold both an ask and a count: one reason is enough. */
function dedupe(why: readonly Reason[]): readonly Reason[] {
  return why.filter((reason, index) => why.findIndex(({ code }) => code === reason.code) === index);
}

/** Scale-outs first, then asks, then lower counts. */
function inOrder(actions: readonly Action[]): readonly Action[] {
  const rank = (action: Action): number => {
    if (action.kind === 'ask-to-leave') return 1;
    return action.to > action.from ? 0 : 2;
  };
  return actions.toSorted((a, b) => rank(a) - rank(b));
}
