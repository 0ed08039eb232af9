/**
 * The decision: a pure function from a snapshot and the configuration to a plan. No clock (time is
 * `takenAt`), no environment, no randomness. The order of the input does not matter.
 * docs/internals/architecture.md lists the stages.
 */
import { type Assignment, assign, type Offer } from './assignment/assignment.ts';
import { computeLaunchLimits, type LaunchLimits } from './assignment/launch-limits.ts';
import { deriveNeeds, isPaid, paidFor } from './assignment/needs.ts';
import { deriveOffers } from './assignment/offers.ts';
import { deriveDue, deriveWarmth } from './assignment/ready.ts';
import {
  type DueGroup,
  deriveDemand,
  type Group,
  isPending,
  isUrgent,
  oldestOf,
  PRICE_OF,
  type TagGroup,
} from './demand/demand.ts';
import { derivePoolForecasts } from './forecast/pool-forecast.ts';
import { lookAgainAfter } from './look-again.ts';
import type { EpochMs } from './model/brands.ts';
import { by, partition, sum } from './model/collections.ts';
import type { Config } from './model/config.ts';
import type { Action, Doubt, Plan } from './model/plan.ts';
import type { Snapshot } from './model/snapshot.ts';
import { covers } from './model/tags.ts';
import { decidePool } from './pool/decide-pool.ts';
import type { PoolDecision } from './pool/pool-decision.ts';
import { prebuildFindings } from './report/prebuilds.ts';
import { prebuildWaitFindings } from './report/prebuilds-waiting.ts';
import { reportAssignment, reportFindings, reportUnserved } from './report/report.ts';
import { forecastFindings, reportForecast } from './report/report-forecast.ts';
import { isoTime } from './report/waiting.ts';
import { markReplaced } from './scale-in/rolling.ts';
import { daemonsWorth, launchCost } from './settings/patience.ts';
import { deriveStock, deriveStockSets, type StockSet, unlearnedPools } from './stock/stock-groups.ts';
import { deriveDoubts } from './supply/doubts.ts';
import { removedPools } from './supply/removed-pools.ts';
import { deriveSupply, type PoolView } from './supply/supply.ts';

export type JobAssignment = Assignment<TagGroup>;

/** A plan with the steps that led to it, for whoever explains it. */
export type Deliberation = {
  readonly assignment: JobAssignment;
  /** In order of name. */
  readonly pools: readonly PoolDecision[];
  /** The sets of pools whose stock can be learned. */
  readonly stockSets: readonly StockSet[];
  readonly plan: Plan;
};

/** Decides what to do about a snapshot. Total: it has an answer for every snapshot. */
export function decide(snapshot: Snapshot, config: Config): Plan {
  return deliberate(snapshot, config).plan;
}

/** Decides, and returns the intermediate results for explanations. */
export function deliberate(snapshot: Snapshot, config: Config): Deliberation {
  const pools = [...config.pools, ...removedPools(snapshot, config)];
  const supply = deriveSupply(snapshot, { ...config, pools });
  const demand = deriveDemand(snapshot).map((jobs) => withPatience(jobs, supply, snapshot.takenAt));
  const doubts = deriveDoubts(supply, snapshot);
  const withTurns = supply.map((pool) => {
    const percent = shareToReplace(doubts.doubtsOf(pool), config);
    return percent === undefined ? pool : markReplaced(pool, percent, snapshot.takenAt);
  });
  const { wakeDemands, poolForecasts, wakeAssignments } = derivePoolForecasts(snapshot, withTurns);
  const launchLimits = computeLaunchLimits(poolForecasts, { config, doubtsOf: doubts.doubtsOf });
  const due = deriveDue(wakeDemands.demands, withTurns, snapshot.takenAt);
  const stockSets = deriveStockSets(launchLimits, snapshot);
  const stock = deriveStock(stockSets, snapshot);
  const groups = inServingOrder(demand, due, [...deriveWarmth(launchLimits), ...stock]);
  const assigned = assignWithin(groups, deriveOffers(launchLimits, demand, snapshot), launchLimits);
  const assignment = ofJobs(assigned);
  const decisions = deriveNeeds(
    launchLimits,
    assigned,
    { due, stock, unlearned: unlearnedPools(launchLimits, stockSets, snapshot) },
    snapshot.takenAt,
  ).map((need) => decidePool(need, doubts.doubtsOf(need.view), { snapshot, config }));
  const plans = decisions.map((pool) => pool.plan);
  const plan: Plan = {
    version: 1,
    takenAt: isoTime(snapshot.takenAt),
    pools: plans,
    actions: inOrder(decisions.flatMap(({ actions }) => actions)),
    assignment: reportAssignment(assignment),
    unserved: reportUnserved(assignment, supply, snapshot),
    lookAgainAfterMs: lookAgainAfter(decisions, wakeDemands, {
      ...{ config, snapshot, stockSets },
    }),
    forecast: reportForecast(wakeDemands, wakeAssignments, snapshot.takenAt),
    findings: [
      ...reportFindings({ supply, doubts, assignment, snapshot, config }),
      ...forecastFindings(wakeDemands, snapshot),
      ...prebuildWaitFindings(assignment, { pools: plans, snapshot }),
      ...prebuildFindings(snapshot, config),
    ],
  };
  return { assignment, pools: decisions, stockSets, plan };
}

