/** Sends both tasks a drain request, as the autoscaler does, and waits until the idle one has left. */
import { UpdateTaskProtectionCommand } from '@aws-sdk/client-ecs';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { seconds } from '../../../lambda/explain/format.ts';
import { InputError } from '../../shared/cli-environment.ts';
import type { Bench } from '../bench/bench.ts';
import { fateOf, lossText } from '../bench/fate.ts';
import { leaseText, type Pair, TASKS } from './start.ts';

/** The drain request (docs/internals/architecture.md, "The lease"). */
const ASK_MINUTES = 1380;
const isAsked = (ms: number): boolean => ms > 22.9 * HOUR_MS && ms < 23.1 * HOUR_MS;
/** What ECS shows may lag behind what it has stored. */
const SHOWN_MS = MINUTE_MS;

/** The count is that of the tasks again, as when the autoscaler sends one. Returns whether the idle task has left. */
export async function drain(bench: Bench, pair: Pair): Promise<boolean> {
  await bench.setCount(TASKS);
  const { completed_at: endedAt, status, error } = await pair.build.read();
  if (endedAt) throw new InputError(`the build ended too early: ${error || status}`);
  const answered = await ask(bench, pair);
  const askedAt = bench.now();
  await noteEnd(bench, pair, answered);
  return noteArrival(bench, pair, askedAt);
}

/** What the answer says is left of the protection of the busy task; undefined: nothing. */
async function ask(bench: Bench, { busy, idle }: Pair): Promise<number | undefined> {
  const { client, ecs } = bench.place;
  const tasks = [busy.taskArn, idle.taskArn];
  const request = { cluster: ecs.cluster, protectionEnabled: true, expiresInMinutes: ASK_MINUTES };
  let refused: string | undefined;
  const answer = await bench.wait(30 * SECOND_MS, async () => {
    const sent = await client.send(new UpdateTaskProtectionCommand({ ...request, tasks }));
    refused = sent.failures?.[0] && (sent.failures[0].reason ?? 'no reason');
    return refused === undefined ? sent : undefined;
  });
  if (answer === undefined) throw new InputError(`ECS refused the drain request: ${refused}`);
  const own = answer.protectedTasks?.find(({ taskArn }) => taskArn === busy.taskArn);
  if (own?.protectionEnabled !== true) return own && 0;
  return own.expirationDate && own.expirationDate.getTime() - bench.awsNow();
}

/** Both the answer and what ECS shows afterwards must have the end that was asked for. */
async function noteEnd(bench: Bench, { busy }: Pair, answered: number | undefined): Promise<void> {
  let shown: number | undefined;
  await bench
    .wait(
      SHOWN_MS,
      async () => {
        shown = (await bench.tasks([busy]))[0]?.leaseMs;
        // a later end may be the one before the request
        return (shown !== undefined && shown < 23.1 * HOUR_MS) || undefined;
      },
      2 * SECOND_MS,
    )
    .catch(() => bench.throwIfInterrupted());
  const isKnown = shown !== undefined && answered !== undefined;
  const isOk = isKnown ? isAsked(shown ?? 0) && isAsked(answered ?? 0) : undefined;
  const answer = answered === undefined ? 'no end' : leaseText(answered);
  bench.note('end-may-be-earlier', isOk, `answer: ${answer}; afterwards: ${leaseText(shown)}`);
  if (isOk === false) throw new InputError('ECS did not set the end that was asked for');
}

/** Listed as RUNNING and without protection, after its guard has logged that it was asked. */
async function noteArrival(bench: Bench, { idle }: Pair, askedAt: number): Promise<boolean> {
  let own: Awaited<ReturnType<Bench['tasks']>>[number] | undefined;
  let isRead = false;
  const tookMs = await bench
    .wait(
      2 * MINUTE_MS,
      async () => {
        [own] = await bench.tasks([idle]);
        isRead = true;
        if (fateOf(own) !== 'kept') return Infinity;
        return own?.lastStatus === 'RUNNING' && own.leaseMs === 0 ? bench.now() - askedAt : undefined;
      },
      2 * SECOND_MS,
    )
    .catch(() => bench.throwIfInterrupted());
  const note = (isOk: boolean | undefined, measured: string): boolean => {
    bench.note('drain-request-arrives', isOk, measured);
    if (isOk !== true) bench.note('choice-to-signal', undefined, `the idle task: ${measured}`);
    return isOk === true;
  };
  if (!isRead) return note(undefined, 'its protection could not be read');
  if (tookMs === Infinity) return note(undefined, lossText(own));
  if (tookMs === undefined && own?.leaseMs === undefined) return note(undefined, leaseText(undefined));
  if (tookMs === undefined) return note(false, 'not within 2 min; it is still protected');
  const line = await bench.guardLine(idle, ({ state, why }) => state === 'draining' && why === 'asked');
  if (typeof line === 'string')
    return note(undefined, `without protection after ${seconds(tookMs)}; ${line}`);
  return note(true, `${seconds(tookMs)}; its guard logged that it was asked`);
}
