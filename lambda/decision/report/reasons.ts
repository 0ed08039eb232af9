/** The reasons of one pool, in the order of the stages. */

import type { CountTransitions } from '../demand/transitions.ts';
import { raiseReason } from '../drain/actions.ts';
import type { PoolDecision } from '../drain/decide-pool.ts';
import { isKeptAwake } from '../drain/drainable.ts';
import type { LeaveDecision } from '../drain/leaving.ts';
import { launchesFor, type PoolNeed } from '../drain/needs.ts';
import { configuredFloor } from '../forecast/floors.ts';
import { isoTime } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import { type Doubt, type Override, REPLACING, type Reason } from '../model/plan.ts';
import type { Snapshot, StockChoice } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';
import { OLDEST_SERVER } from '../model/version.ts';
import { UNKNOWN_RULE } from '../stock/replay.ts';
import {
  countDaemons,
  countListed,
  mayDrain,
  mostForPrebuilds,
  mostTasks,
  unplacedTasks,
} from '../supply/capacity.ts';
import { launchesForJobsOnly } from '../supply/doubts.ts';
import { deriveEcsWait } from '../supply/hidden/ecs-wait.ts';
import type { PoolView } from '../supply/supply.ts';
import { oldSecretReasons } from './secret-report.ts';

/** What the reasons depend on besides the decision. */
type Look = {
  readonly snapshot: Snapshot;
  readonly config: Config;
  readonly count: CountTransitions;
};

/** Derives all reasons of a pool: at least one, and one of each code. */
export function reasonsOf(decision: PoolDecision, look: Look): readonly Reason[] {
  const { need, doubts, mode, kept } = decision;
  const { snapshot, count } = look;
  switch (mode) {
    case 'no-service':
      return [...jobReasons(need), missingService(doubts)];
    case 'server-too-old': {
      const version = snapshot.coder.buildInfo?.version ?? 'unknown';
      return [{ code: 'server-too-old', version, oldest: OLDEST_SERVER }];
    }
    case 'paused': {
      const waiting = [...jobReasons(need), ...heldBackReasons(need, count)];
      return [...overrideReasons(need, 'pause', 'paused'), ...waiting, ...protectingReasons(kept)];
    }
    case 'sized':
      return sizedReasons(decision, look);
    default:
      return mode satisfies never;
  }
}

/** A service is missing only if the list of services is known, as far as it concerns the pool. */
function missingService(doubts: readonly Doubt[]): Reason {
  const isUnknown = doubts.some((doubt) => doubt.startsWith('services-'));
  return isUnknown ? { code: 'holding-for-doubt', doubts } : { code: 'no-service' };
}

function sizedReasons(decision: PoolDecision, { snapshot, config, count: counted }: Look): readonly Reason[] {
  const { need, doubts, leaving, kept, count, later } = decision;
  const why: Reason[] = [
    ...(later === undefined ? [] : [{ code: 'left-to-next-look', ...later } as const]),
    ...standingReasons(need, doubts),
    ...jobReasons(need),
    ...floorReasons(need),
    ...stockReasons(need, doubts),
    ...forecastReasons(need, counted),
    ...jobsOnlyReasons(need, doubts),
    ...oldHeartbeatReasons(need, doubts),
    ...probeReasons(need),
    ...(doubts.includes('license-missing')
      ? unlicensedReasons(need)
      : boundReasons(need, { snapshot, config })),
    ...waitReasons(need, snapshot),
    ...leaveReasons(need, leaving, doubts),
    ...protectingReasons(kept),
    ...count.why,
    // jobs and floors may hide that nothing scales in
    ...(doubts.length > 0 ? [{ code: 'holding-for-doubt', doubts } as const] : []),
  ];
  // a doubt may hold a count too, but one reason is enough
  const distinct = [...new Map(why.map((reason) => [reason.code, reason])).values()];
  const visible = distinct.filter((reason) => !isOnlyPause(reason));
  return visible.length > 0 ? visible : [{ code: 'nothing-to-do' }];
}

