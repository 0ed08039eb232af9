/**
 * The reasons of one pool, in the order of the stages, from its need and the decisions about its
 * tasks and count.
 */

import { launchesForJobsOnly } from '../assignment/launch-limits.ts';
import { launchesFor, type PoolNeed } from '../assignment/needs.ts';
import { configuredFloor } from '../forecast/floors.ts';
import type { EpochMs } from '../model/brands.ts';
import type { Config } from '../model/config.ts';
import { type Doubt, type Override, REPLACING, type Reason } from '../model/plan.ts';
import type { StockChoice } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';
import type { Confirming } from '../scale-in/confirm-rung.ts';
import type { CountDecision } from '../scale-in/counts.ts';
import type { LeaveDecision } from '../scale-in/leaving.ts';
import { UNKNOWN_RULE } from '../stock/rules.ts';
import { countDaemons, unplacedTasks } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';
import { countTransitions } from './report-forecast.ts';
import { oldSecretReasons } from './secret-report.ts';
import { isoTime } from './waiting.ts';

export type ReasonInput = {
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  readonly confirming: Confirming;
  readonly doubts: readonly Doubt[];
  readonly config: Config;
  readonly now: EpochMs;
};

/** Derives all reasons of a pool: at least one, and one of each code. */
export function reasonsOf(
  need: PoolNeed,
  { leaving, count, confirming, doubts, config, now }: ReasonInput,
): readonly Reason[] {
  const why = [
    ...standingReasons(need, doubts),
    ...jobReasons(need),
    ...floorReasons(need),
    ...stockReasons(need),
    ...forecastReasons(need, now),
    ...jobsOnlyReasons(need, doubts),
    ...boundReasons(need, config),
    ...leaveReasons(need, leaving, doubts),
    ...confirming.why,
    ...count.why,
  ];
  // a doubt may hold both a drain request and a count, but one reason is enough
  const distinct = [...new Map(why.map((reason) => [reason.code, reason])).values()];
  const visible = distinct.filter((reason) => !isOnlyPause(reason));
  if (visible.length > 0) return visible;
  return [doubts.length > 0 ? { code: 'holding-for-doubt', doubts } : { code: 'nothing-to-do' }];
}

/** Reasons that hold for as long as a person wants. */
function standingReasons(need: PoolNeed, doubts: readonly Doubt[]): readonly Reason[] {
  const { pool, overrides, service, listed } = need.view;
  const paused = overrides.find(({ kind }) => kind === 'pause-scale-in');
  const isEmpty = listed === 0 && service?.desiredCount === 0 && doubts.length === 0;
  return [
    ...(paused === undefined ? [] : [{ code: 'scale-in-paused', ...overrideNote(paused) } as const]),
    ...(pool.retiring ? (isEmpty ? [{ code: 'retired' } as const] : retiringWaits(need)) : []),
  ];
}

/** What a retiring pool still waits for. These tasks cannot get a drain request. */
function retiringWaits({ view, capacity: { starting } }: PoolNeed): readonly Reason[] {
  const { leaving, unguarded } = countDaemons(view);
  if (starting + leaving + unguarded === 0) return [];
  return [{ code: 'retiring-waits', starting, leaving, unguarded }];
}

/** The fields of an override that reasons and findings repeat. */
export function overrideNote({ until, by, why }: Override) {
  return { until, by, why };
}

/** Whether a paused scale-in is the only doubt. It has a reason of its own. */
function isOnlyPause(reason: Reason): boolean {
  return reason.code === 'holding-for-doubt' && reason.doubts.every((doubt) => doubt === 'scale-in-paused');
}

/** Which daemons will run the jobs that are assigned to the pool. */
export function jobReasons(need: PoolNeed): readonly Reason[] {
  const reasons: Reason[] = [];
  const [free, starting] = [need.jobs['by-free'], need.jobs['by-starting']];
  const launches = launchesFor(need);
  if (launches > 0) reasons.push({ code: 'pending-jobs', jobs: launches });
  if (free > 0) reasons.push({ code: 'served-by-free', jobs: free });
  if (starting > 0) reasons.push({ code: 'served-by-starting', jobs: starting });
  return reasons;
}

function floorReasons({ poolForecast, inUse }: PoolNeed): readonly Reason[] {
  const floor = configuredFloor(poolForecast.floors, inUse);
  return floor.count > inUse ? [{ code: 'floor', ...floor }] : [];
}

