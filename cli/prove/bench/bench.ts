/** What the steps of the experiment use: it reads, waits, notes what was measured, and undoes what was changed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DescribeServicesCommand, DescribeTasksCommand, type ECSClient } from '@aws-sdk/client-ecs';
import { CoderdAdapter } from '../../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import type { EcsAdapter } from '../../../lambda/adapters/ecs/ecs.ts';
import { taskRows } from '../../../lambda/adapters/ecs/schemas.ts';
import { isDenied } from '../../../lambda/adapters/shared/aws-calls.ts';
import { type EpochMs, isoTime } from '../../../lambda/decision/model/brands.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import type {
  Daemon,
  Protection,
  Reading,
  ServiceEvent,
  Task,
} from '../../../lambda/decision/model/snapshot.ts';
import { SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { taskId } from '../../../lambda/decision/supply/rows/daemons.ts';
import { withAdvice } from '../../shared/aws-advice.ts';
import { type CliEnvironment, InputError } from '../../shared/cli-environment.ts';
import { awsClock } from './aws-clock.ts';
import type { Seen } from './fate.ts';
import { type GuardLine, readGuardLines } from './guard-lines.ts';
import type { Place } from './preflight.ts';
import type { Measured, RowId } from './rows.ts';
import type { PoolTasks } from './tasks.ts';

/** `left`: what is left if it fails, and the command for it. */
type Undoing = { readonly undo: () => Promise<unknown>; readonly left: string };

/** The pool, its servers, and the command that ends its pause. */
type BenchPlace = Place &
  PoolTasks & {
    readonly ecs: EcsAdapter;
    readonly client: ECSClient;
    readonly coderd: CoderdHttp;
    readonly logs: CloudWatchLogsClient;
    readonly resume: string;
  };

/** CloudWatch Logs shows a line some seconds after it was written. */
const GUARD_LINE_MS = 60 * SECOND_MS;

export class Bench {
  readonly place: BenchPlace;
  /** AWS's time, by the latest answer of ECS. */
  readonly awsNow: () => EpochMs;
  /** AWS's time of the first change. */
  since: EpochMs | undefined;
  readonly startedAt: EpochMs;
  readonly #found = new Map<RowId, Measured>();
  readonly #undoings: Undoing[] = [];
  readonly #interrupt = new AbortController();
  readonly #terminal: CliEnvironment;

  constructor(place: BenchPlace, terminal: CliEnvironment) {
    this.place = place;
    this.awsNow = awsClock(place.client);
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

  throwIfInterrupted(): undefined {
    this.#interrupt.signal.throwIfAborted();
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

  /** All tasks of the pool, or those of these that ECS knows. */
  async tasks(among?: readonly Task[]): Promise<readonly Seen[]> {
    const { ecs, service } = this.place;
    const all = among === undefined ? itemsOf(await ecs.tasks([service])) : await this.#describe(among);
    if (all.length === 0) return [];
    const protections = itemsOf(await ecs.protections(all.map(({ taskArn }) => taskArn)));
    return all.map((task) => ({ ...task, leaseMs: this.#leaseOf(protections, task) }));
  }

  /** Not by lists, which lag: a task may be on none for a moment. */
  async #describe(tasks: readonly Task[]): Promise<readonly Task[]> {
    const { client, ecs } = this.place;
    const named = { cluster: ecs.cluster, tasks: tasks.map(({ taskArn }) => taskArn) };
    const { items, leftOut } = taskRows.parse((await client.send(new DescribeTasksCommand(named))).tasks);
    if (leftOut.length > 0) throw new InputError(`DescribeTasks: ${leftOut[0]?.why}`);
    return items;
  }

  #leaseOf(protections: readonly Protection[], { taskArn }: Task): number | undefined {
    const own = protections.find((each) => each.taskArn === taskArn);
    if (own === undefined || !own.protectionEnabled) return own && 0;
    return own.expirationDate && Math.max(0, own.expirationDate - this.awsNow());
  }

  /** How many deployments ECS lists, and what the service told since the first change. */
  async service(): Promise<{ readonly deployments: number; readonly events: readonly ServiceEvent[] }> {
    const { client, ecs, service } = this.place;
    const ask = { cluster: ecs.cluster, services: [service.serviceArn] };
    const { services: [own] = [] } = await client.send(new DescribeServicesCommand(ask));
    const events = (own?.events ?? []).map(({ createdAt, message = '' }) => ({
      createdAt: (createdAt?.getTime() ?? 0) as EpochMs,
      message,
    }));
    const recent = events.filter(({ createdAt }) => createdAt >= (this.since ?? 0));
    return { deployments: own?.deployments?.length ?? 0, events: recent };
  }

  /** The first line of the task's guard that fits, or why there is none. Waits for it. */
  async guardLine(
    task: Task,
    isWanted: (line: GuardLine) => boolean,
    withinMs = GUARD_LINE_MS,
  ): Promise<GuardLine | string> {
    const { logs, guardLog: group, pool } = this.place;
    if (group === undefined) return 'its tasks do not log to CloudWatch Logs';
    const query = { group, since: this.since ?? this.startedAt, daemon: `${pool.name}-${taskId(task)}` };
    try {
      const look = async () => (await readGuardLines(logs, query)).find(isWanted);
      return (await this.wait(withinMs, look)) ?? 'the log of its guard has no such line';
    } catch (cause) {
      this.#interrupt.signal.throwIfAborted();
      return withAdvice(messageOf(cause));
    }
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