/**
 * The share of a pool that may be replaced now, in percent; undefined: none. If coderd lists no
 * daemon although tasks hold leases, the share is 0. Then no task gets a drain request, but one
 * counts as gone, so one more launches. If its daemon registers, the other tasks have none.
 */
function shareToReplace(doubts: readonly Doubt[], { roll }: Config): number | undefined {
  if (doubts.length === 0) return roll.atOncePercent;
  return doubts.every((doubt) => doubt === 'daemons-empty-while-leased') ? 0 : undefined;
}

/** Sets how many of the jobs are worth a daemon each, in the pool that is cheapest to start. */
function withPatience(group: TagGroup, supply: readonly PoolView[], now: EpochMs): TagGroup {
  const fitting = supply.filter(
    ({ organization, tags }) => organization?.id === group.organizationId && covers(tags, group.tags),
  );
  const [cheapest] = fitting
    .map((view) => ({ view, start: launchCost(view.pool, view.startTime.p50Ms) }))
    .toSorted(by(({ start }) => start));
  if (cheapest === undefined) return group;
  const value = cheapest.view.pool.waiting[PRICE_OF[group.for]];
  const waitedMs = now - oldestOf(group);
  return { ...group, atOnce: daemonsWorth({ ...group, waitedMs, value }, cheapest.start) };
}

/**
 * Jobs that people wait for, due jobs, `warm` by a setting, jobs that can wait, the stock, jobs due
 * later.
 */
function inServingOrder(
  demand: readonly TagGroup[],
  due: readonly DueGroup[],
  ready: readonly Group[],
): readonly Group[] {
  const [urgent, patient] = partition(demand, isUrgent);
  const [now, later] = partition(due, (group) => group.for === 'due');
  const [warm, stock] = partition(ready, (group) => group.for === 'warm');
  // `later` launches nothing, so it must not take a daemon that was launched for the stock
  return [...urgent, ...now, ...warm, ...patient, ...stock, ...later];
}

/**
 * As many launches as the budget allows. A pool whose task costs more than the rest of the budget
 * does not block a cheaper pool. But while the budget holds back a job that people wait for, the
 * rest launches no prebuild and no stock.
 */
function assignWithin(
  groups: readonly Group[],
  offers: readonly Offer[],
  { total, budget }: Pick<LaunchLimits, 'total' | 'budget'>,
): Assignment {
  const all = assign(groups, offers, total);
  if (paidFor(all) <= budget) return all;
  let open = offers;
  for (;;) {
    const best = mostWithin(groups, open, { total, budget });
    const isHeld = urgentLaunches(best) < urgentLaunches(all);
    const capped = capOverBudget(open, best, budget - paidFor(best));
    if (capped === undefined) return best;
    open = isHeld ? capped.map(forUrgentOnly) : capped;
  }
}

/** The most launches that fit the budget, by bisection: more launches never cost less. */
function mostWithin(
  groups: readonly Group[],
  offers: readonly Offer[],
  { total, budget }: Pick<LaunchLimits, 'total' | 'budget'>,
): Assignment {
  let [low, high] = [0, Math.max(0, total) + 1];
  let best = assign(groups, offers, low);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const tried = assign(groups, offers, middle);
    if (paidFor(tried) <= budget) [low, best] = [middle, tried];
    else high = middle;
  }
  return best;
}

/**
 * The offers without further launches in pools that cost more than the rest; undefined if there is
 * no such pool.
 */
function capOverBudget(
  offers: readonly Offer[],
  { assigned }: Assignment,
  left: number,
): readonly Offer[] | undefined {
  const launched = (offer: Offer): number => sum(assigned, (row) => (row.offer === offer ? row.jobs : 0));
  const isOverRest = (offer: Offer): boolean =>
    isPaid(offer) && offer.price > left && offer.places > launched(offer);
  if (!offers.some(isOverRest)) return undefined;
  return offers.map((offer) => (isOverRest(offer) ? { ...offer, places: launched(offer) } : offer));
}

function forUrgentOnly(offer: Offer): Offer {
  return { ...offer, bounds: { ...offer.bounds, prebuilds: 0, launchesStock: false } };
}

function urgentLaunches({ assigned }: Assignment): number {
  return sum(assigned, ({ group, offer, jobs }) => (isUrgent(group) && isPaid(offer) ? jobs : 0));
}

/**
 * The part of an assignment that is about jobs. The plan tells of daemons to have ready in the rows
 * of the pools.
 */
function ofJobs({ assigned, unserved }: Assignment): JobAssignment {
  return {
    assigned: assigned.flatMap(({ group, ...row }) => (isPending(group) ? [{ ...row, group }] : [])),
    unserved: unserved.filter(isPending),
  };
}

/** Raised counts first, then drain requests and protections, then lowered counts. */
function inOrder(actions: readonly Action[]): readonly Action[] {
  const rank = (action: Action): number => {
    if (action.kind !== 'set-desired') return 1;
    return action.to > action.from ? 0 : 2;
  };
  return actions.toSorted((a, b) => rank(a) - rank(b));
}
