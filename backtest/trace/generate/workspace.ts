/** A workspace that is started, used and stopped: by its owner, or by coderd at its deadline (docs/coder.md §10). */

import type { Transition } from '../trace.ts';
import { drawSeconds } from './draws.ts';
import type { Template } from './scenario.ts';
import type { Build, Scene } from './scene.ts';

const HOUR_MS = 3_600_000;
/** Coder's default `activity_bump`: who uses a workspace has it for so much longer. */
const BUMP_MS = HOUR_MS;

type Run = {
  readonly deadline: number;
  /** Of the build that will end it; drawn when it starts, so that it does not matter when one looks. */
  readonly stopSeconds: number;
};

export class Workspace {
  readonly template: Template;
  readonly #name: string;
  readonly #ttlMs: number;
  readonly #scene: Scene;
  #run: Run | undefined;

  /** `patience`: how many times as long as its template says it runs by itself. */
  constructor(template: Template, patience: number, scene: Scene) {
    this.template = template;
    this.#ttlMs = template.ttlHours * patience * HOUR_MS;
    this.#scene = scene;
    this.#name = scene.nameWorkspace();
  }

  /** Whether it runs at a time; coderd has stopped it by then if its deadline was before. */
  isRunning(at: number): boolean {
    if (this.#run !== undefined && this.#run.deadline <= at) {
      const { deadline, stopSeconds } = this.#run;
      this.#scene.submit('autostop', this.template, deadline, stopSeconds, this.#build('stop'));
      this.#run = undefined;
    }
    return this.#run !== undefined;
  }

  /** Starts it, unless it runs. */
  start(kind: 'user' | 'autostart', at: number): void {
    if (this.isRunning(at)) return;
    const { random, submit } = this.#scene;
    const seconds = drawSeconds(random, this.template.start);
    submit(kind, this.template, at, seconds, this.#build('start'));
    this.#run = {
      deadline: at + seconds * 1000 + this.#ttlMs,
      stopSeconds: drawSeconds(random, this.template.stop),
    };
  }

  /** Somebody works in it until then. */
  use(until: number): void {
    if (this.#run === undefined) return;
    this.#run = { ...this.#run, deadline: Math.max(this.#run.deadline, until + BUMP_MS) };
  }

  /** By hand, if it runs. Returns when it is stopped. */
  stop(at: number): number {
    if (!this.isRunning(at) || this.#run === undefined) return at;
    const { stopSeconds } = this.#run;
    this.#scene.submit('user', this.template, at, stopSeconds, this.#build('stop'));
    this.#run = undefined;
    return at + stopSeconds * 1000;
  }

  /** As `coder restart` and "Update" do: stops it, and starts it again. */
  restart(at: number): void {
    if (this.isRunning(at)) this.start('user', this.stop(at) + this.#scene.random.between(1000, 5000));
  }
  #build(transition: Transition): Build {
    return { workspace: this.#name, transition };
  }
}