function protectingReasons({ length }: PoolDecision['kept']): readonly Reason[] {
  return length > 0 ? [{ code: 'protecting', tasks: length }] : [];
}

/** Reasons that hold for as long as a person wants. */
function standingReasons(need: PoolNeed, doubts: readonly Doubt[]): readonly Reason[] {
  const { pool, service } = need.view;
  const isEmpty = countListed(need.view) === 0 && service?.desiredCount === 0 && doubts.length === 0;
  return [
    ...overrideReasons(need, 'pause-scale-in', 'scale-in-paused'),
    ...insteadOfSpot(need),
    ...(pool.retiring ? (isEmpty ? [{ code: 'retired' } as const] : retiringWaits(need)) : []),
  ];
}

/** Why the part on demand launches tasks. */
function insteadOfSpot({ view: { share } }: PoolNeed): readonly Reason[] {
  if (share?.instead === undefined) return [];
  const { because, interruptions, price } = share.instead;
  return [{ code: 'on-demand-instead', because, interruptions, spotDollarsPerHour: price / 1e6 }];
}

/** What a retiring pool still waits for. These tasks cannot get a drain request. */
function retiringWaits({ view, capacity: { starting } }: PoolNeed): readonly Reason[] {
  const { leaving, unguarded } = countDaemons(view);
  if (starting + leaving + unguarded === 0) return [];
  return [{ code: 'retiring-waits', starting, leaving, unguarded }];
}

function overrideReasons(
  { view }: PoolNeed,
  kind: Override['kind'],
  code: 'paused' | 'scale-in-paused',
): readonly Reason[] {
  const override = view.overrides.find((each) => each.kind === kind);
  return override === undefined ? [] : [{ code, ...overrideNote(override) }];
}

/** The fields of an override that reasons repeat. */
function overrideNote({ until, by, why }: Override) {
  return { until, by, why };
}

/** Whether a paused scale-in is the only doubt. It has a reason of its own. */
function isOnlyPause(reason: Reason): boolean {
  return reason.code === 'holding-for-doubt' && reason.doubts.every((doubt) => doubt === 'scale-in-paused');
}

/** Which daemons will run the jobs that are assigned to the pool. */
function jobReasons(need: PoolNeed): readonly Reason[] {
  const reasons: Reason[] = [];
  const free = need.jobs['by-free'];
  const starting = need.jobs['by-starting'];
  const busy = need.jobs['by-busy'];
  const launches = launchesFor(need);
  if (launches > 0) reasons.push({ code: 'pending-jobs', jobs: launches });
  if (free > 0) reasons.push({ code: 'served-by-free', jobs: free });
  if (starting > 0) reasons.push({ code: 'served-by-starting', jobs: starting });
  if (busy > 0) reasons.push({ code: 'served-by-busy', jobs: busy });
  const [first] = need.leftTo.toSorted(by('until'));
  if (first !== undefined) {
    const peers = [...new Set(need.leftTo.map(({ peer }) => peer))].sort();
    reasons.push({ code: 'left-to-peers', jobs: need.jobs['by-peer'], peers, until: isoTime(first.until) });
  }
  return reasons;
}

function floorReasons(need: PoolNeed): readonly Reason[] {
  const { poolForecast, inUse, forMin, tasks, capacity } = need;
  const floor = configuredFloor(poolForecast.floors, inUse);
  // a task in use may be one whose daemon does not come: then the floor launches another
  const isRaised = forMin > 0 && tasks.granted > capacity.total;
  const isLaunching = isRaised && floor.count > 0 && raiseReason(need) === 'floor';
  return floor.count > inUse || isLaunching ? [{ code: 'floor', ...floor }] : [];
}

