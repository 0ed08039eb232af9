import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import type { EcsTask } from '../../../world/ecs/task.ts';
import { GuardedTasks, type GuardedTasksOptions } from '../../../world/guarded/guarded-tasks.ts';
import { type PoolSpec, World } from '../../../world/world.ts';
import { START } from '../ecs/ecs-fixture.ts';

/** Guards run faster than their world, which tolerates a busy machine. */
const GUARD_SPEED = 60;
const STEP = { everyMs: 10, worldMs: 200 };

/** Resolves once `holds` returns true. It polls, since processes do not notify. */
export function until(holds: () => boolean, beforeLook: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    const looking = setInterval(() => {
      beforeLook();
      if (!holds()) return;
      clearInterval(looking);
      resolve();
    }, STEP.everyMs);
  });
}

export type GuardedOptions = Pick<GuardedTasksOptions, 'startDaemon'> & {
  readonly pool?: Partial<PoolSpec>;
};

/**
 * A world with one pool of one task, which runs the real guard. Its time goes on while the test
 * waits.
 */
export class GuardedWorld implements AsyncDisposable {
  readonly world: World;
  readonly tasks: GuardedTasks;
  readonly #folder = ownFolder();

  private constructor({ pool, ...options }: GuardedOptions) {
    const clock = (): EpochMs => this.world.timeline.now();
    this.tasks = new GuardedTasks({ clock, speed: GUARD_SPEED, logFile: this.#logFile, ...options });
    this.world = new World({
      start: START,
      seed: 3,
      pools: [{ name: 'gpu', organization: 'data', tags: { gpu: 'yes' }, ...pool }],
      latencies: { boot: [500, 1_000], connect: [500, 1_000], stop: [500, 1_000] },
      guardedTask: this.tasks.task,
    });
  }

  static async open(options: GuardedOptions = {}): Promise<GuardedWorld> {
    const guarded = new GuardedWorld(options);
    await guarded.tasks.open();
    return guarded;
  }

  until(holds: () => boolean): Promise<void> {
    return until(holds, () => this.pass(STEP.worldMs));
  }

  pass(ms: number): void {
    this.world.timeline.advanceTo((this.world.timeline.now() + ms) as EpochMs);
  }

  submit(durationMs: number): void {
    this.world.coderd.submitJob({ organization: 'data', tags: { gpu: 'yes' }, durationMs });
  }

  desire(count: number): void {
    this.world.ecs.setDesiredCount(this.world.service('gpu').identity.name, count);
  }

  /** The first task; undefined if there is none. */
  task(): EcsTask | undefined {
    return this.world.ecs.tasks()[0];
  }

  firstTask(): EcsTask {
    const task = this.task();
    if (task === undefined) throw new Error('looking for the first task: the world has none; let time pass');
    return task;
  }

  jobs(): readonly string[] {
    return this.world.coderd.jobs().map(({ status }) => status);
  }

  /** The states that the guards have logged, each with its reason. */
  states(): readonly string[] {
    return readFileSync(this.#logFile, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line): { message: string; state: string; why: string } => JSON.parse(line))
      .filter(({ message }) => message === 'guard')
      .map(({ state, why }) => `${state} ${why}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    await this.tasks.close();
  }

  get #logFile(): string {
    return join(this.#folder, 'log');
  }
}
