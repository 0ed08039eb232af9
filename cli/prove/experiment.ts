/** The experiment: two tasks, a build in one of them, a lower count, a drain request. Each step notes what it measured. */
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { type ECSClient, UpdateTaskProtectionCommand } from '@aws-sdk/client-ecs';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import { isoTime, lastPart, type TaskArn } from '../../lambda/decision/model/brands.ts';
import type { Daemon, Reading, Task } from '../../lambda/decision/model/snapshot.ts';
import { displayTags } from '../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lambda/decision/model/units.ts';
import { nameInParts } from '../../lambda/decision/supply/daemons.ts';
import { seconds } from '../../lambda/explain/format.ts';
import type { Clock } from '../../lambda/look/ports.ts';
import { type LoggedLook, readLooks } from '../adapters/look-log.ts';
import { OverrideTags } from '../adapters/override-tags.ts';
import { withAdvice } from '../shared/aws-advice.ts';
import { InputError } from '../shared/cli-environment.ts';
import { BUILD_S, cancelBuild, pushBuild, readBuild, type Version } from './build.ts';
import type { Place } from './preflight.ts';
import { askRole } from './role.ts';
import type { RowId } from './rows.ts';

/** `left`: what is left if it fails, and the command for it. */
export type Undoing = { readonly left: string; readonly run: () => Promise<unknown> };

export type Bench = Place & {
  readonly ecs: EcsAdapter;
  readonly client: ECSClient;
  readonly coderd: CoderdHttp;
  readonly logs: CloudWatchLogsClient;
  /** Tasks from before the experiment, which have stopped. */
  readonly before: ReadonlySet<TaskArn>;
  readonly startedAt: number;
  /** The command that ends the pause. */
  readonly resume: string;
  readonly clock: Clock;
  readonly say: (line: string) => void;
  /** `isOk` undefined: not measured. */
  readonly note: (id: RowId, isOk: boolean | undefined, measured: string) => void;
  readonly willUndo: (undoing: Undoing) => void;
};

export const PAUSE_MS = 30 * MINUTE_MS;
const TASKS = 2;
const HOLD_MS = MINUTE_MS;
const LEASE_MINUTES = 2880;
/** The guard waits 3 s, and both ends are read to the second. */
const SIGNAL_MS = 4 * SECOND_MS;

export async function experiment(bench: Bench): Promise<void> {
  const { say, note, service, stack } = bench;
  say('Pausing the pool until a look of the function has seen it (a minute or two)');
  await pause(bench);
  say(`Starting ${TASKS} tasks (a minute or two)`);
  const tasks = await startTasks(bench);
  const role = await askRole({ stack, service: service.serviceArn, task: tasks[0]?.taskArn ?? '' });
  note('role-can', role.can.isOk, role.can.measured);
  note('role-cannot-stop', role.cannot.isOk, role.cannot.measured);
  say(`Starting a build of ${BUILD_S / 60} minutes in one of them`);
  const pair = await startBuild(bench, tasks);
  say(`Lowering the desired count to 0 for ${seconds(HOLD_MS)}: ECS must keep both tasks`);
  await lowerCount(bench, pair);
  say('Sending both tasks a drain request (up to a minute)');
  const askedAt = await drain(bench, pair);
  say('Waiting for the end of the build, and of its task (some minutes)');
  await finish(bench, pair, askedAt);
  noteMessages(bench, await looksOf(bench));
}

async function pause(bench: Bench): Promise<void> {
  const { pool, service, client, clock, startedAt, resume } = bench;
  const tags = new OverrideTags(client);
  const until = isoTime(startedAt + PAUSE_MS);
  const left = `pool "${pool.name}" is paused until ${until}. Run: ${resume}`;
  const override = { kind: 'pause', until, by: 'autoscaler prove', why: 'an experiment' } as const;
  await change(bench, { left, run: () => tags.remove(service.serviceArn, ['pause']) }, () =>
    tags.write(service.serviceArn, override),
  );
  const pausedAt = clock.now() + SECOND_MS;
  const look = await wait(bench, 3 * MINUTE_MS, 5 * SECOND_MS, async () =>
    (await looksOf(bench)).find(({ takenAt }) => takenAt > pausedAt),
  );
  if (look === undefined) throw new InputError('the log of the function has no look of the last 3 min');
}

