/** Simulates one random world from its start until it has settled. */
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { World } from '../../world/world.ts';
import { auditLedger, DaemonRows, killedBuilds, lostJobs, timeText } from './audit-ledger.ts';
import { Autoscaler } from './autoscaler.ts';
import { planFakeDaemons } from './events/fake-daemons.ts';
import { planIncidents, planOutOfMemory } from './events/incidents.ts';
import { planOverrides, planRetirements } from './events/operators.ts';
import { planRecordFaults, planSecretChanges } from './events/stores.ts';
import { planBuilds, planWorkspaces } from './events/workload.ts';
import type { WorldResult } from './figures.ts';
import { LookLog } from './look-log.ts';
import { stopFrozen, unsettled } from './settled.ts';
import { Watch } from './watch.ts';
import { Fleet } from './world/fleet.ts';
import type { WorldPlan } from './world/plan.ts';
import { WorldEvents } from './world/world-events.ts';

export type RunOptions = {
  /** Whether tasks run without a guard, to check that the simulation finds killed builds. @default false */
  readonly isUnguarded?: boolean;
  /** Called with a line for each event in the world and each action of the autoscaler. @default none */
  readonly print?: (line: string) => void;
};

const HISTORY_MS = 12 * HOUR_MS;
const STEP_MS = 10 * MINUTE_MS;
/** After the last build has ended: guards retry after outages, and tasks start again. */
const REST_WITHIN_MS = 3 * HOUR_MS;
/** Builds wait for each other, so the last one may end this late. */
const BUILDS_WITHIN_MS = 40 * HOUR_MS;

export async function runWorld(plan: WorldPlan, options: RunOptions = {}): Promise<WorldResult> {
  const image = options.isUnguarded ? 'bare' : 'guarded';
  const pools = plan.pools.map((pool) => ({ ...pool, image, retiring: false }) as const);
  const rows = new DaemonRows();
  const world: World = new World({
    ...plan.world,
    pools,
    historyMs: HISTORY_MS,
    onAcquired: (_, taskId, pool) => watch.acquired(taskId, pool),
    onTaskStopped: (task) => {
      rows.taskStopped(world, task);
      watch.taskStopped(task);
    },
  });
  world.coderd.database.factor = plan.databaseFactor;
  const scheduler = new VirtualScheduler(world.timeline);
  const print = (line: string): void => options.print?.(`${timeText(world.timeline.now())}  ${line}`);
  const log = new LookLog({ world, readLagMs: plan.world.readLagMs, print: options.print && print });
  const fleet = new Fleet(world, pools);
  const events = new WorldEvents({ world, plan, fleet, print });
  const watch = new Watch(events);
  for (const planEvents of PLANNERS) planEvents(events);
  const autoscaler = new Autoscaler({
    events,
    scheduler,
    onLook: (result, durationMs, process) => {
      log.add(result, durationMs);
      rows.add(result);
      watch.add(result, process);
    },
    onError: (error) => log.addError(error),
  });
  autoscaler.start();
  await scheduler.advanceTo(plusMs(world.timeline.now(), Math.round(plan.busyHours * HOUR_MS)));
  print('all events end; waiting until the world settles');
  events.end();
  autoscaler.end();
  const unrest = await waitForRest(events, scheduler, log);
  const ledger = auditLedger({ ...events, log, rows });
  const { killedByUs, killedByOthers } = world.figures();
  return {
    ...events.counts,
    seed: plan.seed,
    killedByUs,
    killedByOthers,
    worlds: 1,
    heldWorlds: log.report.held.size > 0 ? 1 : 0,
    ticks: log.looks,
    retired: fleet.retired,
    messageFaults: autoscaler.messageFaults,
    leaves: world.leaves().length,
    builds: world.coderd.jobs().filter(({ workerId }) => workerId !== undefined).length,
    ...ledger.figures,
    watched: watch.figures(),
    digest: log.digest(),
    problems: [
      ...killedBuilds(world),
      ...lostJobs(world, events.crashes.length),
      ...ledger.problems,
      ...unrest,
      ...log.problems,
      ...watch.problems(),
    ],
  };
}

const PLANNERS = [
  planIncidents,
  planBuilds,
  planWorkspaces,
  planOverrides,
  planSecretChanges,
  planOutOfMemory,
  planFakeDaemons,
  planRecordFaults,
  planRetirements,
];

/** Settled: two checks ten minutes apart find nothing. One would not notice a world that oscillates. */
async function waitForRest(
  events: WorldEvents,
  scheduler: VirtualScheduler,
  log: LookLog,
): Promise<readonly string[]> {
  const { world, fleet } = events;
  const quietAt = world.timeline.now();
  let endedAt: EpochMs | undefined;
  let rests = 0;
  for (;;) {
    await scheduler.advanceTo(plusMs(world.timeline.now(), STEP_MS));
    const now = world.timeline.now();
    for (const task of stopFrozen(world, log.report.stuck))
      events.print(`a person stops task ${task}, which froze before its guard began`);
    const unrest = unsettled(world, fleet.pools, log.report);
    rests = unrest.length === 0 ? rests + 1 : 0;
    if (rests === 2) return [];
    const isOpen = world.coderd.jobs().some(({ completedAt }) => completedAt === undefined);
    const isFree = !isOpen && now >= events.lastOverrideEnd;
    endedAt = isFree ? (endedAt ?? now) : undefined;
    const deadline = endedAt === undefined ? quietAt + BUILDS_WITHIN_MS : endedAt + REST_WITHIN_MS;
    if (now > deadline) return [`the world does not settle: ${unrest.join('; ') || 'it oscillates'}`];
  }
}
