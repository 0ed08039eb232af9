/** One world from its beginning to its rest. */
import type { Tick } from '../../lambda/app/tick.ts';
import { type EpochMs, plusMs } from '../../lambda/core/brands.ts';
import { World } from '../world.ts';
import { Autoscaler } from './autoscaler.ts';
import { planBuilds } from './builds.ts';
import { planIncidents } from './incidents.ts';
import { Pace } from './pace.ts';
import { seeded, type WorldPlan } from './plan.ts';
import { unsettled } from './settled.ts';
import { storyOf, timeText } from './story.ts';
import { planWorkspaces } from './workspaces.ts';

export type WorldResult = {
  readonly seed: number;
  readonly leaves: number;
  /** Builds that a daemon began. */
  readonly builds: number;
  readonly killedByUs: number;
  readonly killedByOthers: number;
  readonly asksRefused: number;
  readonly ticks: number;
  /** Whether it came to rest only so far as the autoscaler's doubt lets it: see `TickLog.held`. */
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
  const pools = plan.pools.map((pool) => ({ ...pool, image }) as const);
  const world = new World({ ...plan.world, pools, historyMs: HISTORY_MS });
  const pace = new Pace(world.timeline);
  const say = (line: string): void => options.say?.(`${timeText(world.timeline.now())}  ${line}`);
  const log = new TickLog(options.say && say);
  const trouble = planIncidents({ world, plan, say, random: seeded(plan.seed + 1) });
  const builds = planBuilds({ world, plan, random: seeded(plan.seed + 2) });
  const workspaces = planWorkspaces({ world, plan, random: seeded(plan.seed + 4) });
  const autoscaler = new Autoscaler({
    ...{ world, plan, pace, random: seeded(plan.seed + 3), isCoderdDown: trouble.isCoderdDown },
    onTick: (tick) => log.add(tick),
    onError: (error) => log.addError(error),
  });
  void autoscaler.start();
  await pace.advanceTo(plusMs(world.timeline.now(), Math.round(plan.busyHours * HOUR_MS)));
  say('all turns quiet');
  for (const part of [builds, workspaces, trouble, autoscaler]) part.end();
  const unrest = await waitForRest(world, plan, pace, log);
  return {
    ...resultOf(world, plan, log),
    problems: [...killings(world), ...lostJobs(world, trouble.crashedJobs()), ...unrest, ...log.errors],
  };
}

function resultOf(world: World, { seed }: WorldPlan, { ticks, asksRefused, held }: TickLog) {
  const { killedByUs, killedByOthers } = world.figures();
  return {
    ...{ seed, killedByUs, killedByOthers, asksRefused, ticks, isHeld: held.size > 0 },
    leaves: world.leaves().length,
    builds: world.coderd.jobs().filter(({ workerId }) => workerId !== undefined).length,
    idleToGoneSeconds: world.leaves().map(({ idleSince, goneAt }) => (goneAt - idleSince) / 1000),
  };
}

/** What the invocations of a world came to. */
class TickLog {
  ticks = 0;
  asksRefused = 0;
  /**
   * Organizations of which coderd lists no daemon at all although tasks hold leases, as of the last look: somebody deleted their
   * only key. That is a contradiction, which holds (docs/adr/0009), until a daemon comes with the next job, or a person stops the tasks.
   */
  held: ReadonlySet<string> = new Set();
  /** What an invocation threw and must not throw. */
  readonly errors: string[] = [];
  readonly #say: ((line: string) => void) | undefined;

  constructor(say: ((line: string) => void) | undefined) {
    this.#say = say;
  }

  add({ plan, outcome, failures }: Tick): void {
    this.ticks += 1;
    this.asksRefused += outcome.refused.length;
    this.held = new Set(
      plan.findings.flatMap((finding) =>
        finding.code === 'daemons-empty-while-leased' ? [finding.organization] : [],
      ),
    );
    if (this.#say === undefined) return;
    for (const action of plan.actions) this.#say(JSON.stringify(action));
    for (const { task, reason } of outcome.refused) this.#say(`refused: ${task}: ${reason}`);
    for (const { message } of failures) this.#say(`failed: ${message}`);
  }

  addError(error: unknown): void {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.errors.push(`an invocation threw ${said}`);
  }
}

/** Two looks at the world, ten minutes apart, have to find it at rest: a world that swings to and fro is not. */
async function waitForRest(
  world: World,
  plan: WorldPlan,
  pace: Pace,
  log: TickLog,
): Promise<readonly string[]> {
  const quietAt = world.timeline.now();
  let endedAt: EpochMs | undefined;
  let rests = 0;
  for (;;) {
    await pace.advanceTo(plusMs(world.timeline.now(), STEP_MS));
    const now = world.timeline.now();
    const unrest = unsettled(world, plan, log.held);
    rests = unrest.length === 0 ? rests + 1 : 0;
    if (rests === 2) return [];
    const isOpen = world.coderd.jobs().some(({ completedAt }) => completedAt === undefined);
    endedAt = isOpen ? undefined : (endedAt ?? now);
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
