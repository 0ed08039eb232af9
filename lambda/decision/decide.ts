/**
 * The decision: a pure function from a snapshot and the configuration to a plan. No clock (time is
 * `takenAt`), no environment, no randomness. The order of the input does not matter. Each stage is
 * called after its folder.
 */
import { assignDemand, type JobAssignment, ofJobs } from './assign/assignment.ts';
import { computeLaunchLimits } from './assign/launch-limits.ts';
import { deriveOffers } from './assign/offers.ts';
import { deriveDemand } from './demand/demand.ts';
import { withPatience } from './demand/patience.ts';
import { type LeftOf, leftToPeers } from './demand/peers.ts';
import { limitChanges } from './drain/change-limit.ts';
import { decidePool, type PoolDecision } from './drain/decide-pool.ts';
import { deriveNeeds } from './drain/needs.ts';
import { derivePoolForecasts, type PoolForecasts } from './forecast/pool-forecast.ts';
import { deriveDue, deriveWarmth } from './forecast/ready.ts';
import { lookAgainAfter } from './look-again.ts';
import type { Config } from './model/config.ts';
import type { Plan } from './model/plan.ts';
import type { HeartbeatsSeen, PoolMemory, Snapshot } from './model/snapshot.ts';
import { awsTimeOf } from './model/snapshot.ts';
import { report } from './report/report.ts';
import { deriveStock, deriveStockSets, type StockSet, unlearnedPools } from './stock/stock-groups.ts';
import { deriveDoubts } from './supply/doubts.ts';
import { withUnsure } from './supply/heartbeats.ts';
import { type ForeignIn, foreignTo } from './supply/rows/unlisted-daemons.ts';
import { deriveSupply } from './supply/supply.ts';
import { markTurns } from './turns/rolling.ts';
import { shareParts } from './turns/share.ts';

/** A plan with the steps that led to it, for whoever explains it. */
export type Deliberation = {
  readonly forecasts: PoolForecasts;
  readonly assignment: JobAssignment;
  /** In order of name. */
  readonly pools: readonly PoolDecision[];
  /** Which jobs are left to a peer, and which daemons are not of this deployment: as this look found them. */
  readonly leftOf: LeftOf;
  readonly foreignIn: ForeignIn;
  /** The sets of pools whose stock can be learned. */
  readonly stockSets: readonly StockSet[];
  /** The keys of the mismatches that this look has seen (report/mismatches.ts). */
  readonly mismatches: readonly string[];
  /** What the next look of this process knows of the pools. */
  readonly memories: readonly PoolMemory[];
  /** What this look has seen of heartbeats. */
  readonly heartbeats: readonly HeartbeatsSeen[];
  readonly plan: Plan;
};

/** Decides what to do about a snapshot. Total: it has an answer for every snapshot. */
export function decide(snapshot: Snapshot, config: Config): Plan {
  return deliberate(snapshot, config).plan;
}

/** Decides, and returns the intermediate results for explanations. */
export function deliberate(snapshot: Snapshot, config: Config): Deliberation {
  const now = snapshot.takenAt;
  // supply
  const derived = deriveSupply(snapshot, config);
  const doubts = deriveDoubts(derived, snapshot);
  const { doubtsOf } = doubts;
  const supply = withUnsure(derived, doubtsOf);
  const foreignIn = foreignTo(supply, now);
  // turns
  const turned = markTurns(supply, doubtsOf, { roll: config.roll, now });
  const pools = shareParts(turned, doubtsOf, awsTimeOf(snapshot));
  // demand
  const leftOf = leftToPeers(supply, now);
  const jobs = withPatience(deriveDemand(snapshot, leftOf), supply, now);
  // forecast
  const forecasts = derivePoolForecasts(snapshot, pools, { leftOf, foreignIn });
  const due = deriveDue(forecasts.wakeDemands.demands, pools, now);
  const warm = deriveWarmth(forecasts, doubtsOf);
  // stock
  const stockSets = deriveStockSets(forecasts, snapshot, leftOf);
  const stock = deriveStock(stockSets, snapshot);
  const unlearned = unlearnedPools(pools, stockSets, snapshot);
  // assign
  const limits = computeLaunchLimits(forecasts, {
    ...{ config, doubtsOf, now: awsTimeOf(snapshot) },
    remembered: snapshot.remembered?.pools,
    seen: { mismatches: snapshot.remembered?.mismatches, takenAt: now },
  });
  const assigned = assignDemand(
    { jobs, due, warm, stock },
    deriveOffers(limits, jobs, { snapshot, foreignIn }),
    limits,
  );
  const assignment = ofJobs(assigned);
  // drain
  const needs = deriveNeeds(limits, assigned, { due, stock, unlearned }, now);
  const refused = snapshot.remembered?.refused ?? [];
  const decisions = limitChanges(
    needs.map((need) => decidePool(need, doubtsOf(need.view), { now, refused })),
  );
  // report
  const { plan: reported, mismatches } = report(
    { supply, doubts, forecasts, assignment, decisions, foreignIn },
    { snapshot, config },
  );
  const { demands } = forecasts.wakeDemands;
  const lookAgainAfterMs = lookAgainAfter(
    { ...reported, decisions, demands },
    { config, snapshot, stockSets },
  );
  return {
    forecasts,
    assignment,
    pools: decisions,
    leftOf,
    foreignIn,
    stockSets,
    mismatches,
    memories: limits.pools.map(({ memory }) => memory),
    heartbeats: doubts.heartbeats,
    plan: { ...reported, lookAgainAfterMs },
  };
}
