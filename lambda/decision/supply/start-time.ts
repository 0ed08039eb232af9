/** How long a pool's tasks take until coderd knows their daemons: learned from the tasks that ECS still shows, so nothing is remembered. */
import type { EpochMs } from '../model/brands.ts';
import type { StartTime } from '../model/plan.ts';
import type { Task } from '../model/snapshot.ts';

/** Fewer say nothing. */
const ENOUGH = 3;
/** The newest ones: images, sizes and registries change. */
const NEWEST = 50;
/** What took longer did not start: a daemon that registered again, under a new key, say. */
const LONGEST_MS = 15 * 60_000;
/** Who ran for longer before it had a daemon waited for its lease: a deployment went on (docs/aws.md §1, DEPLOYMENT_BLOCKED). */
const LEASE_LATE_MS = 2 * 60_000;

export type StartTimeInput = {
  /** All tasks of a service, the stopped ones included. */
  readonly tasks: readonly Task[];
  /** When the daemon of a task registered; anything but a number: it is not known. */
  readonly registration: (task: Task) => EpochMs | string;
  /** What is expected until enough has been seen. */
  readonly settingMs: number;
};

/** Learns the start time of a pool: from when ECS makes a task until its daemon registers. */
export function learnStartTime({ tasks, registration, settingMs }: StartTimeInput): StartTime {
  const starts: { readonly at: number; readonly tookMs: number }[] = [];
  for (const task of tasks) {
    const at = registration(task);
    if (typeof at !== 'number' || task.createdAt === undefined) continue;
    const tookMs = at - task.createdAt;
    const isStart = tookMs >= 0 && tookMs <= LONGEST_MS && at - (task.startedAt ?? at) <= LEASE_LATE_MS;
    if (isStart) starts.push({ at, tookMs });
  }
  const samples = starts
    .toSorted((a, b) => b.at - a.at || a.tookMs - b.tookMs)
    .slice(0, NEWEST)
    .map(({ tookMs }) => tookMs)
    .toSorted((a, b) => a - b);
  if (samples.length < ENOUGH)
    return { from: 'setting', samples: samples.length, p50Ms: settingMs, p95Ms: settingMs };
  const rank = (share: number): number => samples[Math.ceil(samples.length * share) - 1] ?? settingMs;
  return { from: 'learned', samples: samples.length, p50Ms: rank(0.5), p95Ms: rank(0.95) };
}
