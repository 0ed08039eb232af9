/** Simulates one random world from its start until it has settled. */
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { VirtualScheduler } from '../../simulator/base/virtual-scheduler.ts';
import { World } from '../../simulator/world.ts';
import { auditLedger, DaemonRows, type LedgerFigures } from './audit-ledger.ts';
import { Autoscaler } from './autoscaler.ts';
import { planBuilds } from './events/builds.ts';
import { planFakeDaemons } from './events/fake-daemons.ts';
import { planIncidents } from './events/incidents.ts';
import { planOutOfMemory } from './events/memory.ts';
import { type Overrides, planOverrides } from './events/overrides.ts';
import { planRecordFaults } from './events/record-faults.ts';
import { planRetirements } from './events/retirements.ts';
import { planSecretChanges } from './events/secret-changes.ts';
import { planWorkspaces } from './events/workspaces.ts';
import { describeKill, timeText } from './kill-report.ts';
import { LookLog } from './look-log.ts';
import { unsettled } from './settled.ts';
import { Fleet } from './world/fleet.ts';
import { seeded, type WorldPlan } from './world/plan.ts';

export type WorldResult = {
  readonly seed: number;
  readonly leaves: number;
  /** Builds that a daemon started. */
  readonly builds: number;
  readonly killedByUs: number;
  readonly killedByOthers: number;
  readonly asksRefused: number;
  /** Drain requests because of a changed secret to tasks that have its present value. */
  readonly falseRolls: number;
  readonly ticks: number;
  /** Overrides that people set, malformed ones included. */
  readonly overrides: number;
  /** Pools that were retired, including those that were taken back later. */
  readonly retired: number;
  /** Keys that people replaced. */
  readonly secretsChanged: number;
  /** Daemons that claimed a task which was not theirs. */
  readonly fakeDaemons: number;
  /** How often the record of builds was lost, old, wrong or denied. */
  readonly recordFaults: number;
  /** Messages for the next look that were lost, repeated or late. */
  readonly messageFaults: number;
  /** Whether scale-in is still on hold at the end: see `LookLog.report`. */
  readonly isHeld: boolean;
  /** From idle until the task stopped, one value a leave, in order of time. */
  readonly idleToGoneSeconds: readonly number[];
  /** How the looks' ledger of builds that died compares with the world's own. */
  readonly ledger: LedgerFigures;
  /** Every violation that was found, each as a text; empty if there is none. */
  readonly problems: readonly string[];
};

export type RunOptions = {
  /**
   * Whether tasks run without a guard, to check that the simulation finds killed builds. @default
   * false
   */
  readonly isUnguarded?: boolean;
  /**
   * Called with a line for each event in the world and each action of the autoscaler. @default none
   */
  readonly print?: (line: string) => void;
};

/** How much history the world keeps of each task. */
const HISTORY_MS = 12 * HOUR_MS;
const STEP_MS = 10 * MINUTE_MS;
/**
 * A world must settle within this time after its last build has ended: guards retry after outages,
 * and tasks start again.
 */
const REST_WITHIN_MS = 3 * HOUR_MS;
/** Builds wait for each other, so the last one may end this late. */
const BUILDS_WITHIN_MS = 40 * HOUR_MS;

