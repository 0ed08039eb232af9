/**
 * The delay until the next look: short while a task moves or something is about to be due, and no shorter than coderd's
 * database can bear.
 */
import { leastDelayMs } from './demand/polling.ts';
import { deriveRecord } from './demand/record.ts';
import type { PoolDecision } from './drain/decide-pool.ts';
import { stayMs } from './forecast/choose-pools-to-wake.ts';
import type { WakeDemand } from './forecast/wake-demand.ts';
import type { EpochMs } from './model/brands.ts';
import { by, sum } from './model/collections.ts';
import type { Config } from './model/config.ts';
import type { Plan, PoolPlan } from './model/plan.ts';
import type { OrganizationReadings, Snapshot } from './model/snapshot.ts';
import { covers } from './model/tags.ts';
import {
  HOUR_MS,
  JOBS_A_REQUEST,
  MANY_SERVICES,
  MINUTE_MS,
  SERVICES_A_CALL,
  TASKS_A_CALL,
} from './model/units.ts';
import { PRICES_OF_LOOKS } from './settings/prices.ts';
import { GUESSED_BUILDS_AN_HOUR } from './stock/choose-rule.ts';
import { choiceOf, type StockSet } from './stock/stock-groups.ts';

/** The scheduler invokes the function once a minute. */
export const NEXT_INVOCATION_MS = MINUTE_MS;
/** One invocation, and the time that coderd takes to see a daemon. */
const SLACK_MS = NEXT_INVOCATION_MS + 15_000;
/** For so long after an unforeseen build others may follow: a push, a class or a template of many workspaces. */
const WAVES_MS = 10 * MINUTE_MS;

/** The delays of `looks.every: auto`: while something moves, and where more looks save more waiting. */
const AUTO_MS = { usual: 10_000, longer: [30_000, 20_000], shorter: [5_000, 2_000] } as const;

const { lambdaGbSecond, lambdaRequest, sqsRequest, natGatewayGb, logsGb, logsGbMonth, guardDutyEvent } =
  PRICES_OF_LOOKS;
/** What a look costs, in micro-dollars: half a second of 512 MB, and 100 KB through a NAT gateway. */
const LOOK_COST = 1e6 * (0.5 * 0.5 * lambdaGbSecond + lambdaRequest + 3 * sqsRequest + 0.0001 * natGatewayGb);
/** Of a call to AWS: a quarter of what GuardDuty bills, which most accounts may lack. */
const CALL_COST = (1e6 * guardDutyEvent) / 4;
/** The log of a look for each pool, and the same again for the look: 2 KB, kept for 30 days. */
const LOG_COST = 1e6 * 0.000_002 * (logsGb + logsGbMonth);
/** What 512 MB of a function cost that waits for 45 s of each minute, in micro-dollars an hour. */
const WAITING_COST = 1e6 * 60 * 45 * 0.5 * lambdaGbSecond;
/** Half of what is accepted in a minute (docs/internals/coder.md §12, aws.md §2). */
const MOST_REQUESTS = { coderd: 256, ecs: 600 } as const;

type Context = {
  readonly config: Config;
  readonly snapshot: Snapshot;
  readonly stockSets: readonly StockSet[];
};

/** What was decided, as far as it says whether something moves. */
export type Movement = Pick<Plan, 'pools' | 'actions'> & {
  readonly decisions: readonly PoolDecision[];
  readonly demands: readonly WakeDemand[];
};

/** Computes the milliseconds from this look to the next. */
export function lookAgainAfter({ pools, actions, decisions, demands }: Movement, context: Context): number {
  const now = context.snapshot.takenAt;
  const isSoon = demands.some(({ ahead, pools: woken, wakeFor }) => {
    const withinMs = Math.max(0, ...woken.map((view) => stayMs(view, wakeFor))) + SLACK_MS;
    return wakeFor === 'autostart' && ahead.some(({ at }) => at > now - SLACK_MS && at <= now + withinMs);
  });
  const isAwaited =
    isSoon ||
    actions.length > 0 ||
    pools.some(isMoving) ||
    decisions.some((decision) => drainsSoon(decision, now)) ||
    hasJustCome(decisions, context.snapshot);
  const usualMs = usualDelay(context);
  const wantedMs = isAwaited ? Math.min(usualMs, delaysOf(context)[0]) : usualMs;
  return Math.max(wantedMs, leastDelayMs(context.snapshot.coder));
}

/** Whether an unforeseen build has come lately that a pool can run. */
function hasJustCome(decisions: readonly PoolDecision[], { coder, takenAt }: Snapshot): boolean {
  return coder.organizations.some((organization) =>
    [...deriveRecord(organization).arrivals.values()].some(
      ({ tags, lastAt = Number.NEGATIVE_INFINITY }) =>
        takenAt - lastAt < WAVES_MS &&
        decisions.some(({ need: { view } }) => view.organization === organization && covers(view.tags, tags)),
    ),
  );
}

