/** The experiment: two tasks, a build in one of them, a lower count, drain requests, a deployment. Each step notes its rows. */
import { UpdateServiceCommand } from '@aws-sdk/client-ecs';
import { isRefusal } from '../../lambda/adapters/ecs/ecs.ts';
import { isoTime } from '../../lambda/decision/model/brands.ts';
import type { Daemon } from '../../lambda/decision/model/snapshot.ts';
import { displayTags } from '../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lambda/decision/model/units.ts';
import { nameInParts, taskId } from '../../lambda/decision/supply/daemons.ts';
import { seconds, timeText } from '../../lambda/explain/format.ts';
import type { Refusal } from '../../lambda/look/ports.ts';
import { readLooks } from '../adapters/look-log.ts';
import { OverrideTags } from '../adapters/override-tags.ts';
import { InputError } from '../shared/cli-environment.ts';
import type { Bench, Seen } from './bench.ts';
import { BUILD_S, type Build, pushBuild } from './build.ts';
import { noteRole } from './role.ts';

export const PAUSE_MS = 30 * MINUTE_MS;
const TASKS = 2;
const HOLD_MS = MINUTE_MS;
/** The guard waits 3 s, and both ends are read to the second. */
const SIGNAL_MS = 4 * SECOND_MS;

export async function experiment(bench: Bench): Promise<void> {
  bench.say('Pausing the pool until a look of the function has seen it (a minute or two)');
  await pause(bench);
  await noteRole(bench);
  bench.say(`Starting ${TASKS} tasks (a minute or two)`);
  const tasks = await startTasks(bench);
  bench.say(`Starting a build of ${BUILD_S / 60} minutes in one of them`);
  const pair = await startBuild(bench, tasks);
  bench.say(`Lowering the desired count to 0 for ${seconds(HOLD_MS)}: ECS must keep both tasks`);
  await lowerCount(bench, pair);
  bench.say('Sending both tasks a drain request (up to a minute)');
  await drain(bench, pair);
  bench.say('Starting a rolling deployment, and waiting for the end of the build (some minutes)');
  await deploy(bench, pair);
  await finish(bench, pair);
  await noteMessages(bench);
}

async function pause(bench: Bench): Promise<void> {
  const { pool, service, client, resume, logs, log } = bench.place;
  const tags = new OverrideTags(client);
  const until = isoTime(bench.startedAt + PAUSE_MS);
  const override = { kind: 'pause', until, by: 'autoscaler prove', why: 'an experiment' } as const;
  await bench.change({
    make: () => tags.write(service.serviceArn, override),
    undo: () => tags.remove(service.serviceArn, ['pause']),
    left: `pool "${pool.name}" is paused until ${timeText(until)}. Run: ${resume}`,
  });
  const pausedAt = bench.now() + SECOND_MS;
  const look = await bench.wait(3 * MINUTE_MS, async () =>
    (await readLooks(logs, log, bench.startedAt)).find(({ takenAt }) => takenAt > pausedAt),
  );
  if (look === undefined) throw new InputError('the log of the function has no look of the last 3 min');
}

type Started = Seen & { readonly daemon: Daemon | undefined };

async function startTasks(bench: Bench): Promise<readonly Started[]> {
  const { pool, service, ecs } = bench.place;
  const named = `--cluster ${ecs.cluster} --service ${service.serviceName}`;
  await bench.change({
    make: () => bench.setCount(TASKS),
    undo: () => bench.setCount(0),
    left: `pool "${pool.name}" may still have tasks. Run: aws ecs update-service ${named} --desired-count 0`,
  });
  let all: readonly Started[] = [];
  const isReady = ({ leaseMs, daemon }: Started): boolean => leaseMs > 0 && daemon !== undefined;
  const ready = await bench.wait(6 * MINUTE_MS, async () => {
    const daemons = new Map((await bench.daemons()).map((each) => [nameInParts(each.name).ending, each]));
    all = (await bench.tasks()).map((task) => ({ ...task, daemon: daemons.get(taskId(task)) }));
    return all.filter(isReady).length < TASKS ? undefined : all.filter(isReady).slice(0, TASKS);
  });
  noteStarts(bench, ready ?? all);
  if (ready !== undefined) return ready;
  const why = all.find(({ createdAt = 0 }) => createdAt > bench.startedAt)?.stoppedReason;
  const late = `${TASKS} tasks with a protection and a daemon did not start in 6 min`;
  throw new InputError(why === undefined ? late : `${late}: ${why}`);
}

const isChosen = (task: Seen | undefined): boolean => task?.desiredStatus === 'STOPPED';

