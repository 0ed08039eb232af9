/**
 * Samples pools once a minute, for the charts. The second changes: coderd inserts jobs at the full
 * minute, so a fixed one would see short jobs always or never.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import type { World } from '../../world/world.ts';
import type { DesiredCountChange, Figures, PoolSeries } from './result.ts';

const SAMPLE_MS = 60_000;
const MOST_STEPS = 1_000;

/** Has no common divisor with 60, so each second of the minute is sampled equally often. */
const SPREAD_S = 37;

type SamplerOptions = {
  readonly world: World;
  readonly pools: readonly string[];
  readonly poolOf: (task: EcsTask) => string;
  readonly queues: () => ReadonlyMap<string, number>;
  readonly from: EpochMs;
  readonly to: EpochMs;
};

type TaskCount = 'busy' | 'idle' | 'starting' | 'leaving';
type Sample = Record<TaskCount | 'queue', number>;

export function stepOf({ from, to }: Pick<SamplerOptions, 'from' | 'to'>): number {
  return (SAMPLE_MS / 1000) * Math.max(1, Math.ceil((to - from) / SAMPLE_MS / MOST_STEPS));
}

export class Sampler {
  readonly #options: SamplerOptions;
  readonly #samples = new Map<string, Sample[]>();

  constructor(options: SamplerOptions) {
    const { world, pools, from, to } = options;
    this.#options = options;
    for (const pool of pools) this.#samples.set(pool, []);
    for (let minute = 0; from + minute * SAMPLE_MS < to; minute++) {
      const atS = (minute * SPREAD_S) % 60;
      world.timeline.after(from + minute * SAMPLE_MS + atS * 1000 - world.timeline.now(), () =>
        this.#sample(),
      );
    }
  }

  series(changes: ReadonlyMap<string, readonly DesiredCountChange[]>): readonly PoolSeries[] {
    const samplesAStep = (stepOf(this.#options) * 1000) / SAMPLE_MS;
    return [...this.#samples].map(([pool, samples]) => {
      const steps = stepsOf(samples, samplesAStep);
      const means = (of: TaskCount) => steps.map((step) => rounded(meanOf(step, of)));
      return {
        pool,
        queue: steps.map((step) => Math.max(...step.map(({ queue }) => queue))),
        busy: means('busy'),
        idle: means('idle'),
        starting: means('starting'),
        leaving: means('leaving'),
        changes: changes.get(pool) ?? [],
      };
    });
  }

  #sample(): void {
    const { world, poolOf, queues } = this.#options;
    const waiting = queues();
    for (const [pool, samples] of this.#samples)
      samples.push({ queue: waiting.get(pool) ?? 0, busy: 0, idle: 0, starting: 0, leaving: 0 });
    for (const task of world.ecs.tasks()) {
      const kind = kindOf(task, world);
      const sample = this.#samples.get(poolOf(task))?.at(-1);
      if (kind !== undefined && sample !== undefined) sample[kind]++;
    }
  }
}

function kindOf(task: EcsTask, world: World): TaskCount | undefined {
  const { lastStatus } = task.state;
  if (lastStatus === 'STOPPED') return undefined;
  if (task.isBusy) return 'busy';
  if (!task.isWanted) return 'leaving';
  if (lastStatus !== 'RUNNING') return 'starting';
  const guard = world.guard(task.identity.id);
  if (guard === undefined) return 'idle';
  if (guard.phase === 'leasing') return 'starting';
  if (guard.phase !== 'working') return 'leaving';
  return guard.daemon?.isConnected ? 'idle' : 'starting';
}

function stepsOf(samples: readonly Sample[], length: number): readonly (readonly Sample[])[] {
  const steps: (readonly Sample[])[] = [];
  for (let at = 0; at < samples.length; at += length) steps.push(samples.slice(at, at + length));
  return steps;
}

function meanOf(step: readonly Sample[], kind: TaskCount): number {
  return step.reduce((sum, sample) => sum + sample[kind], 0) / step.length;
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

export class DesiredCounts {
  readonly #now = new Map<string, number>();
  readonly #most = new Map<string, number>();
  #mostOfAll = 0;

  set(pool: string, count: number): void {
    this.#now.set(pool, count);
    this.#most.set(pool, Math.max(count, this.#most.get(pool) ?? 0));
    this.#mostOfAll = Math.max(
      this.#mostOfAll,
      sum([...this.#now.values()], (each) => each),
    );
  }

  peaks(): Figures['peaks'] {
    return { all: this.#mostOfAll, byPool: Object.fromEntries(this.#most) };
  }
}
