/** Computes what the builds of a pool used, from the guards' lines and coderd's jobs. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { meanOf, percentile, sum } from '../../lambda/decision/model/collections.ts';

/** A line of a guard's sampler (guard/guard.sh). It covers the minute before it. */
export type UsageLine = {
  readonly at: EpochMs;
  readonly pool: string;
  readonly task: string;
  /** Memory without file cache: the higher one of two samples. */
  readonly peakMiB: number;
  /** Percent of one vCPU: the higher one of two averages over 30 s. */
  readonly cpuPercent: number;
  /** Percent of the scheduler's periods in which the container had to wait. */
  readonly throttledPercent: number | undefined;
};

/** A job that a task has run. */
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
  /** Tasks with at least one line, and their hours from the first line to the last. */
  readonly tasks: number;
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
const HOUR_MS = 3_600_000;

/** `lines` and `builds` are those of one pool. */
export function measure(lines: readonly UsageLine[], builds: readonly Build[]): PoolUsage {
  const byTask = Map.groupBy(lines, ({ task }) => task);
  const measured = builds.flatMap((build) => {
    const own = (byTask.get(build.task) ?? []).filter((line) => covers(line, build));
    return own.length === 0 ? [] : [own];
  });
  return {
    builds: builds.length,
    measuredBuilds: measured.length,
    killedBuilds: builds.filter(({ isKilled }) => isKilled).length,
    tasks: byTask.size,
    taskHours: sum([...byTask.values()], hoursOf),
    measured: measured.length === 0 ? undefined : summary(measured),
  };
}

function covers({ at }: UsageLine, { startedAt, endedAt }: Build): boolean {
  return at > startedAt && at - LINE_MS < endedAt;
}

/** The first line comes a minute after the start of the task's daemon. */
function hoursOf(lines: readonly UsageLine[]): number {
  const times = lines.map(({ at }) => at);
  return (Math.max(...times) - Math.min(...times) + LINE_MS) / HOUR_MS;
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