function noteStarts(bench: Bench, tasks: readonly Started[]): void {
  const running = tasks.filter(({ lastStatus }) => lastStatus === 'RUNNING');
  if (running.length === 0) return;
  const starts = running.map(startOf);
  const isLeased = running.every(({ leaseMs }) => leaseMs > 47 * HOUR_MS);
  bench.note('lease', isLeased, running.map(({ leaseMs }) => leaseText(leaseMs)).join(' and '));
  const isPulled = starts.every(({ pullMs }) => pullMs < MINUTE_MS);
  bench.note('image-pull', isPulled, starts.map(({ pullMs }) => seconds(pullMs)).join(' and '));
  if (running.some(({ daemon }) => daemon === undefined)) return;
  const isSoon = starts.every(({ wholeMs }) => wholeMs < 3 * MINUTE_MS);
  bench.note('start', isSoon, starts.map(({ text }) => text).join(' and '));
}

/** A time that ECS does not tell is that of the phase before. */
function startOf({ daemon, createdAt, pullStartedAt = createdAt, ...task }: Started) {
  const { pullStoppedAt = pullStartedAt, startedAt = pullStoppedAt } = task;
  const times = [createdAt, pullStartedAt, pullStoppedAt, startedAt, daemon?.created_at];
  const between = (from: number, to: number): number => (times[to] ?? NaN) - (times[from] ?? NaN);
  const phases = ['network', 'image', 'container', 'guard and daemon'];
  const parts = phases.map((phase, at) => `${seconds(between(at, at + 1))} ${phase}`).join(', ');
  const wholeMs = between(0, 4);
  return { pullMs: between(1, 2), wholeMs, text: `${seconds(wholeMs)} (${parts})` };
}

const leaseText = (ms: number): string => (ms > 0 ? `${(ms / HOUR_MS).toFixed(1)} h left` : 'no protection');

type Pair = { readonly busy: Seen; readonly idle: Seen; readonly build: Build };

async function startBuild(bench: Bench, tasks: readonly Started[]): Promise<Pair> {
  const { pool, organization, coderd } = bench.place;
  const build = await pushBuild(coderd, organization.id, displayTags(pool.tags));
  const left = `the build of version ${build.id} may still run. It ends by itself within ${2 * BUILD_S} s`;
  bench.willUndo({ undo: build.cancel, left });
  const read = async () => {
    const job = await build.read();
    return job.status === 'pending' ? undefined : job;
  };
  const job = await bench.wait(3 * MINUTE_MS, read, 2 * SECOND_MS);
  if (job?.status !== 'running')
    throw new InputError(`the build did not start: ${job?.error || job?.status || 'no daemon took it'}`);
  const busy = tasks.find(({ daemon }) => daemon?.id === job.worker_id);
  const idle = tasks.find((task) => task !== busy);
  if (busy === undefined || idle === undefined) throw new InputError('another daemon took the build');
  return { build, busy, idle };
}

async function lowerCount(bench: Bench, { busy, idle }: Pair): Promise<void> {
  await bench.setCount(0);
  const lost = await bench.wait(HOLD_MS, async () => {
    const chosen = (await bench.tasks([busy, idle])).filter(isChosen);
    return chosen.length || undefined;
  });
  const measured = `ECS stopped ${lost ?? 0} of ${TASKS} protected tasks within ${seconds(HOLD_MS)}`;
  bench.note('protected-tasks-stay', lost === undefined, measured);
  if (lost !== undefined) throw new InputError('ECS stopped a protected task, so the rest was not tried');
}

/** The count is that of the tasks again, as when the autoscaler sends one. */
async function drain(bench: Bench, { busy, idle, build }: Pair): Promise<void> {
  await bench.setCount(TASKS);
  if ((await build.read()).completed_at) throw new InputError('the build ended too early');
  let refused: Refusal | undefined;
  await bench.wait(30 * SECOND_MS, async () => {
    [refused] = await bench.place.ecs.requestDrain([busy.taskArn, idle.taskArn]);
    return refused === undefined || undefined;
  });
  if (refused !== undefined) throw new InputError(`ECS refused the drain request: ${refused.reason}`);
  const askedAt = bench.now();
  const left = async (): Promise<number> => (await bench.tasks([busy]))[0]?.leaseMs ?? 0;
  // what ECS shows may lag behind what it has stored
  await bench.wait(20 * SECOND_MS, async () => (await left()) < 24 * HOUR_MS || undefined, 2 * SECOND_MS);
  const leaseMs = await left();
  bench.note('end-may-be-earlier', leaseMs < 24 * HOUR_MS, `${leaseText(leaseMs)} after the request`);
  if (leaseMs >= 24 * HOUR_MS) throw new InputError('ECS kept the end, so no drain request can arrive');
  const read = async () => {
    const [own] = await bench.tasks([idle]);
    return own?.leaseMs ? undefined : bench.now() - askedAt;
  };
  const tookMs = await bench.wait(2 * MINUTE_MS, read, 2 * SECOND_MS);
  const took = tookMs === undefined ? 'not within 2 min' : seconds(tookMs);
  bench.note('drain-request-arrives', tookMs !== undefined, took);
  if (tookMs !== undefined) return choose(bench, { busy, idle });
  bench.note('choice-to-signal', undefined, 'both tasks were still protected');
}

