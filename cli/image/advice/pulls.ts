/** Measures image pulls from the times that ECS gives for each task. */
import { percentile, sum } from '../../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import { POOL_TAG } from '../../../lambda/decision/model/service-tags.ts';
import type { Service, Task } from '../../../lambda/decision/model/snapshot.ts';

export type PullFigures = {
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
};

type Pool = Pick<PoolConfig, 'name' | 'image'>;

/** The figures of each pool that has any. Tasks of earlier task definitions may have another image. */
export function pullFigures(
  pools: readonly Pool[],
  services: readonly Service[],
  tasks: readonly Task[],
): readonly PullFigures[] {
  return pools.flatMap((pool) => {
    const own = services.filter(({ tags }) => tags.some((tag) => isTagOf(tag, pool)));
    const samples = own.flatMap((service) =>
      tasks.filter((task) => isCurrent(task, service)).flatMap(sampleOf),
    );
    return samples.length === 0 ? [] : [figuresOf(pool, samples)];
  });
}

function isTagOf(tag: Service['tags'][number], { name }: Pool): boolean {
  return tag.key === POOL_TAG && tag.value === name;
}

function isCurrent(task: Task, { serviceName, taskDefinition }: Service): boolean {
  return task.group === `service:${serviceName}` && task.taskDefinitionArn === taskDefinition;
}

type Sample = { readonly pullMs: number; readonly startMs: number };

function sampleOf({ createdAt, pullStartedAt, pullStoppedAt, startedAt }: Task): readonly Sample[] {
  if (createdAt === undefined || startedAt === undefined) return [];
  if (pullStartedAt === undefined || pullStoppedAt === undefined) return [];
  const sample = { pullMs: pullStoppedAt - pullStartedAt, startMs: startedAt - createdAt };
  return sample.pullMs >= 0 && sample.startMs >= sample.pullMs ? [sample] : [];
}

function figuresOf({ name, image }: Pool, samples: readonly Sample[]): PullFigures {
  const pulls = samples.map(({ pullMs }) => pullMs / 1000).sort((a, b) => a - b);
  const starts = samples.map(({ startMs }) => startMs / 1000).sort((a, b) => a - b);
  const whole = sum(starts, (start) => start);
  return {
    pool: name,
    image,
    tasks: samples.length,
    pullP50Seconds: tenths(percentile(pulls, 0.5)),
    pullP95Seconds: tenths(percentile(pulls, 0.95)),
    startP50Seconds: tenths(percentile(starts, 0.5)),
    share: whole === 0 ? 0 : Math.round((100 * sum(pulls, (pull) => pull)) / whole) / 100,
  };
}

const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;
