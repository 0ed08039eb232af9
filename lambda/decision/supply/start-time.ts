/** The start time of tasks until coderd knows their daemons, from those that ECS still lists. */
import type { EpochMs } from '../model/brands.ts';
import { percentile } from '../model/collections.ts';
import type { StartTime } from '../model/plan.ts';
import type { Task } from '../model/snapshot.ts';

/** With fewer starts the configured start time is used. */
const MIN_SAMPLES = 3;
/** Only the newest starts count: images, sizes and registries change. */
const MAX_SAMPLES = 50;
/** A longer time is no start: the daemon may have registered again, for example with a new key. */
const LONGEST_MS = 15 * 60_000;
/** It waited for its lease (docs/internals/aws.md §1, DEPLOYMENT_BLOCKED). */
const LEASE_LATE_MS = 2 * 60_000;

export type StartsInput = {
  /** All tasks of a service, the stopped ones included. */
  readonly tasks: readonly Task[];
  /** When the daemon of a task registered; any string: unknown. */
  readonly registration: (task: Task) => EpochMs | string;
};

export type StartTimeInput = StartsInput & {
  /** The configured start time, used until enough starts were seen. */
  readonly settingMs: number;
};

/** One start that ECS still lists, in milliseconds. */
export type SeenStart = {
  /** From when ECS created the task until its daemon registered. */
  readonly tookMs: number;
  /** The part of it after the task was RUNNING; undefined: ECS does not say when that was. */
  readonly afterRunningMs: number | undefined;
};

/** Computes the start time of a pool: from when ECS creates a task until its daemon registers. */
export function learnStartTime({ settingMs, ...input }: StartTimeInput): StartTime {
  const samples = seenStarts(input).map(({ tookMs }) => tookMs);
  if (samples.length < MIN_SAMPLES)
    return { from: 'setting', samples: samples.length, p50Ms: settingMs, p95Ms: settingMs };
  const [p50Ms, p95Ms] = [percentile(samples, 0.5), percentile(samples, 0.95)];
  return { from: 'learned', samples: samples.length, p50Ms, p95Ms };
}

/** Derives the newest starts of a pool's tasks, the shortest first. */
export function seenStarts({ tasks, registration }: StartsInput): readonly SeenStart[] {
  const starts: (SeenStart & { readonly at: number })[] = [];
  for (const task of tasks) {
    const at = registration(task);
    if (typeof at !== 'number' || task.createdAt === undefined) continue;
    const tookMs = at - task.createdAt;
    const isStart = tookMs >= 0 && tookMs <= LONGEST_MS && at - (task.startedAt ?? at) <= LEASE_LATE_MS;
    const afterRunningMs = task.startedAt === undefined ? undefined : Math.max(0, at - task.startedAt);
    if (isStart) starts.push({ at, tookMs, afterRunningMs });
  }
  return starts
    .toSorted((a, b) => b.at - a.at || a.tookMs - b.tookMs)
    .slice(0, MAX_SAMPLES)
    .toSorted((a, b) => a.tookMs - b.tookMs);
}