/** One task may go now: ECS must choose the one without protection, and tell it at once. */
async function choose(bench: Bench, { busy, idle }: Omit<Pair, 'build'>): Promise<void> {
  await bench.setCount(TASKS - 1);
  let chosenAt: number | undefined;
  const read = async () => {
    const [own] = await bench.tasks([idle]);
    if (isChosen(own)) chosenAt ??= bench.now();
    return own?.stoppingAt && bench.now() - (chosenAt ?? 0);
  };
  const tookMs = (await bench.wait(90 * SECOND_MS, read, SECOND_MS)) ?? Infinity;
  const took = tookMs === Infinity ? 'no signal within 90 s' : `about ${seconds(tookMs)}, read each second`;
  const isWrong = (await bench.tasks([busy])).some(isChosen);
  const measured = isWrong ? 'ECS chose the protected task' : took;
  bench.note('choice-to-signal', !isWrong && tookMs <= SIGNAL_MS, measured);
}

const GRANTED = 'granted';
const BLOCKED = 'DEPLOYMENT_BLOCKED';

/** The busy task holds the deployment open. Then more tasks are protected than desired, too. */
async function deploy(bench: Bench, pair: Pair): Promise<void> {
  const { client, ecs, service } = bench.place;
  if ((await pair.build.read()).completed_at)
    return bench.note('renewal-while-blocked', undefined, 'the build had already ended');
  const update = { cluster: ecs.cluster, service: service.serviceArn, forceNewDeployment: true };
  await client.send(new UpdateServiceCommand(update));
  const rolling = await renew(bench, pair, HOLD_MS / 2);
  await bench.setCount(0);
  const lowered = await renew(bench, pair, 2 * BUILD_S * SECOND_MS);
  const refused = [...rolling, ...lowered].filter((answer) => answer !== GRANTED);
  const isKnown = refused.every((reason) => reason === BLOCKED);
  const drains = isKnown ? '. Guards drain if a deployment lasts for 40 min' : '';
  const so = refused.length === 0 ? `. ${BLOCKED} was not seen within the experiment` : drains;
  const measured = `in a rolling deployment: ${counts(rolling)}; then with a desired count of 0: ${counts(lowered)}`;
  bench.note('renewal-while-blocked', isKnown, `${measured}${so}`);
}

/** As a guard does whose build goes on after its drain request, until the build ends. Returns ECS's answers. */
async function renew(bench: Bench, { busy, build }: Pair, withinMs: number): Promise<readonly string[]> {
  const answers: string[] = [];
  await bench.wait(withinMs, async () => {
    if ((await build.read()).completed_at) return true;
    const [refused] = await bench.place.ecs.requestDrain([busy.taskArn]).catch((error) => {
      if (isRefusal(error.cause)) return [{ reason: error.cause.name }];
      throw error;
    });
    answers.push(refused?.reason ?? GRANTED);
    return undefined;
  });
  return answers;
}

function counts(answers: readonly string[]): string {
  const groups = [...Map.groupBy(answers, (answer) => answer)];
  return groups.map(([answer, all]) => `${all.length} × ${answer}`).join(', ') || 'not tried';
}

async function finish(bench: Bench, { busy, build }: Pair): Promise<void> {
  const { status, error, completed_at: endedAt } = await build.read();
  if (!endedAt) throw new InputError(`the build did not end within ${2 * BUILD_S} s`);
  const laterMs = await bench.wait(2 * MINUTE_MS, async () => {
    const [own] = await bench.tasks([busy]);
    return isChosen(own) ? (own?.stoppingAt ?? bench.now()) - endedAt : undefined;
  });
  const isBefore = (laterMs ?? 0) < 0;
  const when = `${seconds(Math.abs(laterMs ?? 0))} ${isBefore ? 'before' : 'later'}`;
  const task = laterMs === undefined ? 'its task is still there 2 min later' : `ECS stopped its task ${when}`;
  const measured = `${status}${error ? `: ${error}` : ''}; ${task}`;
  bench.note('build-outlives-request', status === 'succeeded' && !isBefore, measured);
}

/** A look that asks for another one in its minute sends a message, which makes an invocation of its own. */
async function noteMessages(bench: Bench): Promise<void> {
  const looks = await readLooks(bench.place.logs, bench.place.log, bench.startedAt);
  if (!looks.some(({ lookAgainAfterMs: ms }) => (ms ?? Infinity) < MINUTE_MS / 2))
    return bench.note('messages', undefined, 'no look asked for another one in its minute');
  const times = looks.map(({ takenAt }) => takenAt);
  const invocations = new Set(looks.map(({ function_request_id: id }) => id)).size;
  const each = invocations / Math.max(1, (Math.max(...times) - Math.min(...times)) / MINUTE_MS);
  bench.note('messages', each > 1.5, `${each.toFixed(1)} invocations a minute`);
}
