/**
 * The workspaces of the generator. A person starts, uses and stops a workspace of their own; coderd stops it at
 * its deadline (docs/internals/coder.md §10). People also create workspaces for one task. If the template has
 * prebuilt workspaces, most people claim one, and coderd builds the next.
 */
import { HOUR_MS } from '../../../../lambda/decision/model/units.ts';
import type { Transition } from '../trace.ts';
import { drawSeconds } from './draws.ts';
import type { Build, GeneratorContext, WorkInterval } from './generator-context.ts';
import type { Template } from './scenario.ts';
import { replacePrebuild } from './template-jobs.ts';

/** Coder's default `activity_bump`: use moves the deadline to one hour later. */
const BUMP_MS = HOUR_MS;

type Run = {
  readonly deadline: number;
  /** Duration of the stop build. Drawn at the start, so the order of later calls does not matter. */
  readonly stopSeconds: number;
};

export class Workspace {
  readonly template: Template;
  readonly #name: string;
  readonly #ttlMs: number;
  readonly #context: GeneratorContext;
  #run: Run | undefined;

  constructor(template: Template, ttlFactor: number, context: GeneratorContext) {
    this.template = template;
    this.#ttlMs = template.ttlHours * ttlFactor * HOUR_MS;
    this.#context = context;
    this.#name = context.nameWorkspace();
  }

  /** Whether it runs at this time. Adds coderd's autostop if the deadline has passed. */
  isRunning(at: number): boolean {
    if (this.#run !== undefined && this.#run.deadline <= at) {
      const { deadline, stopSeconds } = this.#run;
      this.#context.submit('autostop', this.template, deadline, stopSeconds, this.#build('stop'));
      this.#run = undefined;
    }
    return this.#run !== undefined;
  }

  start(kind: 'user' | 'autostart', at: number): void {
    if (this.isRunning(at)) return;
    const { random, submit } = this.#context;
    const seconds = drawSeconds(random, this.template.start);
    submit(kind, this.template, at, seconds, this.#build('start'));
    this.#run = {
      deadline: at + seconds * 1000 + this.#ttlMs,
      stopSeconds: drawSeconds(random, this.template.stop),
    };
  }

  use(until: number): void {
    if (this.#run === undefined) return;
    this.#run = { ...this.#run, deadline: Math.max(this.#run.deadline, until + BUMP_MS) };
  }

  /** Its owner stops it, if it runs. Returns the time at which it is stopped. */
  stop(at: number): number {
    if (!this.isRunning(at) || this.#run === undefined) return at;
    const { stopSeconds } = this.#run;
    this.#context.submit('user', this.template, at, stopSeconds, this.#build('stop'));
    this.#run = undefined;
    return at + stopSeconds * 1000;
  }

  /** Stops it and starts it again, as `coder restart` and "Update" do. Ignored while it is stopped. */
  restart(at: number): void {
    if (this.isRunning(at)) this.start('user', this.stop(at) + this.#context.random.between(1000, 5000));
  }
  #build(transition: Transition): Build {
    return { workspace: this.#name, transition };
  }
}

/** Assumption. The others need parameters that no preset has, or find no prebuilt workspace ready. */
const CLAIMS = 0.9;
/** Assumption. The others forget the workspace, and coderd stops it. */
const DELETED_BY_HAND = 0.7;

/** Adds the builds of a workspace that a person creates at work and deletes or forgets some hours later. */
export function addTaskWorkspace(
  template: Template,
  intervals: readonly WorkInterval[],
  context: GeneratorContext,
): void {
  const { random, submit } = context;
  const interval = random.pick(intervals);
  if (interval === undefined) return;
  const at = random.between(interval.from, interval.to);
  const { prebuilds } = template;
  const claims = prebuilds !== undefined && random.next() < CLAIMS;
  const workspace = context.nameWorkspace();
  const seconds = drawSeconds(random, claims ? prebuilds.claim : template.start);
  submit('user', template, at, seconds, { workspace, transition: 'start' });
  if (claims) replacePrebuild(template, prebuilds, at, context);
  const ready = at + seconds * 1000;
  const stopSeconds = drawSeconds(random, template.stop);
  if (random.next() < DELETED_BY_HAND)
    submit('user', template, ready + random.between(1, 6) * HOUR_MS, stopSeconds, {
      workspace,
      transition: 'delete',
    });
  else
    submit('autostop', template, ready + template.ttlHours * HOUR_MS, stopSeconds, {
      workspace,
      transition: 'stop',
    });
}
