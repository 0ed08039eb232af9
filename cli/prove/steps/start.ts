/** Pauses the pool, starts its tasks, and starts the build. */
import { isoTime } from '../../../lambda/decision/model/brands.ts';
import type { Daemon } from '../../../lambda/decision/model/snapshot.ts';
import { displayTags } from '../../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { nameInParts, taskId } from '../../../lambda/decision/supply/rows/daemons.ts';
import { seconds, timeText } from '../../../lambda/explain/format.ts';
import { readLooks } from '../../adapters/look-log.ts';
import { OverrideTags } from '../../adapters/override-tags.ts';
import { InputError } from '../../shared/cli-environment.ts';
import type { Bench } from '../bench/bench.ts';
import { BUILD_S, type Build, pushBuild } from '../bench/build.ts';
import type { Seen } from '../bench/fate.ts';
import { noteRefusedRole } from './bound-role.ts';

export const PAUSE_MS = 45 * MINUTE_MS;
export const TASKS = 2;
/** Looks follow each other, so the second one that is logged began after the pause. */
const LOOKS = 2;

export async function pause(bench: Bench): Promise<void> {
  const { pool, service, client, resume, logs, log } = bench.place;
  const tags = new OverrideTags(client);
  const until = isoTime(bench.startedAt + PAUSE_MS);
  const override = { kind: 'pause', until, by: 'autoscaler prove', why: 'an experiment' } as const;
  await bench.change({
    make: () => tags.write(service.serviceArn, override),
    undo: () => tags.remove(service.serviceArn, ['pause']),
    left: `pool "${pool.name}" is paused until ${timeText(until)}. Run: ${resume}`,
  });
  const since = bench.awsNow();
  bench.since = since;
  const seen = await bench.wait(4 * MINUTE_MS, async () => {
    const looks = await readLooks(logs, log, since);
    return looks.length >= LOOKS || undefined;
  });
  if (seen === undefined)
    throw new InputError(`the log of the function has fewer than ${LOOKS} looks of the last 4 min`);
}

type Started = Seen & {
  readonly daemon: Daemon | undefined;
  /** AWS's time of the first read of coderd that listed its daemon. */
  readonly daemonAt: number | undefined;
};

export async function startTasks(bench: Bench): Promise<readonly Started[]> {
  const { pool, service, ecs } = bench.place;
  const named = `--cluster ${ecs.cluster} --service ${service.serviceName}`;
  await bench.change({
    make: () => bench.setCount(TASKS),
    undo: () => bench.setCount(0),
    left: `pool "${pool.name}" may still have tasks. Run: aws ecs update-service ${named} --desired-count 0`,
  });
  let all: readonly Started[] = [];
  const daemonsAt = new Map<string, number>();
  const isReady = ({ leaseMs, daemon }: Started): boolean => !!leaseMs && daemon !== undefined;
  const ready = await bench.wait(6 * MINUTE_MS, async () => {
    const daemons = new Map((await bench.daemons()).map((each) => [nameInParts(each.name).ending, each]));
    const tasks = await bench.tasks();
    for (const id of daemons.keys()) daemonsAt.set(id, daemonsAt.get(id) ?? bench.awsNow());
    all = tasks.map((task) => ({
      ...task,
      daemon: daemons.get(taskId(task)),
      daemonAt: daemonsAt.get(taskId(task)),
    }));
    return all.filter(isReady).length < TASKS ? undefined : all.filter(isReady).slice(0, TASKS);
  });
  noteStarts(bench, ready ?? all);
  if (ready !== undefined) return ready;
  noteRefusedRole(bench, all);
  const why = all.find(({ createdAt = 0 }) => createdAt > (bench.since ?? 0))?.stoppedReason;
  const late = `${TASKS} tasks with a protection and a daemon did not start in 6 min`;
  throw new InputError(why === undefined ? late : `${late}: ${why}`);
}

function noteStarts(bench: Bench, tasks: readonly Started[]): void {
  const running = tasks.filter(({ lastStatus }) => lastStatus === 'RUNNING');
  if (running.length === 0) return;
  const leases = running.map(({ leaseMs }) => leaseMs);
  const isLeased = every(leases, (ms) => ms > 47 * HOUR_MS && ms < 48.1 * HOUR_MS);
  bench.note('lease', isLeased, leases.map(leaseText).join(' and '));
  const starts = running.map(startOf);
  const pulls = starts.map(({ pullMs }) => pullMs);
  bench.note(
    'image-pull',
    every(pulls, (ms) => ms < MINUTE_MS),
    pulls.map(timeOf).join(' and '),
  );
  const isSoon = every(
    starts.map(({ wholeMs }) => wholeMs),
    (ms) => ms < 3 * MINUTE_MS,
  );
  bench.note('start', isSoon, starts.map(({ text }) => text).join(' and '));
}

/** Undefined if a value is unknown. */
function every(values: readonly (number | undefined)[], isOk: (value: number) => boolean) {
  const known = values.filter((value) => value !== undefined);
  return known.length < values.length ? undefined : known.every(isOk);
}

const timeOf = (ms: number | undefined): string => (ms === undefined ? 'ECS does not tell' : seconds(ms));

/** All times are AWS's. */
function startOf({ daemonAt, createdAt, pullStartedAt, pullStoppedAt, startedAt }: Started) {
  const times = [createdAt, pullStartedAt, pullStoppedAt, startedAt, daemonAt];
  const between = (from: number, to: number): number | undefined => {
    const [start, end] = [times[from], times[to]];
    return start === undefined || end === undefined ? undefined : end - start;
  };
  const phases = ['network', 'image', 'container', 'guard and daemon'];
  const parts = phases.flatMap((phase, at) => {
    const ms = between(at, at + 1);
    return ms === undefined ? [] : `${seconds(ms)} ${phase}`;
  });
  const wholeMs = between(0, 4);
  const text = wholeMs === undefined ? 'no daemon was seen' : seconds(wholeMs);
  return { pullMs: between(1, 2), wholeMs, text: `${text} (${parts.join(', ')})` };
}

export function leaseText(ms: number | undefined): string {
  if (ms === undefined) return 'GetTaskProtection does not tell';
  return ms > 0 ? `${(ms / HOUR_MS).toFixed(1)} h left` : 'no protection';
}

export type Pair = { readonly busy: Seen; readonly idle: Seen; readonly build: Build };

export async function startBuild(bench: Bench, tasks: readonly Started[]): Promise<Pair> {
  const { pool, organization, coderd } = bench.place;
  const build = await pushBuild(coderd, { organization: organization.id, tags: displayTags(pool.tags) });
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
