/** What the steps of the experiment use: it reads, waits, notes what was measured, and undoes what was changed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { ECSClient } from '@aws-sdk/client-ecs';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { Daemon, Reading, Task } from '../../lambda/decision/model/snapshot.ts';
import { SECOND_MS } from '../../lambda/decision/model/units.ts';
import { withAdvice } from '../shared/aws-advice.ts';
import { type CliEnvironment, InputError } from '../shared/cli-environment.ts';
import type { Place } from './preflight.ts';
import type { Measured, RowId } from './rows.ts';

/** `left`: what is left if it fails, and the command for it. */
type Undoing = { readonly undo: () => Promise<unknown>; readonly left: string };

/** A task of the pool. `leaseMs`: what is left of its protection, 0 without one. */
export type Seen = Task & { readonly leaseMs: number };

/** The pool, its servers, and the command that ends its pause. */
type BenchPlace = Place & {
  readonly ecs: EcsAdapter;
  readonly client: ECSClient;
  readonly coderd: CoderdHttp;
  readonly logs: CloudWatchLogsClient;
  readonly resume: string;
};

export class Bench {
  readonly place: BenchPlace;
  readonly startedAt: EpochMs;
  readonly #found = new Map<RowId, Measured>();
  readonly #undoings: Undoing[] = [];
  readonly #interrupt = new AbortController();
  readonly #terminal: CliEnvironment;

  constructor(place: BenchPlace, terminal: CliEnvironment) {
    this.place = place;
    this.startedAt = terminal.now();
    this.#terminal = terminal;
  }

  /** At the end undoes all changes, the last one first. `stopped`: why it ended early. `left`: what is not undone. */
  async run(experiment: (bench: Bench) => Promise<void>) {
    const off = this.#terminal.onInterrupt?.(() => {
      this.#interrupt.abort(new InputError('it was interrupted'));
      const left = this.#undoings.map((each) => `\n  ${each.left}`).join('') || ' nothing';
      this.say(`Interrupted. It undoes what it did. A second Ctrl-C ends at once, and leaves:${left}`);
    });
    const stopped = await experiment(this).then(
      () => undefined,
      (cause: unknown) => withAdvice(messageOf(cause)),
    );
    this.say(stopped === undefined ? 'Undoing' : `Stopped: ${stopped}. Undoing`);
    const left: string[] = [];
    for (const { left: what, undo } of this.#undoings.toReversed())
      await undo().catch((cause: unknown) => left.push(`${what} (${messageOf(cause)})`));
    off?.();
    return { found: this.#found, stopped, left };
  }

  now(): EpochMs {
    return this.#terminal.now();
  }

  say(line: string): void {
    this.#terminal.err(`${isoTime(this.now()).slice(11, 19)}  ${line}\n`);
  }

  /** `isOk` undefined: not measured. */
  note(id: RowId, isOk: boolean | undefined, measured: string): void {
    this.#found.set(id, { isOk, measured });
  }

  willUndo(undoing: Undoing): void {
    this.#undoings.push(undoing);
  }

  /** Makes a change that is undone later, unless AWS surely did not make it. */
  async change({ make, ...undoing }: Undoing & { readonly make: () => Promise<void> }): Promise<void> {
    this.willUndo(undoing);
    await make().catch((error) => {
      if (isDenied(error.cause)) this.#undoings.pop();
      throw error;
    });
  }

  setCount(count: number): Promise<void> {
    return this.place.ecs.setDesired(this.place.service.serviceArn, count);
  }

  /** All tasks of the pool, or those of these. */
  async tasks(among?: readonly Task[]): Promise<readonly Seen[]> {
    const { ecs, service } = this.place;
    const all = itemsOf(await ecs.tasks([service]));
    const arns = new Set((among ?? all).map(({ taskArn }) => taskArn));
    const protections = itemsOf(await ecs.protections([...arns]));
    return all
      .filter(({ taskArn }) => arns.has(taskArn))
      .map((task) => {
        const held = protections.find((each) => each.taskArn === task.taskArn && each.protectionEnabled);
        return { ...task, leaseMs: Math.max(0, (held?.expirationDate ?? 0) - this.now()) };
      });
  }

  async daemons(): Promise<readonly Daemon[]> {
    return itemsOf(await new CoderdAdapter(this.place.coderd).daemons(this.place.organization, undefined));
  }

  /** What `look` finds, or undefined at the end. Throws what the last look throws, and after Ctrl-C. */
  async wait<T>(withinMs: number, look: () => Promise<T>, everyMs = 5 * SECOND_MS): Promise<T | undefined> {
    const { signal } = this.#interrupt;
    const sleepFor = this.#terminal.sleep ?? ((ms: number) => sleep(ms, undefined, { signal }));
    const endsAt = this.now() + withinMs;
    for (;;) {
      const isLast = this.now() >= endsAt;
      const found = await look().catch((cause) => {
        if (isLast) throw cause;
        return undefined;
      });
      if (found !== undefined || isLast) return found;
      // an aborted sleep throws an error of its own
      await sleepFor(everyMs).catch(() => {});
      signal.throwIfAborted();
    }
  }
}

function itemsOf<T>({ status, error, items }: Reading<T>): readonly T[] {
  if (status === 'ok') return items;
  throw new InputError(withAdvice(error ?? `a list is ${status}`));
}
