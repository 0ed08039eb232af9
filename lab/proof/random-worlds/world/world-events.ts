/** What all planners of events of a random world share. */
import type { EpochMs, JobId } from '../../../../lambda/decision/model/brands.ts';
import { HOUR_MS } from '../../../../lambda/decision/model/units.ts';
import type { Random } from '../../../world/base/random.ts';
import type { EcsTask } from '../../../world/ecs/task.ts';
import type { World } from '../../../world/world.ts';
import type { Fleet } from './fleet.ts';
import { seeded, type WorldPlan } from './plan.ts';

export type Crash = { readonly job: JobId; readonly taskId: string; readonly at: EpochMs };

type Given = {
  readonly world: World;
  readonly plan: WorldPlan;
  readonly fleet: Fleet;
  readonly print: (line: string) => void;
};

/** The events of a world: what happens until they end, and what has happened so far. */
export class WorldEvents {
  readonly world: World;
  readonly plan: WorldPlan;
  readonly fleet: Fleet;
  readonly print: (line: string) => void;
  isCoderdDown = false;
  /** So many of the next calls of the function are made on a connection that the far end forgot. */
  forgottenCalls = 0;
  readonly crashes: Crash[] = [];
  /** When looks could not see all, in milliseconds. */
  readonly blindSpans: { readonly from: number; readonly to: number }[] = [];
  /** The changes of desired counts that a person made, and what ECS then runs or will run: of the pool, and in all. */
  readonly countsByHand: {
    readonly pool: string;
    readonly at: EpochMs;
    readonly tasks: number;
    readonly allTasks: number;
  }[] = [];
  /** The ids of the tasks that other daemons claimed. */
  readonly imitated = new Set<string>();
  /** The latest end of all overrides that were set. */
  lastOverrideEnd: EpochMs;
  readonly counts = { overrides: 0, secretsChanged: 0, fakeDaemons: 0, recordFaults: 0, sightFaults: 0 };
  isOver = false;
  readonly #endings: (() => void)[] = [];

  constructor({ world, plan, fleet, print }: Given) {
    this.world = world;
    this.plan = plan;
    this.fleet = fleet;
    this.print = print;
    this.lastOverrideEnd = world.timeline.now();
  }

  /** A random source for one kind of event: a new kind changes nothing else in a world. */
  source(number: number): Random {
    return seeded(this.plan.seed + number);
  }

  /** Acts after `ms`, unless the events have ended by then. */
  after(ms: number, act: () => void): void {
    this.world.timeline.after(ms, () => {
      if (!this.isOver) act();
    });
  }

  /** Acts at random times, exponentially distributed with `perHour` times an hour. */
  repeat(random: Random, perHour: number, act: () => void): void {
    if (perHour === 0) return;
    this.after(Math.round((-Math.log(1 - random.next()) / perHour) * HOUR_MS), () => {
      act();
      this.repeat(random, perHour, act);
    });
  }

  atEnd(act: () => void): void {
    this.#endings.push(act);
  }

  end(): void {
    this.isOver = true;
    for (const act of this.#endings) act();
  }

  runningTask(random: Random): EcsTask | undefined {
    return random.pick(this.world.ecs.tasks().filter(({ state }) => state.lastStatus === 'RUNNING'));
  }

  /** The daemon of a task crashes. A job that it held is recorded. */
  crash(taskId: string): void {
    const job = this.world.guard(taskId)?.daemon?.crash(137);
    if (job !== undefined) this.crashes.push({ job: job.id, taskId, at: this.world.timeline.now() });
  }
}

/** Log-uniform: short and long times are equally likely. */
export function spreadMs(random: Random, fromMs: number, toMs: number): number {
  return Math.round(fromMs * (toMs / fromMs) ** random.next());
}