/** The free daemons that are kept, by which rule, and those that are given up. */
function stockReasons(
  { ready, idle: { givenUp, heldForRecord } }: PoolNeed,
  doubts: readonly Doubt[],
): readonly Reason[] {
  const reasons: Reason[] = ready.stocks.map(stockReason);
  if (heldForRecord > ready.all) reasons.push({ code: 'holding-for-record', tasks: heldForRecord });
  if (givenUp > 0 && doubts.length === 0) reasons.push({ code: 'making-room', tasks: givenUp });
  return reasons;
}

function stockReason({ daemons, spare, choice, wouldHave }: PoolNeed['ready']['stocks'][number]): Reason {
  const { free, spareMs, afterBuildMs, countsBusy } = choice?.rule ?? UNKNOWN_RULE;
  return {
    ...{ code: 'stock', daemons, free, countsBusy, spare, wouldHave: wouldHave ?? null },
    spareMinutes: spareMs / MINUTE_MS,
    afterBuildMinutes: afterBuildMs === null ? null : afterBuildMs / MINUTE_MS,
    learned: choice === undefined || choice.hours === 0 ? null : learnedFrom(choice),
  };
}

function learnedFrom({ builds, hours, tasks, waiting, others }: StockChoice) {
  const alternatives = others.map(({ free, dollars }) => ({ free, dollarsPerHour: dollars }));
  return { builds, hours, dollarsPerHour: { tasks, waiting }, others: alternatives };
}

/** Tasks that only the forecast keeps or launches. */
function forecastReasons(need: PoolNeed, count: CountTransitions): readonly Reason[] {
  const { poolForecast, view } = need;
  const { prewarmed, due } = need.ready;
  const { wakeAssignment, isUnsure } = poolForecast;
  const { max } = view.pool;
  const reasons: Reason[] = [...heldBackReasons(need, count)];
  const isKept = isKeptAwake(need);
  if (isKept && wakeAssignment !== undefined)
    reasons.push({
      code: 'awake-for',
      for: count([...wakeAssignment.due, ...wakeAssignment.soon]),
    });
  if (isKept && isUnsure) reasons.push({ code: 'holding-for-forecast' });
  if (prewarmed > 0) reasons.push({ code: 'prewarm', daemons: prewarmed, due });
  if (due > prewarmed && prewarmed >= max) reasons.push({ code: 'capped-at-prewarm-max', due, max });
  return reasons;
}

/** Tasks that floors and the forecast cannot launch while only pending jobs launch tasks. */
function jobsOnlyReasons({ floor, capacity, forMin }: PoolNeed, doubts: readonly Doubt[]): readonly Reason[] {
  const isHeld = launchesForJobsOnly(doubts) && floor.count > capacity.total && forMin === 0;
  return isHeld ? [{ code: 'launching-for-jobs-only', wanted: floor.count }] : [];
}

/** The doubt is told in any case: it changes what floors launch. */
function oldHeartbeatReasons({ forMin }: PoolNeed, doubts: readonly Doubt[]): readonly Reason[] {
  if (!doubts.includes('heartbeats-old')) return [];
  const launching = forMin > 0 ? [{ code: 'launching-to-be-seen' } as const] : [];
  return [...launching, { code: 'holding-for-doubt', doubts }];
}

/** A task that nothing needs, so that coderd lists a daemon again. */
function probeReasons({ isProbe }: PoolNeed): readonly Reason[] {
  return isProbe ? [{ code: 'launching-to-be-seen' }] : [];
}

/** Transitions that wait until a person lets the pool be woken again. */
function heldBackReasons(
  { poolForecast: { heldBack } }: PoolNeed,
  count: CountTransitions,
): readonly Reason[] {
  return heldBack.length === 0 ? [] : [{ code: 'not-woken-for', for: count(heldBack) }];
}

function unlicensedReasons({ tasks: { wanted }, capacity }: PoolNeed): readonly Reason[] {
  return wanted > capacity.total ? [{ code: 'license-missing', wanted }] : [];
}