async function startTasks(bench: Bench): Promise<readonly Task[]> {
  const { ecs, service, pool } = bench;
  const command = `aws ecs update-service --cluster ${ecs.cluster} --service ${service.serviceName} --desired-count 0`;
  const left = `pool "${pool.name}" may still have tasks. Run: ${command}`;
  await change(bench, { left, run: () => sendAway(bench) }, () => ecs.setDesired(service.serviceArn, TASKS));
  const ready = await wait(bench, 6 * MINUTE_MS, 5 * SECOND_MS, () => readStarts(bench));
  if (ready !== undefined) return ready;
  const why = (await tasksOf(bench)).flatMap(({ stoppedReason }) => stoppedReason ?? [])[0];
  throw new InputError(
    `${TASKS} tasks with a lease and a daemon did not start in 6 min${why ? `: ${why}` : ''}`,
  );
}

/** Undefined: they are not ready yet. */
async function readStarts(bench: Bench): Promise<readonly Task[] | undefined> {
  const { note } = bench;
  const running = (await tasksOf(bench)).filter(({ lastStatus }) => lastStatus === 'RUNNING');
  const leases = await leasesOf(bench, running);
  const daemons = new Map((await daemonsOf(bench)).map((each) => [nameInParts(each.name).ending, each]));
  const starts = running.map((task) => ({
    ...{ task, leaseMs: leases.get(task.taskArn) ?? 0 },
    times: [task.createdAt, task.pullStartedAt, task.pullStoppedAt, task.startedAt].concat(
      daemons.get(lastPart(task.taskArn))?.created_at,
    ),
  }));
  if (starts.length === 0) return undefined;
  const shown = starts.map(({ leaseMs }) => hoursText(leaseMs));
  note(
    'lease',
    starts.every(({ leaseMs }) => leaseMs > 47 * HOUR_MS),
    `${shown.join(' and ')} left`,
  );
  const between = (from: number, to: number): readonly number[] =>
    starts.flatMap(({ times }) => (times[to] === undefined ? [] : times[to] - (times[from] ?? NaN)));
  const pulls = between(1, 2);
  note(
    'image-pull',
    pulls.every((ms) => ms < MINUTE_MS),
    pulls.map(seconds).join(' and '),
  );
  const ready = starts.filter(({ times, leaseMs }) => times[4] !== undefined && leaseMs > 0);
  if (ready.length < TASKS) return undefined;
  const phases = PHASES.map(
    (name, at) =>
      `${between(at, at + 1)
        .map(seconds)
        .join(' and ')} ${name}`,
  );
  const wholes = between(0, 4);
  const whole = `${wholes.map(seconds).join(' and ')}: ${phases.join(', ')}`;
  note(
    'start',
    wholes.every((ms) => ms < 3 * MINUTE_MS),
    whole,
  );
  return ready.slice(0, TASKS).map(({ task }) => task);
}

const PHASES = ['network', 'image', 'container', 'guard and daemon'];

type Pair = { readonly busy: Task; readonly idle: Task; readonly version: Version };

async function startBuild(bench: Bench, tasks: readonly Task[]): Promise<Pair> {
  const { coderd, pool, organization } = bench;
  const version = await pushBuild(coderd, organization.id, displayTags(pool.tags));
  const left = `the build of version ${version.id} may still run. It ends by itself within ${2 * BUILD_S} s`;
  bench.willUndo({ left, run: () => cancelBuild(coderd, version) });
  const job = await wait(bench, 3 * MINUTE_MS, 2 * SECOND_MS, async () => {
    const read = await readBuild(coderd, version);
    return read.status === 'pending' ? undefined : read;
  });
  if (job?.status !== 'running')
    throw new InputError(`the build did not start: ${job?.error || job?.status}`);
  const daemon = (await daemonsOf(bench)).find(({ id }) => id === job.worker_id);
  const busy = tasks.find((task) => daemon?.name.endsWith(lastPart(task.taskArn)));
  const idle = tasks.find((task) => task !== busy);
  if (busy === undefined || idle === undefined) throw new InputError('another daemon took the build');
  return { version, busy, idle };
}

