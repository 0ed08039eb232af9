/**
 * The decision: a pure function from a snapshot and the configuration to a plan. No clock (time is `takenAt`),
 * no environment, no randomness; the order of the input changes nothing.
 *
 * supply → demand → whose turn to be replaced it is → forecast and floors → assignment → bounds, last → who leaves → counts
 */
import { type Assignment, assign } from './assignment.ts';
import type { Config } from './config.ts';
import { type Group, isPending, readDemand, type TagGroup } from './demand.ts';
import { readNeeds } from './needs.ts';
import { readDue, readOffers, readWarmth } from './offers.ts';
import { readOutlook } from './outlook.ts';
import type { Action, Doubt, Plan } from './plan.ts';
import { decidePool, type PoolDecision } from './pool-decision.ts';
import { reportAssignment, reportFindings, reportUnserved } from './report.ts';
import { forecastFindings, reportForecast } from './report-forecast.ts';
import { markReplaced } from './rolling.ts';
import { measureRoom } from './room.ts';
import { judgeSight } from './sight.ts';
import type { Snapshot } from './snapshot.ts';
import { type PoolSight, readSupply } from './supply.ts';
import { isoTime } from './waiting.ts';

export type JobAssignment = Assignment<TagGroup>;

/** A plan with the steps that led to it, for whoever explains it. */
export type Deliberation = {
  readonly assignment: JobAssignment;
  /** In order of name. */
  readonly pools: readonly PoolDecision[];
  readonly plan: Plan;
};

/** Decides what to do about a snapshot. Total: it has an answer for every snapshot. */
export function decide(snapshot: Snapshot, config: Config): Plan {
  return deliberate(snapshot, config).plan;
}

/** Decides, and shows its work. */
export function deliberate(snapshot: Snapshot, config: Config): Deliberation {
  const demand = readDemand(snapshot);
  const supply = readSupply(snapshot, config);
  const sight = judgeSight(supply, snapshot);
  const isDoubtful = (pool: PoolSight): boolean => sight.doubtsOf(pool).length > 0;
  const turns = supply.map((pool) => {
    const percent = shareOf(sight.doubtsOf(pool), config);
    return percent === undefined ? pool : markReplaced(pool, percent, snapshot.takenAt);
  });
  const { lookout, outlooks, openings } = readOutlook(snapshot, turns);
  const room = measureRoom(outlooks, { config, isDoubtful });
  const due = readDue(lookout.calls, snapshot.takenAt);
  const groups: readonly Group[] = [...demand, ...due, ...readWarmth(room)];
  const placed = assign(groups, readOffers(room, snapshot), room.total);
  const assignment = ofJobs(placed);
  const pools = readNeeds(room, placed, due).map((need) =>
    decidePool(need, sight.doubtsOf(need.sight), { snapshot, config }),
  );
  const plan: Plan = {
    version: 1,
    takenAt: isoTime(snapshot.takenAt),
    pools: pools.map((pool) => pool.plan),
    actions: inOrder(pools.flatMap(({ actions }) => actions)),
    assignment: reportAssignment(assignment),
    unserved: reportUnserved(assignment, supply, snapshot),
    forecast: reportForecast(lookout, openings, snapshot.takenAt),
    findings: [
      ...reportFindings({ supply, sight, assignment, snapshot, config }),
      ...forecastFindings(lookout, snapshot),
    ],
  };
  return { assignment, pools, plan };
}

/**
 * The share of a pool that may be replaced now, in percent; undefined: nobody. Where no daemon is listed at all although tasks hold
 * leases, nobody is asked, but one more is launched: if its daemon comes, the others are proved to have none.
 */
function shareOf(doubts: readonly Doubt[], { roll }: Config): number | undefined {
  if (doubts.length === 0) return roll.atOncePercent;
  return doubts.every((doubt) => doubt === 'daemons-empty-while-leased') ? 0 : undefined;
}

/** The part of an assignment that is about jobs: what is kept ready is told by the pools. */
function ofJobs({ assigned, unserved }: Assignment): JobAssignment {
  return {
    assigned: assigned.flatMap(({ group, ...row }) => (isPending(group) ? [{ ...row, group }] : [])),
    unserved: unserved.filter(isPending),
  };
}

/** Scale-outs first, then asks and protections, then lower counts. */
function inOrder(actions: readonly Action[]): readonly Action[] {
  const rank = (action: Action): number => {
    if (action.kind !== 'set-desired') return 1;
    return action.to > action.from ? 0 : 2;
  };
  return actions.toSorted((a, b) => rank(a) - rank(b));
}
