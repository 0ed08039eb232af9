/** What image pulls take, and what could make them shorter (docs/internals/aws.md §2). */
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { makeClients } from '../../lambda/connect.ts';
import { percentile, sum } from '../../lambda/decision/model/collections.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { poolOfService } from '../../lambda/decision/model/service-tags.ts';
import type { Reading, Service, Task } from '../../lambda/decision/model/snapshot.ts';
import { checkAwsSetup, withAdvice } from '../shared/aws-advice.ts';

export type Advice =
  | {
      readonly kind: 'measured';
      readonly pools: readonly PoolAdvice[];
      readonly unmeasured: readonly string[];
    }
  | { readonly kind: 'none'; readonly why: string };

export type PoolAdvice = {
  readonly pool: string;
  readonly image: string;
  /** Tasks with all four times. All other figures are of these. */
  readonly tasks: number;
  readonly pullP50Seconds: number;
  readonly pullP95Seconds: number;
  /** From the creation of a task until its container runs. */
  readonly startP50Seconds: number;
  /** The part of the start times that was pulling, 0 to 1. */
  readonly share: number;
  readonly options: readonly PullOption[];
};

export type PullOption = {
  readonly option: 'zstd' | 'soci' | 'pull-through-cache';
  /** The most that it can save of a median start. Absent: no figure is known. */
  readonly atMostSeconds?: number;
};

const ANSWER_MS = 10_000;

/** Does not throw: the files of the image are worth having without advice. */
export async function readAdvice(
  config: Pick<Config, 'coder'>,
  pools: readonly PoolConfig[],
  cluster: string | undefined,
): Promise<Advice> {
  if (cluster === undefined)
    return { kind: 'none', why: 'no ECS cluster is given: add --cluster NAME, or set AUTOSCALER_CLUSTER' };
  const clients = makeClients(config, undefined, { until: AbortSignal.timeout(ANSWER_MS) });
  try {
    await checkAwsSetup(clients.ecs);
    return await measure(new EcsAdapter(clients.ecs, cluster), pools);
  } catch (cause) {
    return { kind: 'none', why: messageOf(cause) };
  } finally {
    await clients.close();
  }
}

async function measure(ecs: EcsAdapter, pools: readonly PoolConfig[]): Promise<Advice> {
  const services = await ecs.services();
  if (services.status !== 'ok') return unread(services);
  const tasks = await ecs.tasks(services.items);
  if (tasks.status !== 'ok') return unread(tasks);
  const measured = pools.flatMap((pool) => adviceOf(pool, services.items, tasks.items));
  if (measured.length === 0)
    return {
      kind: 'none',
      why: 'ECS lists no task of these pools that has pulled its present image. It forgets stopped tasks after about an hour: run this again while tasks run',
    };
  const names = new Set(measured.map(({ pool }) => pool));
  const unmeasured = pools.map(({ name }) => name).filter((name) => !names.has(name));
  return { kind: 'measured', pools: measured, unmeasured };
}

function unread({ error, status }: Pick<Reading<unknown>, 'error' | 'status'>): Advice {
  return { kind: 'none', why: withAdvice(error ?? `a list of ECS is ${status}`) };
}

/** None without samples. Tasks of earlier task definitions may have another image. */
function adviceOf(
  { name, image }: PoolConfig,
  services: readonly Service[],
  tasks: readonly Task[],
): readonly PoolAdvice[] {
  const own = services.filter((service) => poolOfService(service) === name);
  const samples = own.flatMap((service) =>
    tasks.filter((task) => isCurrent(task, service)).flatMap(sampleOf),
  );
  if (samples.length === 0) return [];
  const pulls = samples.map(({ pullMs }) => pullMs / 1000).sort((a, b) => a - b);
  const starts = samples.map(({ startMs }) => startMs / 1000).sort((a, b) => a - b);
  const whole = sum(starts, (start) => start);
  const pullP50Seconds = tenths(percentile(pulls, 0.5));
  const startP50Seconds = tenths(percentile(starts, 0.5));
  return [
    {
      pool: name,
      image,
      tasks: samples.length,
      pullP50Seconds,
      pullP95Seconds: tenths(percentile(pulls, 0.95)),
      startP50Seconds,
      share: whole === 0 ? 0 : Math.round((100 * sum(pulls, (pull) => pull)) / whole) / 100,
      options: [
        { option: 'zstd', atMostSeconds: Math.min(pullP50Seconds, tenths(ZSTD_SHARE * startP50Seconds)) },
        { option: 'soci', atMostSeconds: pullP50Seconds },
        ...(ECR.test(image) ? [] : [{ option: 'pull-through-cache' } as const]),
      ],
    },
  ];
}

/** AWS: "up to 27 %" of the start time of its test images. */
const ZSTD_SHARE = 0.27;
const ECR = /\.dkr\.ecr(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com/;

function isCurrent(task: Task, { serviceName, taskDefinition }: Service): boolean {
  return task.group === `service:${serviceName}` && task.taskDefinitionArn === taskDefinition;
}

function sampleOf({ createdAt, pullStartedAt, pullStoppedAt, startedAt }: Task) {
  if (createdAt === undefined || startedAt === undefined) return [];
  if (pullStartedAt === undefined || pullStoppedAt === undefined) return [];
  const sample = { pullMs: pullStoppedAt - pullStartedAt, startMs: startedAt - createdAt };
  return sample.pullMs >= 0 && sample.startMs >= sample.pullMs ? [sample] : [];
}

const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;