/** Whether coderd lists no build yet, and no process has learned of one. A failed list says nothing. */
function isBeforeFirstBuild({ coder: { organizations }, stock }: Snapshot): boolean {
  const isEmpty = (organization: OrganizationReadings): boolean =>
    organization.recentJobs?.status === 'ok' && deriveRecord(organization).arrivals.size === 0;
  return organizations.length > 0 && organizations.every(isEmpty) && (stock?.tagSets ?? []).length === 0;
}

function usualDelay(context: Context): number {
  const { config, snapshot } = context;
  const isWaiting = snapshot.canHandOver !== true;
  return cheapestDelay(delaysOf(context), {
    lost: lostPerMs(context),
    pools: config.pools.length,
    calls: callsOf(snapshot.ecs).all,
    isWaiting,
  });
}

type CostOfDelay = {
  /** Micro-dollars an hour for each millisecond that builds wait longer. */
  readonly lost: number;
  readonly pools: number;
  /** Of AWS, of one look. */
  readonly calls: number;
  /** Whether an invocation waits between two looks. */
  readonly isWaiting: boolean;
};

/** Looks and waiting cost least together. A build waits for half the delay on average. */
function cheapestDelay(delaysMs: readonly number[], { lost, ...looks }: CostOfDelay): number {
  const costOf = (ms: number): number => costOfLooks(ms, looks) + lost * (ms / 2);
  const [cheapest = NEXT_INVOCATION_MS] = [NEXT_INVOCATION_MS, ...delaysMs].toSorted(by(costOf));
  return cheapest;
}

/** The delays to choose from. The first one is for looks that somebody waits for. */
function delaysOf({ config: { looks }, snapshot }: Context): readonly [number, ...number[]] {
  if (looks.everyMs !== 'auto') return [looks.everyMs];
  const shorter = AUTO_MS.shorter.filter((ms) => areAccepted(MINUTE_MS / ms, snapshot));
  return [AUTO_MS.usual, ...AUTO_MS.longer, ...shorter];
}

/** Whether coderd and ECS accept the requests of so many looks a minute. */
function areAccepted(looks: number, { coder, ecs }: Snapshot): boolean {
  const previous = coder.organizations.map(({ previousJobs }) => previousJobs.items.length);
  const toCoderd = 1 + Math.ceil(Math.max(0, ...previous) / JOBS_A_REQUEST);
  return looks * toCoderd <= MOST_REQUESTS.coderd && looks * callsOf(ecs).ofTasks <= MOST_REQUESTS.ecs;
}

/** The calls of one look to ECS, and those among them for lists of tasks. */
function callsOf({ services, tasks, protections, ownsCluster = false }: Snapshot['ecs']) {
  const lists = ownsCluster || services.items.length > MANY_SERVICES ? 1 : services.items.length;
  const ofTasks = 2 * lists + Math.ceil(tasks.items.length / TASKS_A_CALL);
  const ofServices = Math.ceil(services.items.length / SERVICES_A_CALL);
  return { ofTasks, all: ofTasks + ofServices + Math.ceil(protections.items.length / TASKS_A_CALL) };
}

/** Micro-dollars an hour. */
function costOfLooks(ms: number, { pools, calls, isWaiting }: Omit<CostOfDelay, 'lost'>): number {
  const waiting = ms < NEXT_INVOCATION_MS && isWaiting ? WAITING_COST : 0;
  return (HOUR_MS / ms) * (LOOK_COST + LOG_COST * (1 + pools) + CALL_COST * calls) + waiting;
}

/**
 * Micro-dollars an hour for each millisecond that the builds which find no free daemon wait
 * longer. The replay has counted their waiting, which is about the start of a task for each. Before the first
 * build it is a guess.
 */
function lostPerMs({ config, snapshot, stockSets }: Context): number {
  if (isBeforeFirstBuild(snapshot)) {
    const learning = config.pools.filter(({ warm, retiring }) => warm === 'auto' && !retiring);
    const dearest = Math.max(0, ...learning.map(({ waiting }) => waiting.person));
    return (GUESSED_BUILDS_AN_HOUR * dearest * 1e6) / MINUTE_MS;
  }
  return sum(stockSets, (set) => {
    const { waiting = 0, waitingNow = waiting } = choiceOf(set, snapshot.stock) ?? {};
    return (waitingNow * 1e6) / set.replayed.startMs;
  });
}

/** Whether a job waits for the pool, something is due, or a task starts or stops. */
function isMoving({ pending, due, daemons }: PoolPlan): boolean {
  const { starting, leaving, left, unguarded } = daemons;
  return pending + due + starting + leaving + left + unguarded > 0;
}

function drainsSoon({ leaving, need }: PoolDecision, now: EpochMs): boolean {
  const drainsAfter = now - need.view.pool.idleTimeoutMs + NEXT_INVOCATION_MS;
  return leaving.some(
    ({ why, task }) => why === 'idle-too-briefly' && (task.idleSince ?? now) <= drainsAfter,
  );
}
