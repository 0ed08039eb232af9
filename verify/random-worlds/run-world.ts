/** One world from its beginning to its rest. */
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { World } from '../../simulator/world.ts';
import { Autoscaler } from './autoscaler.ts';
import { planBuilds } from './happenings/builds.ts';
import { planIncidents } from './happenings/incidents.ts';
import { type Overrides, planOverrides } from './happenings/overrides.ts';
import { planRetirements } from './happenings/retirements.ts';
import { planWorkspaces } from './happenings/workspaces.ts';
import { storyOf, timeText } from './kill-report.ts';
import { LookLog } from './look-log.ts';
import { unsettled } from './settled.ts';
import { Fleet } from './world/fleet.ts';
import { seeded, type WorldPlan } from './world/plan.ts';
import { VirtualScheduler } from './world/virtual-scheduler.ts';

export type WorldResult = {
  readonly seed: number;
  readonly leaves: number;
  /** Builds that a daemon began. */
  readonly builds: number;
  readonly killedByUs: number;
  readonly killedByOthers: number;
  readonly asksRefused: number;
  readonly ticks: number;
  /** That people set, malformed ones included. */
  readonly overrides: number;
  /** Pools, whether they came back or not. */
  readonly retired: number;
  /** Whether it came to rest only so far as the autoscaler's doubt lets it: see `LookLog.told`. */
  readonly isHeld: boolean;
  /** Of each leave, in order of time. */
  readonly idleToGoneSeconds: readonly number[];
  /** All that must not be, each a story; empty = as promised. */
  readonly problems: readonly string[];
};

export type RunOptions = {
  /** Tasks without a guard, to see that the simulation can fail. @default false */
  readonly isUnguarded?: boolean;
  /** Told of every incident, and of all that the autoscaler does. @default nobody */
  readonly say?: (line: string) => void;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How far back a task's story goes. */
const HISTORY_MS = 12 * HOUR_MS;
const STEP_MS = 10 * MINUTE_MS;
/** How long a world may take to rest once the last build has ended: guards look again after outages, tasks start anew. */
const REST_WITHIN_MS = 3 * HOUR_MS;
/** Builds wait for one another. */
const BUILDS_WITHIN_MS = 40 * HOUR_MS;

/** Runs a world; the same plan gives the same result. */
export async function runWorld(plan: WorldPlan, options: RunOptions = {}): Promise<WorldResult> {
  const image = options.isUnguarded ? 'bare' : 'guarded';
  const pools = plan.pools.map((pool) => ({ ...pool, image, retiring: false }) as const);
  const world = new World({ ...plan.world, pools, historyMs: HISTORY_MS });
  const pace = new VirtualScheduler(world.timeline);
  const say = (line: string): void => options.say?.(`${timeText(world.timeline.now())}  ${line}`);
  const log = new LookLog({ world, readLagMs: plan.world.readLagMs, say: options.say && say });
  const fleet = new Fleet(world, pools);
  const trouble = planIncidents({ world, plan, fleet, say, random: seeded(plan.seed + 1) });
  const builds = planBuilds({ world, plan, random: seeded(plan.seed + 2) });
  const workspaces = planWorkspaces({ world, plan, random: seeded(plan.seed + 4) });
  const overrides = planOverrides({ world, plan, fleet, say, random: seeded(plan.seed + 6) });
  const retirements = planRetirements({ world, plan, fleet, say });
  const autoscaler = new Autoscaler({
    ...{ world, plan, fleet, pace, random: seeded(plan.seed + 3), isCoderdDown: trouble.isCoderdDown },
    onLook: (result, durationMs) => log.add(result, durationMs),
    onError: (error) => log.addError(error),
  });
  void autoscaler.start();
  await pace.advanceTo(plusMs(world.timeline.now(), Math.round(plan.busyHours * HOUR_MS)));
  say('all turns quiet');
  for (const part of [builds, workspaces, trouble, overrides, retirements, autoscaler]) part.end();
  const unrest = await waitForRest({ world, fleet, pace, log, overrides });
  return {
    ...resultOf(world, plan, log),
    overrides: overrides.count(),
    retired: fleet.retired,
    problems: [...killings(world), ...lostJobs(world, trouble.crashedJobs()), ...unrest, ...log.problems],
  };
}

function resultOf(world: World, { seed }: WorldPlan, { looks, asksRefused, told }: LookLog) {
  const { killedByUs, killedByOthers } = world.figures();
  return {
    ...{ seed, killedByUs, killedByOthers, asksRefused, ticks: looks, isHeld: told.held.size > 0 },
    leaves: world.leaves().length,
    builds: world.coderd.jobs().filter(({ workerId }) => workerId !== undefined).length,
    idleToGoneSeconds: world.leaves().map(({ idleSince, goneAt }) => (goneAt - idleSince) / 1000),
  };
}

type Ending = {
  readonly world: World;
  readonly fleet: Fleet;
  readonly pace: VirtualScheduler;
  readonly log: LookLog;
  readonly overrides: Overrides;
};

/** Two looks at the world, ten minutes apart, have to find it at rest: a world that swings to and fro is not. */
async function waitForRest({ world, fleet, pace, log, overrides }: Ending): Promise<readonly string[]> {
  const quietAt = world.timeline.now();
  let endedAt: EpochMs | undefined;
  let rests = 0;
  for (;;) {
    await pace.advanceTo(plusMs(world.timeline.now(), STEP_MS));
    const now = world.timeline.now();
    const unrest = unsettled(world, fleet.pools, log.told);
    rests = unrest.length === 0 ? rests + 1 : 0;
    if (rests === 2) return [];
    const isOpen = world.coderd.jobs().some(({ completedAt }) => completedAt === undefined);
    const isFree = !isOpen && now >= overrides.lastEnd();
    endedAt = isFree ? (endedAt ?? now) : undefined;
    const deadline = endedAt === undefined ? quietAt + BUILDS_WITHIN_MS : endedAt + REST_WITHIN_MS;
    if (now > deadline)
      return [`the world does not come to rest: ${unrest.join('; ') || 'it swings to and fro'}`];
  }
}

function killings(world: World): readonly string[] {
  return world
    .kills()
    .filter(({ by }) => by === 'us')
    .map(storyOf);
}

/** coderd's own count: a job whose daemon has gone silent without a known cause. */
function lostJobs(world: World, crashed: number): readonly string[] {
  const hung = world.coderd.jobs().filter(({ failedBy }) => failedBy === 'hung-reaper').length;
  const known = world.kills().length + crashed;
  return hung > known ? [`coderd found ${hung} builds hung, and ${known} were killed or crashed`] : [];
}