async function lowerCount(bench: Bench, { busy, idle }: Pair): Promise<void> {
  const { ecs, service, note, client } = bench;
  await ecs.setDesired(service.serviceArn, 0);
  const stopped = async (): Promise<number | undefined> =>
    [busy, idle].length - (await wantedOf(bench, [busy, idle])).length || undefined;
  let lost = await wait(bench, HOLD_MS / 3, 5 * SECOND_MS, stopped);
  if (lost === undefined) {
    const renewal = { protectionEnabled: true, expiresInMinutes: LEASE_MINUTES };
    const { failures = [] } = await client.send(
      new UpdateTaskProtectionCommand({ cluster: ecs.cluster, tasks: [idle.taskArn], ...renewal }),
    );
    const answer = failures[0] === undefined ? 'granted' : `${failures[0].reason}`;
    note('renewal-while-blocked', ['granted', 'DEPLOYMENT_BLOCKED'].includes(answer), answer);
    lost = await wait(bench, (2 * HOLD_MS) / 3, 5 * SECOND_MS, stopped);
  }
  const measured = `ECS stopped ${lost ?? 0} of ${TASKS} protected tasks within ${seconds(HOLD_MS)}`;
  note('protected-tasks-stay', lost === undefined, measured);
  if (lost !== undefined) throw new InputError('ECS stopped a protected task, so the rest was not tried');
}

/** The count is that of the tasks again, as when the autoscaler sends one. Returns when it was sent. */
async function drain(bench: Bench, pair: Pair): Promise<number> {
  const { ecs, service, note, clock, coderd } = bench;
  const { busy, idle } = pair;
  await ecs.setDesired(service.serviceArn, TASKS);
  if ((await readBuild(coderd, pair.version)).completed_at) throw new InputError('the build ended too early');
  const sent = await wait(bench, 30 * SECOND_MS, 5 * SECOND_MS, async () => {
    const refused = await ecs.requestDrain([busy.taskArn, idle.taskArn]);
    return refused.length === 0 || undefined;
  });
  if (sent === undefined) throw new InputError('ECS refused the drain request');
  const askedAt = clock.now();
  const leftMs = (await leasesOf(bench, [busy])).get(busy.taskArn) ?? 0;
  note('end-may-be-earlier', leftMs < 24 * HOUR_MS, `${hoursText(leftMs)} left after the request`);
  if (leftMs >= 24 * HOUR_MS) throw new InputError('ECS kept the end, so no drain request can arrive');
  const goneAt = await wait(bench, 3 * MINUTE_MS, 2 * SECOND_MS, async () =>
    (await leasesOf(bench, [idle])).has(idle.taskArn) ? undefined : clock.now(),
  );
  const tookMs = (goneAt ?? Infinity) - askedAt;
  note('drain-request-arrives', tookMs <= 2 * MINUTE_MS, goneAt ? seconds(tookMs) : 'not within 3 min');
  if (goneAt !== undefined) await choose(bench, pair);
  return askedAt;
}

/** One task may go now: ECS must choose the one without protection, and tell it at once. */
async function choose(bench: Bench, { busy, idle }: Pair): Promise<void> {
  const { ecs, service, note, clock } = bench;
  await ecs.setDesired(service.serviceArn, TASKS - 1);
  let chosenAt: number | undefined;
  const toldAt = await wait(bench, 90 * SECOND_MS, SECOND_MS, async () => {
    const own = (await tasksOf(bench)).find(({ taskArn }) => taskArn === idle.taskArn);
    if (own?.desiredStatus === 'STOPPED') chosenAt ??= clock.now();
    return own?.stoppingAt && clock.now();
  });
  const isWrong = (await wantedOf(bench, [busy])).length === 0;
  const tookMs = (toldAt ?? Infinity) - (chosenAt ?? 0);
  const shown = toldAt === undefined ? 'no signal within 90 s' : `about ${seconds(tookMs)}, read each second`;
  const measured = isWrong ? 'ECS chose the protected task' : shown;
  note('choice-to-signal', !isWrong && tookMs <= SIGNAL_MS, measured);
}

async function finish(bench: Bench, { busy, version }: Pair, askedAt: number): Promise<void> {
  const { ecs, service, note, coderd } = bench;
  const job = await wait(bench, 2 * BUILD_S * SECOND_MS, 5 * SECOND_MS, async () => {
    const read = await readBuild(coderd, version);
    return read.completed_at ? { ...read, endedAt: read.completed_at } : undefined;
  });
  if (job === undefined) throw new InputError(`the build did not end within ${2 * BUILD_S} s`);
  const hasTask = (await wantedOf(bench, [busy])).length > 0;
  const task = hasTask ? 'its task was still there' : 'ECS had already stopped its task';
  const when = `${seconds(job.endedAt - askedAt)} after the request; ${task}`;
  const isFine = job.status === 'succeeded' && hasTask;
  note('build-outlives-request', isFine, `${job.status}${job.error ? `: ${job.error}` : ''}, ${when}`);
  await ecs.setDesired(service.serviceArn, 0);
  await wait(
    bench,
    2 * MINUTE_MS,
    5 * SECOND_MS,
    async () => (await wantedOf(bench, [busy])).length === 0 || undefined,
  );
}

