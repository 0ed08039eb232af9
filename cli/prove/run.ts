/** Runs the experiment, and undoes what it changed, also after an error or Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { isoTime } from '../../lambda/decision/model/brands.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { withAdvice } from '../shared/aws-advice.ts';
import { type CliEnvironment, InputError } from '../shared/cli-environment.ts';
import { type Bench, experiment, type Undoing } from './experiment.ts';
import type { Place } from './preflight.ts';
import type { Measured, RowId } from './rows.ts';

export type Tried = {
  readonly found: ReadonlyMap<RowId, Measured>;
  /** Why it ended early. */
  readonly stopped: string | undefined;
  /** What could not be undone, with the commands that undo it. */
  readonly left: readonly string[];
};

type Servers = Pick<Bench, 'client' | 'coderd' | 'logs' | 'resume'> & { readonly cluster: string };
type Wait = (ms: number, signal?: AbortSignal) => Promise<unknown>;

/** Does not throw once something has been changed. */
export async function tryOut(
  place: Place,
  { cluster, ...servers }: Servers,
  { now, err, onInterrupt, sleep: given }: CliEnvironment,
): Promise<Tried> {
  const wait: Wait = given ?? ((ms, signal) => sleep(ms, undefined, { signal }));
  const say = (line: string): void => err(`${isoTime(now()).slice(11, 19)}  ${line}\n`);
  const undoings: Undoing[] = [];
  const found = new Map<RowId, Measured>();
  const stopping = new AbortController();
  const off = onInterrupt?.(() => {
    stopping.abort(new InputError('it was interrupted'));
    const left = undoings.map((each) => `\n  ${each.left}`).join('');
    say(`Interrupted. It undoes what it did. A second Ctrl-C ends at once, and leaves:${left || ' nothing'}`);
  });
  const ecs = new EcsAdapter(servers.client, cluster);
  const bench: Bench = {
    ...{ ...place, ...servers, ecs, say, startedAt: now() },
    before: new Set((await ecs.tasks([place.service])).items.map(({ taskArn }) => taskArn)),
    clock: { now, sleep: (ms) => interruptible(wait, ms, stopping.signal) },
    note: (id, isOk, measured) => found.set(id, { isOk, measured }),
    willUndo: (undoing) => undoings.push(undoing),
  };
  const stopped = await experiment(bench).then(
    () => undefined,
    (cause: unknown) => withAdvice(messageOf(cause)),
  );
  say(stopped === undefined ? 'Undoing' : `Stopped: ${stopped}. Undoing`);
  const left = await undo(undoings);
  off?.();
  return { found, stopped, left };
}

async function interruptible(wait: Wait, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  // an aborted wait throws an error of its own
  await wait(ms, signal).catch(() => {});
  signal.throwIfAborted();
}

/** The last change first. Returns what is left. */
async function undo(undoings: readonly Undoing[]): Promise<readonly string[]> {
  const left: string[] = [];
  for (const { left: what, run } of undoings.toReversed())
    await run().catch((cause: unknown) => left.push(`${what} (${messageOf(cause)})`));
  return left;
}