/** The free daemons that are kept, by which rule, and those that are given up. */
function stockReasons({ stocks, givenUp, heldForRecord, ready }: PoolNeed): readonly Reason[] {
  const reasons: Reason[] = stocks.map(stockReason);
  if (heldForRecord > ready) reasons.push({ code: 'holding-for-record', tasks: heldForRecord });
  if (givenUp > 0) reasons.push({ code: 'making-room', tasks: givenUp });
  return reasons;
}

function stockReason({ daemons, group: { choice } }: PoolNeed['stocks'][number]): Reason {
  const { free, spareMs, afterBuildMs, countsEnding } = choice?.rule ?? UNKNOWN_RULE;
  return {
    ...{ code: 'stock', daemons, free, countsEnding },
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
function forecastReasons(need: PoolNeed, now: EpochMs): readonly Reason[] {
  const { poolForecast, view, prewarmed, due } = need;
  const { wakeAssignment, isUnsure } = poolForecast;
  const { max } = view.pool.prewarm;
  const reasons: Reason[] = [...heldBackReasons(need, now)];
  const isKept = isKeptAwake(need);
  if (isKept && wakeAssignment !== undefined)
    reasons.push({
      code: 'awake-for',
      for: countTransitions([...wakeAssignment.due, ...wakeAssignment.soon], now),
    });
  if (isKept && isUnsure) reasons.push({ code: 'holding-for-forecast' });
  if (prewarmed > 0) reasons.push({ code: 'prewarm', daemons: prewarmed, due });
  if (due > prewarmed && prewarmed >= max) reasons.push({ code: 'capped-at-prewarm-max', due, max });
  return reasons;
}

/** Tasks that floors and the forecast cannot launch while only pending jobs launch tasks. */
function jobsOnlyReasons({ floor, capacity }: PoolNeed, doubts: readonly Doubt[]): readonly Reason[] {
  const isHeld = launchesForJobsOnly(doubts) && floor.count > capacity.total;
  return isHeld ? [{ code: 'launching-for-jobs-only', wanted: floor.count }] : [];
}

/** Transitions that wait until a person lets the pool be woken again. */
export function heldBackReasons({ poolForecast: { heldBack } }: PoolNeed, now: EpochMs): readonly Reason[] {
  return heldBack.length === 0 ? [] : [{ code: 'not-woken-for', for: countTransitions(heldBack, now) }];
}

/** Whether only the forecast keeps some of the tasks. */
export function isKeptAwake({ poolForecast: { floors }, inUse }: PoolNeed): boolean {
  return floors.wake > Math.max(inUse, configuredFloor(floors, inUse).count);
}

/** Each limit that applies: how many tasks the pool wanted, and how many it got. */
function boundReasons(need: PoolNeed, { limits }: Config): readonly Reason[] {
  const { view, capacity, wanted, wantedBelowMax, granted, prebuildsWaiting, isRoomUsedUp } = need;
  const { pool } = view;
  const reasons: Reason[] = [];
  if (wanted > pool.max) reasons.push(...maxReasons(view, wanted));
  if (view.minFrom === 'pin' && capacity.total > pool.min)
    reasons.push({ code: 'above-pin', tasks: capacity.total - pool.min });
  if (prebuildsWaiting > 0)
    reasons.push({
      code: 'capped-at-prebuilds-max-tasks',
      jobs: prebuildsWaiting,
      maxTasks: pool.prebuilds.maxTasks,
    });
  if (capacity.isHeldBack && (granted < wantedBelowMax || view.missing > 0))
    reasons.push(...whyHeldBack(view, { wanted: wantedBelowMax, granted }));
  else if (granted < wantedBelowMax && isRoomUsedUp)
    reasons.push(
      overallLimit(need, { wanted: wantedBelowMax, limits, waitMinutesPerHour: 60 * need.peopleWaiting }),
    );
  return reasons.length > 0 ? reasons : stockBoundReasons(need, limits);
}

/** Why the pool may start only one probe at a time. */
function whyHeldBack(
  view: PoolView,
  counts: { readonly wanted: number; readonly granted: number },
): readonly Reason[] {
  const { failing, placement } = view;
  const reasons: Reason[] = [];
  if (failing.isTripped)
    reasons.push({
      code: 'starts-failing',
      failures: failing.count,
      ...counts,
      reason: failing.reason ?? 'ECS gives no reason',
    });
  if (placement !== undefined)
    reasons.push({
      code: 'placement-failing',
      tasks: unplacedTasks(view),
      ...counts,
      since: isoTime(placement.since),
      reason: placement.reason,
    });
  return reasons;
}

/** The limit that keeps the stock below the size that its rule asks for. */
function stockBoundReasons(need: PoolNeed, limits: Config['limits']): readonly Reason[] {
  const { view, granted, stockHeld, isRoomUsedUp, capacity } = need;
  if (stockHeld === 0 || capacity.isHeldBack) return [];
  if (granted >= view.pool.max) return maxReasons(view, granted + stockHeld);
  if (!isRoomUsedUp) return [];
  const wanted = Math.min(view.pool.max, granted + stockHeld);
  return [overallLimit(need, { wanted, limits, waitMinutesPerHour: 0 })];
}

/**
 * Which limit over all pools applies, and what it costs: a job that is held back waits for as long
 * as the limit applies.
 */
function overallLimit(
  { granted, isOverBudget }: PoolNeed,
  { wanted, limits: { maxTasks, dollarsPerHour }, waitMinutesPerHour }: Limited,
): Reason {
  const held = { wanted, granted, waitMinutesPerHour };
  return isOverBudget && dollarsPerHour !== undefined
    ? { code: 'capped-at-dollars-per-hour', ...held, dollarsPerHour }
    : { code: 'capped-at-max-tasks', ...held, maxTasks };
}

type Limited = {
  readonly wanted: number;
  readonly limits: Config['limits'];
  readonly waitMinutesPerHour: number;
};

/**
 * The limit of a pool itself, possibly set by a pin. A retiring pool has none, since it wants no
 * tasks.
 */
function maxReasons({ pool, overrides }: PoolNeed['view'], wanted: number): readonly Reason[] {
  if (pool.retiring) return [];
  const pin = overrides.find(({ kind }) => kind === 'pin');
  // a pin above the pool's own max changes nothing
  if (pin === undefined || (pin.count ?? 0) > pool.max)
    return [{ code: 'capped-at-max', wanted, max: pool.max }];
  return [{ code: 'pinned', wanted, count: pool.max, ...overrideNote(pin) }];
}

/**
 * Whether a task of the pool may get a drain request now. A daemon that has just left reads idle
 * for up to 90 s, and its task has no lease in that time. Until coderd shows that it is gone, no
 * other task gets a request; otherwise the pool could fall below its floor.
 */
export function mayDrain({ capacity }: PoolNeed, doubts: readonly Doubt[]): boolean {
  return doubts.length === 0 && capacity.unguarded === 0;
}

function leaveReasons(
  need: PoolNeed,
  leaving: readonly LeaveDecision[],
  doubts: readonly Doubt[],
): readonly Reason[] {
  const { unguarded } = need.capacity;
  const mayLeave = mayDrain(need, doubts);
  const count = (why: LeaveDecision['why'], kind?: LeaveDecision['kind']): number =>
    leaving.filter((decision) => decision.why === why && (kind ?? decision.kind) === decision.kind).length;
  const [long, brief] = [count('idle-long-enough'), count('idle-too-briefly')];
  const replacing = REPLACING.flatMap((code): readonly Reason[] => {
    if (code === 'old-secret') return oldSecretReasons(need.view, mayLeave ? leaving : []);
    const tasks = count(code);
    return tasks === 0 ? [] : [{ code, tasks, asked: mayLeave ? count(code, 'leave') : 0 }];
  });
  // with doubts, a task that seems to need a replacement may not need one
  const reasons: Reason[] = doubts.length === 0 ? [...replacing] : [];
  if (long > 0 && mayLeave) reasons.push(...spareReasons(need, long));
  const held = long + replacing.filter(isWaiting).length;
  if (held > 0 && unguarded > 0) reasons.push({ code: 'holding-for-unguarded', tasks: unguarded });
  if (held > 0 && doubts.length > 0) reasons.push({ code: 'holding-for-doubt', doubts });
  const kept = count('holding-for-protection');
  if (kept > 0) reasons.push({ code: 'holding-for-protection', tasks: kept });
  if (count('holding-for-deployment') > 0) reasons.push({ code: 'holding-for-deployment' });
  if (brief > 0) reasons.push({ code: 'idle-too-briefly', tasks: brief });
  return reasons;
}

/** Whether tasks with this reason still wait for a drain request. */
function isWaiting(reason: Reason): boolean {
  return reason.code !== 'old-secret' || reason.tasks > reason.draining;
}

function spareReasons({ view }: PoolNeed, tasks: number): readonly Reason[] {
  const { scaleIn } = view.pool;
  if (scaleIn === 'lease') return [{ code: 'idle-long-enough', tasks }];
  // rung `confirm` has its own reasons
  return scaleIn === 'never' ? [{ code: 'never-scaled-in', tasks }] : [];
}