/** Each limit that applies: how many tasks the pool wanted, and how many it got. */
function boundReasons(
  need: PoolNeed,
  { snapshot, config: { limits } }: Omit<Look, 'count'>,
): readonly Reason[] {
  const { view, capacity, held } = need;
  const { wanted, wantedBelowMax, granted } = need.tasks;
  const { pool } = view;
  const reasons: Reason[] = [];
  const most = mostTasks(pool.max, capacity);
  if (wanted > most) reasons.push(...maxReasons(view, wanted - most + pool.max));
  const total = capacity.total + (view.share?.elsewhere ?? 0);
  if (view.minFrom === 'pin' && total > pool.min)
    reasons.push({ code: 'above-pin', tasks: total - pool.min });
  if (held.prebuilds > 0) {
    const maxTasks = mostForPrebuilds(view);
    reasons.push({ code: 'capped-at-prebuilds-max-tasks', jobs: held.prebuilds, maxTasks });
  }
  const isHeldBack = capacity.isHeldBack && (wantedBelowMax > capacity.total || view.missing > 0);
  const isLaunchingFew = granted < wantedBelowMax && granted >= capacity.total + capacity.few;
  if (isHeldBack || isLaunchingFew)
    reasons.push(...whyHeldBack(view, { wanted: wantedBelowMax, granted }, snapshot));
  if (granted < wantedBelowMax) {
    if (capacity.vacant > 0 && granted >= capacity.total + need.room)
      reasons.push({ code: 'waiting-for-vacant', tasks: capacity.vacant });
    if (granted >= capacity.total + need.unreadRoom)
      reasons.push({ code: 'starts-unread', wanted: wantedBelowMax, granted });
    if (!capacity.isHeldBack)
      reasons.push(
        ...overallLimit(need, limits, { wanted: wantedBelowMax, waitMinutesPerHour: 60 * held.people }),
      );
  }
  return reasons.length > 0 ? reasons : stockBoundReasons(need, limits);
}

/** Why the pool may start only few tasks at a time. */
function whyHeldBack(
  view: PoolView,
  counts: { readonly wanted: number; readonly granted: number },
  snapshot: Snapshot,
): readonly Reason[] {
  const { failing, placement } = view;
  const reasons: Reason[] = [];
  if (view.isRoleUntried && !failing.isTripped) reasons.push({ code: 'role-untried', ...counts });
  if (failing.isTripped || failing.neverRan > 0)
    reasons.push({
      code: 'starts-failing',
      failures: failing.count,
      tries: failing.isPaused ? 'later' : failing.isTripped ? 'one' : 'few',
      ...counts,
      reason: failing.reason ?? 'ECS gives no reason',
    });
  // tasks that ECS does not try to start yet are no failure to place them
  if (placement !== undefined && deriveEcsWait(view, snapshot) === undefined)
    reasons.push({
      code: 'placement-failing',
      tasks: unplacedTasks(view),
      ...counts,
      since: isoTime(placement.since),
      reason: placement.reason,
    });
  return reasons;
}

/** Desired tasks for which ECS waits after a failed start. */
function waitReasons({ view }: PoolNeed, snapshot: Snapshot): readonly Reason[] {
  const wait = deriveEcsWait(view, snapshot);
  if (wait === undefined) return [];
  const { since, waitedMs } = wait;
  return [{ code: 'starts-throttled', tasks: view.missing, since: isoTime(since), waitedMs }];
}

/** The limit that keeps the stock below the size that its rule asks for. */
function stockBoundReasons(need: PoolNeed, limits: Config['limits']): readonly Reason[] {
  const { view, tasks, held, capacity } = need;
  if (held.stock === 0 || capacity.isHeldBack) return [];
  const most = mostTasks(view.pool.max, capacity);
  const wanted = tasks.granted + held.stock;
  if (tasks.granted >= most) return maxReasons(view, wanted - most + view.pool.max);
  return overallLimit(need, limits, { wanted: Math.min(most, wanted), waitMinutesPerHour: 0 });
}

