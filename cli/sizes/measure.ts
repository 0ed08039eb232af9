/** Computes what the builds of a pool used, from the guards' lines and coderd's jobs. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { meanOf, percentile, sum } from '../../lambda/decision/model/collections.ts';
import { HOUR_MS } from '../../lambda/decision/model/units.ts';

/** Any line of a task's guard: the task ran at that time. */
export type SeenTask = { readonly at: EpochMs; readonly pool: string; readonly task: string };

/** A line of a guard's sampler (guard/guard.sh). It covers the minute before it. */
export type UsageLine = SeenTask & {
  /** Memory without file cache: the higher one of two samples. */
  readonly peakMiB: number;
  /** Percent of one vCPU: the higher one of two averages over 30 s. */
  readonly cpuPercent: number;
  /** Percent of the scheduler's periods in which the container had to wait. */
  readonly throttledPercent: number | undefined;
};

export type Build = {
  readonly pool: string;
  readonly task: string;
  readonly startedAt: EpochMs;
  /** The time of reading, if it still runs. */
  readonly endedAt: EpochMs;
  /** Its error says that a process was killed, most likely because memory ran out. */
  readonly isKilled: boolean;
};

export type PoolUsage = {
  readonly builds: number;
  /** Builds with at least one line of their task while they ran. */
  readonly measuredBuilds: number;
  readonly killedBuilds: number;
  /** Tasks with at least one line of their guard, and those with one of its sampler. */
  readonly tasks: number;
  readonly measuredTasks: number;
  /** Hours from the first line of each task to its last. */
  readonly taskHours: number;
  /** Of the measured builds. Undefined if there are none. */
  readonly measured: Measured | undefined;
};

export type Measured = {
  readonly memory: { readonly p50MiB: number; readonly p95MiB: number; readonly maxMiB: number };
  /** Percent of one vCPU, of the minutes in which builds ran. */
  readonly cpuP95Percent: number;
  /** The mean of the same minutes; undefined if the agent does not tell it. */
  readonly throttledPercent: number | undefined;
};

const LINE_MS = 60_000;

/** What is known of one pool. `seen`: all lines of its guards. */
export type PoolReadings = {
  readonly lines: readonly UsageLine[];
  readonly seen: readonly SeenTask[];
  readonly builds: readonly Build[];
};

export function measure({ lines, seen, builds }: PoolReadings): PoolUsage {
  const tasks = Map.groupBy(seen, ({ task }) => task);
  const byTask = Map.groupBy(lines, ({ task }) => task);
  const measured = builds.flatMap((build) => {
    const own = (byTask.get(build.task) ?? []).filter((line) => covers(line, build));
    return own.length === 0 ? [] : [own];
  });
  return {
    builds: builds.length,
    measuredBuilds: measured.length,
    killedBuilds: builds.filter(({ isKilled }) => isKilled).length,
    tasks: tasks.size,
    measuredTasks: byTask.size,
    taskHours: sum([...tasks.values()], hoursOf),
    measured: measured.length === 0 ? undefined : summary(measured),
  };
}

function covers({ at }: UsageLine, { startedAt, endedAt }: Build): boolean {
  return at > startedAt && at - LINE_MS < endedAt;
}

/** At least a minute: a task that was killed early may have logged one line only. */
function hoursOf(lines: readonly SeenTask[]): number {
  const [first, last] = lines.reduce(
    ([least, most], { at }) => [Math.min(least, at), Math.max(most, at)],
    [Infinity, -Infinity],
  );
  return Math.max(last - first, LINE_MS) / HOUR_MS;
}

/** `builds`: the lines of each measured build. */
function summary(builds: readonly (readonly UsageLine[])[]): Measured {
  const peaks = ascending(builds.map((lines) => Math.max(...lines.map(({ peakMiB }) => peakMiB))));
  // a line may cover the end of one build and the start of the next
  const lines = [...new Set(builds.flat())];
  const throttled = lines.flatMap(({ throttledPercent }) => throttledPercent ?? []);
  return {
    memory: {
      p50MiB: percentile(peaks, 0.5),
      p95MiB: percentile(peaks, 0.95),
      maxMiB: percentile(peaks, 1),
    },
    cpuP95Percent: percentile(ascending(lines.map(({ cpuPercent }) => cpuPercent)), 0.95),
    throttledPercent: throttled.length === 0 ? undefined : Math.round(meanOf(throttled)),
  };
}

function ascending(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}