/** Simulates a world. The same plan always gives the same result. */
export async function runWorld(plan: WorldPlan, options: RunOptions = {}): Promise<WorldResult> {
  const image = options.isUnguarded ? 'bare' : 'guarded';
  const pools = plan.pools.map((pool) => ({ ...pool, image, retiring: false }) as const);
  const rows = new DaemonRows();
  const world: World = new World({
    ...plan.world,
    pools,
    historyMs: HISTORY_MS,
    onTaskStopped: (task) => rows.taskStopped(world, task),
  });
  const scheduler = new VirtualScheduler(world.timeline);
  const print = (line: string): void => options.print?.(`${timeText(world.timeline.now())}  ${line}`);
  const log = new LookLog({ world, readLagMs: plan.world.readLagMs, print: options.print && print });
  const fleet = new Fleet(world, pools);
  const incidents = planIncidents({ world, plan, fleet, print, random: seeded(plan.seed + 1) });
  const builds = planBuilds({ world, plan, random: seeded(plan.seed + 2) });
  const workspaces = planWorkspaces({ world, plan, random: seeded(plan.seed + 4) });
  const overrides = planOverrides({ world, plan, fleet, print, random: seeded(plan.seed + 6) });
  const secrets = planSecretChanges({ world, plan, fleet, print, random: seeded(plan.seed + 9) });
  const memory = planOutOfMemory({ world, plan, fleet, print, random: seeded(plan.seed + 21) });
  const fakes = planFakeDaemons({ world, plan, fleet, print, random: seeded(plan.seed + 31) });
  const record = planRecordFaults({ world, plan, print, random: seeded(plan.seed + 43) });
  const retirements = planRetirements({ world, plan, fleet, print });
  const autoscaler = new Autoscaler({
    world,
    plan,
    fleet,
    scheduler,
    random: seeded(plan.seed + 3),
    isCoderdDown: incidents.isCoderdDown,
    onLook: (result, durationMs) => log.add(result, durationMs),
    onError: (error) => log.addError(error),
  });
  autoscaler.start();
  await scheduler.advanceTo(plusMs(world.timeline.now(), Math.round(plan.busyHours * HOUR_MS)));
  print('all events end; waiting until the world settles');
  const events = [builds, workspaces, incidents, memory, overrides, retirements, secrets, fakes, record];
  for (const part of [...events, autoscaler]) part.end();
  const unrest = await waitForRest({ world, fleet, scheduler, log, overrides });
  const crashes = [...incidents.crashes(), ...memory.crashes()];
  const ledger = auditLedger({ world, crashes, log, rows, imitated: fakes.imitated });
  return {
    ...resultOf(world, plan, log),
    ledger: ledger.figures,
    overrides: overrides.count(),
    retired: fleet.retired,
    secretsChanged: secrets.count(),
    fakeDaemons: fakes.count(),
    recordFaults: record.count(),
    messageFaults: autoscaler.messageFaults,
    problems: [
      ...killedBuilds(world),
      ...lostJobs(world, crashes.length),
      ...ledger.problems,
      ...unrest,
      ...log.problems,
    ],
  };
}

function resultOf(world: World, { seed }: WorldPlan, { looks, asksRefused, falseRolls, report }: LookLog) {
  const { killedByUs, killedByOthers } = world.figures();
  return {
    seed,
    killedByUs,
    killedByOthers,
    asksRefused,
    falseRolls,
    ticks: looks,
    isHeld: report.held.size > 0,
    leaves: world.leaves().length,
    builds: world.coderd.jobs().filter(({ workerId }) => workerId !== undefined).length,
    idleToGoneSeconds: world.leaves().map(({ idleSince, goneAt }) => (goneAt - idleSince) / 1000),
  };
}

type Ending = {
  readonly world: World;
  readonly fleet: Fleet;
  readonly scheduler: VirtualScheduler;
  readonly log: LookLog;
  readonly overrides: Overrides;
};

/**
 * The world has settled if two checks ten minutes apart find nothing unsettled. One check would not
 * notice a world that oscillates.
 */
async function waitForRest({ world, fleet, scheduler, log, overrides }: Ending): Promise<readonly string[]> {
  const quietAt = world.timeline.now();
  let endedAt: EpochMs | undefined;
  let rests = 0;
  for (;;) {
    await scheduler.advanceTo(plusMs(world.timeline.now(), STEP_MS));
    const now = world.timeline.now();
    const unrest = unsettled(world, fleet.pools, log.report);
    rests = unrest.length === 0 ? rests + 1 : 0;
    if (rests === 2) return [];
    const isOpen = world.coderd.jobs().some(({ completedAt }) => completedAt === undefined);
    const isFree = !isOpen && now >= overrides.lastEnd();
    endedAt = isFree ? (endedAt ?? now) : undefined;
    const deadline = endedAt === undefined ? quietAt + BUILDS_WITHIN_MS : endedAt + REST_WITHIN_MS;
    if (now > deadline) return [`the world does not settle: ${unrest.join('; ') || 'it oscillates'}`];
  }
}

function killedBuilds(world: World): readonly string[] {
  return world
    .kills()
    .filter(({ by }) => by === 'us')
    .map(describeKill);
}

/**
 * Compares coderd's own count of hung jobs with the known kills and crashes. More hung jobs mean
 * that a build was killed unnoticed.
 */
function lostJobs(world: World, crashed: number): readonly string[] {
  const hung = world.coderd.jobs().filter(({ failedBy }) => failedBy === 'hung-reaper').length;
  const known = world.kills().length + crashed;
  return hung > known
    ? [`coderd found ${hung} hung builds, but only ${known} builds were killed or crashed`]
    : [];
}