/** A job that is held back waits for as long as the limit applies. */
function overallLimit(
  { tasks: { granted }, held }: PoolNeed,
  { maxTasks, dollarsPerHour = 0 }: Config['limits'],
  { wanted, waitMinutesPerHour }: { readonly wanted: number; readonly waitMinutesPerHour: number },
): readonly Reason[] {
  const limited = { wanted, granted, waitMinutesPerHour };
  if (held.by === undefined) return [];
  const pools = held.unread.map(({ pool, tasks, from }) => ({ pool, tasks, from }));
  return [
    held.by === 'maxTasks'
      ? { code: 'capped-at-max-tasks', ...limited, maxTasks }
      : { code: 'capped-at-dollars-per-hour', ...limited, dollarsPerHour },
    ...(pools.length > 0 ? [{ code: 'counts-unread-pools', pools } as const] : []),
  ];
}

/** The pool's own limit or its pin. A retiring pool wants no tasks, so it has none. */
function maxReasons({ pool, overrides, share }: PoolNeed['view'], wantedHere: number): readonly Reason[] {
  if (pool.retiring) return [];
  const max = share?.max ?? pool.max;
  const wanted = wantedHere + (share?.elsewhere ?? 0);
  const pin = overrides.find(({ kind }) => kind === 'pin');
  // a pin above the pool's own max changes nothing
  if (pin === undefined || (pin.count ?? 0) > max) return [{ code: 'capped-at-max', wanted, max }];
  return [{ code: 'pinned', wanted, count: max, ...overrideNote(pin) }];
}

function leaveReasons(
  need: PoolNeed,
  leaving: readonly LeaveDecision[],
  doubts: readonly Doubt[],
): readonly Reason[] {
  const { unguarded } = need.capacity;
  const isDoubtful = doubts.length > 0;
  const mayLeave = mayDrain(need.capacity, isDoubtful);
  const count = (why: LeaveDecision['why'], kind?: LeaveDecision['kind']): number =>
    leaving.filter((decision) => decision.why === why && (kind ?? decision.kind) === decision.kind).length;
  const long = count('idle-long-enough');
  const brief = count('idle-too-briefly');
  const replacing = REPLACING.flatMap((code): readonly Reason[] => {
    if (code === 'old-secret') return oldSecretReasons(need.view, mayLeave ? leaving : []);
    const tasks = count(code);
    return tasks === 0 ? [] : [{ code, tasks, asked: mayLeave ? count(code, 'leave') : 0 }];
  });
  // with doubts, a task that seems to need a replacement may not need one
  const reasons: Reason[] = isDoubtful ? unseenReasons(need) : [...replacing];
  if (long > 0 && mayLeave) reasons.push({ code: 'idle-long-enough', tasks: long });
  const held = long + replacing.filter(isWaiting).length;
  if (held > 0 && unguarded > 0) reasons.push({ code: 'holding-for-unguarded', tasks: unguarded });
  if (count('holding-for-deployment') > 0) reasons.push({ code: 'holding-for-deployment' });
  // with doubts, no idle daemon drains after its time
  if (brief > 0 && !isDoubtful) reasons.push({ code: 'idle-too-briefly', tasks: brief });
  return reasons;
}

/** With doubts a task counts as gone only if coderd lists no daemon at all (turns/rolling.ts). */
function unseenReasons({ capacity, tasks, isProbe }: PoolNeed): Reason[] {
  const { replacing, total } = capacity;
  const isLaunching = replacing > 0 && tasks.granted > total && !isProbe;
  return isLaunching ? [{ code: 'launching-beside-unseen', tasks: replacing }] : [];
}

/** Whether tasks with this reason still wait for a drain request. */
function isWaiting(reason: Reason): boolean {
  return reason.code !== 'old-secret' || reason.tasks > reason.draining;
}