/** A look that asks for another one in its minute sends a message, which makes an invocation of its own. */
function noteMessages({ note }: Bench, looks: readonly LoggedLook[]): void {
  const isAsked = looks.some(({ lookAgainAfterMs: ms }) => (ms ?? Infinity) < MINUTE_MS / 2);
  const times = looks.map(({ takenAt }) => takenAt);
  const invocations = new Set(looks.map(({ function_request_id: id }) => id)).size;
  const each = invocations / Math.max(1, (Math.max(...times) - Math.min(...times)) / MINUTE_MS);
  const unasked = 'no look asked for another one in its minute';
  note(
    'messages',
    isAsked ? each > 1.5 : undefined,
    isAsked ? `${each.toFixed(1)} invocations a minute` : unasked,
  );
}

/** Makes a change that is undone later, unless AWS surely did not make it. */
async function change(bench: Bench, undoing: Undoing, make: () => Promise<void>): Promise<void> {
  try {
    await make();
  } catch (cause) {
    if (!isDenied(cause) && !(cause instanceof Error && isDenied(cause.cause))) bench.willUndo(undoing);
    throw cause;
  }
  bench.willUndo(undoing);
}

/** Drains what is left, then lowers the count: a protected task stays until its guard has let it go. */
async function sendAway(bench: Bench): Promise<void> {
  const { ecs, service } = bench;
  const left = (await tasksOf(bench)).filter(({ desiredStatus }) => desiredStatus !== 'STOPPED');
  await ecs.setDesired(service.serviceArn, left.length);
  const held = [...(await leasesOf(bench, left)).keys()];
  if (held.length > 0) await ecs.requestDrain(held.slice(0, 10));
  await ecs.setDesired(service.serviceArn, 0);
}

/** What `look` finds, or undefined at the end. Throws what `look` throws if it still does then. */
async function wait<T>(
  { clock }: Bench,
  withinMs: number,
  everyMs: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const endsAt = clock.now() + withinMs;
  for (;;) {
    const isLast = clock.now() >= endsAt;
    const found = await look().catch((cause) => {
      if (isLast) throw cause;
      return undefined;
    });
    if (found !== undefined || isLast) return found;
    await clock.sleep(everyMs);
  }
}

const hoursText = (ms: number): string => `${(ms / HOUR_MS).toFixed(1)} h`;

const looksOf = ({ logs, log, startedAt }: Bench): Promise<readonly LoggedLook[]> =>
  readLooks(logs, log, startedAt);

async function daemonsOf({ coderd, organization }: Bench): Promise<readonly Daemon[]> {
  return itemsOf(await new CoderdAdapter(coderd).daemons(organization, undefined));
}

/** The tasks of the experiment. */
async function tasksOf({ ecs, service, before }: Bench): Promise<readonly Task[]> {
  return itemsOf(await ecs.tasks([service])).filter(({ taskArn }) => !before.has(taskArn));
}

/** Those that ECS has not chosen to stop. */
async function wantedOf(bench: Bench, tasks: readonly Task[]): Promise<readonly Task[]> {
  const arns = new Set(tasks.map(({ taskArn }) => taskArn));
  const listed = await tasksOf(bench);
  return listed.filter(({ taskArn, desiredStatus }) => arns.has(taskArn) && desiredStatus !== 'STOPPED');
}

/** What is left of their protections, in milliseconds. A task without protection has none. */
async function leasesOf(
  { ecs, clock }: Bench,
  tasks: readonly Task[],
): Promise<ReadonlyMap<TaskArn, number>> {
  if (tasks.length === 0) return new Map();
  const items = itemsOf(await ecs.protections(tasks.map(({ taskArn }) => taskArn)));
  const held = items.filter(({ protectionEnabled }) => protectionEnabled);
  return new Map(held.map(({ taskArn, expirationDate = 0 }) => [taskArn, expirationDate - clock.now()]));
}

function itemsOf<T>({ status, error, items }: Reading<T>): readonly T[] {
  if (status === 'ok') return items;
  throw new InputError(withAdvice(error ?? `a list is ${status}`));
}
