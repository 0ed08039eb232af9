import type { JobAssignment } from '../assign/assignment.ts';
import { type CountTransitions, countTransitions } from '../demand/transitions.ts';
import { inOrder } from '../drain/actions.ts';
import type { PoolDecision } from '../drain/decide-pool.ts';
import type { PoolForecasts } from '../forecast/pool-forecast.ts';
import { isoTime } from '../model/brands.ts';
import { sum } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import type { Plan, PoolPlan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { countDaemons, unplacedTasks } from '../supply/capacity.ts';
import type { Doubts } from '../supply/doubts.ts';
import type { ForeignIn } from '../supply/rows/unlisted-daemons.ts';
import type { PoolView } from '../supply/supply.ts';
import { reportAssignment, reportUnserved } from './assignment-rows.ts';
import { failingJobs } from './failing-jobs.ts';
import { reportFindings } from './findings.ts';
import { joinParts } from './join-parts.ts';
import { judgeMismatches } from './mismatches.ts';
import { reasonsOf } from './reasons.ts';
import { reportForecast } from './report-forecast.ts';
import { withSubmitters } from './submitters.ts';

export type Decided = {
  readonly supply: readonly PoolView[];
  readonly doubts: Doubts;
  readonly forecasts: PoolForecasts;
  readonly assignment: JobAssignment;
  readonly decisions: readonly PoolDecision[];
  readonly foreignIn: ForeignIn;
};

type Reported = {
  readonly plan: Omit<Plan, 'lookAgainAfterMs'>;
  /** The keys of the mismatches that this look has seen, reported or not. */
  readonly mismatches: readonly string[];
};

/** Reports all but the time of the next look. */
export function report(
  decided: Decided,
  { snapshot, config }: { readonly snapshot: Snapshot; readonly config: Config },
): Reported {
  const { supply, doubts, forecasts, assignment, decisions, foreignIn } = decided;
  const count: CountTransitions = (transitions) => countTransitions(transitions, snapshot.takenAt);
  const rows = decisions.map((decision) => ({
    ...reportPool(decision),
    why: reasonsOf(decision, { snapshot, config, count }),
  }));
  const reasons = new Map(rows.map(({ name, why }) => [name, why]));
  const pools = joinParts(rows);
  const found = withSubmitters(
    [
      ...reportFindings({ supply, doubts, assignment, snapshot, config }),
      ...failingJobs({ assigned: assignment.assigned, decisions, foreignIn, reasons, snapshot }),
    ],
    pools,
    snapshot,
  );
  const forecast = reportForecast(forecasts, snapshot, count);
  const { lasting, mismatches } = judgeMismatches(found, snapshot.remembered, snapshot.takenAt);
  const plan = {
    version: 1,
    takenAt: isoTime(snapshot.takenAt),
    pools,
    actions: inOrder(decisions.flatMap(({ actions }) => actions)),
    assignment: reportAssignment(assignment),
    unserved: reportUnserved(assignment, supply, snapshot),
    forecast: forecast.rows,
    findings: [...lasting, ...forecast.findings],
  } as const;
  return { plan, mismatches };
}

/** The row of one pool. */
function reportPool({ need, to }: PoolDecision): Omit<PoolPlan, 'why'> {
  const { service, pool, overrides, startTime } = need.view;
  return {
    name: pool.name,
    retiring: pool.retiring,
    overrides,
    service: service?.serviceArn ?? null,
    desired: service === undefined ? { from: null, to: null } : { from: service.desiredCount, to },
    daemons: countDaemons(need.view),
    notCreated: need.view.missing - unplacedTasks(need.view),
    pending: sum(Object.values(need.jobs), (jobs) => jobs),
    due: Math.max(need.poolForecast.wakeAssignment?.due.length ?? 0, need.ready.due),
    startTime,
    floor: need.floor,
  };
}
