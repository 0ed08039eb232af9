/**
 * What a container uses, as `/stats` tells it (docs/internals/aws.md §1): memory rises in the first half of a build
 * and falls at its end, CPU is busy while it builds, and file cache stays. A build that needs more memory than the
 * task has ends as on Linux: the kernel kills Terraform (docs/internals/coder.md §5).
 */
import type { EpochMs, JobId } from '../../lambda/decision/model/brands.ts';
import { type AcquiredJob, type DaemonServer, type JobResult, listening } from '../base/daemon-connection.ts';
import type { Timeline } from '../base/timeline.ts';

/** What the tasks of a pool use. Percents are those of one vCPU. */
export type BuildUsage = {
  /** Memory without a build, and without file cache. */
  readonly idleMiB: number;
  /** Memory at the peak of a build, without file cache. */
  readonly peakMiB: (job: JobId) => number;
  readonly cpuPercent: number;
  readonly cacheMiB: number;
};

/** The size of the task: CPU units (1,024 is one vCPU) and MiB. */
export type TaskSize = { readonly cpu: number; readonly memory: number };

/** The part of Docker's statistics that the guard reads. */
export type DockerStats = {
  readonly cpu_stats: {
    readonly cpu_usage: { readonly total_usage: number };
    readonly system_cpu_usage?: number;
    readonly online_cpus?: number;
    readonly throttling_data?: { readonly periods: number; readonly throttled_periods: number };
  };
  readonly memory_stats: { readonly usage: number; readonly stats: Readonly<Record<string, number>> };
};

type Build = { readonly job: AcquiredJob; readonly startedAt: EpochMs; readonly killedAfterMs?: number };

const MIB = 1024 * 1024;
const NS_PER_MS = 1e6;
/** Of one vCPU: the daemon's updates, and the guard. */
const IDLE_PERCENT = 1;
/** The share of a build in which its memory rises. */
const RISE = 0.5;
const CPUS = 2;
const PERIOD_MS = 100;
/** What coderd shows of a build whose Terraform was killed. */
const KILLED = 'terraform apply: signal: killed';

export class ContainerUsage {
  readonly #timeline: Timeline;
  readonly #usage: BuildUsage;
  readonly #size: TaskSize;
  readonly #startedAt: EpochMs;
  #build: Build | undefined;
  #builds = 0;
  #busyMs = 0;

  constructor(timeline: Timeline, { usage, size }: { readonly usage: BuildUsage; readonly size: TaskSize }) {
    this.#timeline = timeline;
    this.#usage = usage;
    this.#size = size;
    this.#startedAt = timeline.now();
  }

  /** The server, as a daemon in this container uses it. */
  through(server: DaemonServer): DaemonServer {
    return listening(server, {
      onJob: (job) => this.#begin(job),
      onComplete: (result, report) => {
        const error = this.#end(result);
        return error === undefined ? report : { ...report, error };
      },
    });
  }

  stats(): DockerStats {
    const upMs = this.#timeline.now() - this.#startedAt;
    const busyMs = this.#busyMs + this.#buildMs();
    const isShort = this.#usage.cpuPercent > this.#percentOfTask();
    const cpuMs = (busyMs * this.#percentOfBuild() + (upMs - busyMs) * IDLE_PERCENT) / 100;
    const cache = this.#builds * this.#usage.cacheMiB * MIB;
    return {
      cpu_stats: {
        cpu_usage: { total_usage: Math.round(cpuMs * NS_PER_MS) },
        system_cpu_usage: upMs * CPUS * NS_PER_MS,
        online_cpus: CPUS,
        throttling_data: {
          periods: Math.floor(upMs / PERIOD_MS),
          throttled_periods: isShort ? Math.floor(busyMs / PERIOD_MS) : 0,
        },
      },
      memory_stats: { usage: Math.round(this.#memoryMiB() * MIB) + cache, stats: { inactive_file: cache } },
    };
  }

  #memoryMiB(): number {
    const { idleMiB, peakMiB } = this.#usage;
    const { job, startedAt } = this.#build ?? {};
    if (job === undefined || startedAt === undefined) return idleMiB;
    const part = (this.#timeline.now() - startedAt) / (job.durationMs * RISE);
    return Math.min(this.#size.memory, idleMiB + (peakMiB(job.id) - idleMiB) * Math.min(1, part));
  }

  /** Returns the job as the daemon runs it: it ends early if memory runs out. */
  #begin(job: AcquiredJob): AcquiredJob {
    const killedAfterMs = this.#killedAfterMs(job);
    this.#build = {
      job,
      startedAt: this.#timeline.now(),
      ...(killedAfterMs === undefined ? {} : { killedAfterMs }),
    };
    this.#builds++;
    return killedAfterMs === undefined ? job : { ...job, durationMs: killedAfterMs, willFail: true };
  }

  #killedAfterMs({ id, durationMs }: AcquiredJob): number | undefined {
    const { idleMiB, peakMiB } = this.#usage;
    const missing = peakMiB(id) - this.#size.memory;
    if (missing <= 0) return undefined;
    return Math.round(durationMs * RISE * (1 - missing / (peakMiB(id) - idleMiB)));
  }

  /** Ends the build. Returns the error if the kernel has killed it. */
  #end(result: JobResult): string | undefined {
    const isKilled = result === 'failed' && this.#build?.killedAfterMs !== undefined;
    this.#busyMs += this.#buildMs();
    this.#build = undefined;
    return isKilled ? KILLED : undefined;
  }

  #buildMs(): number {
    return this.#build === undefined ? 0 : this.#timeline.now() - this.#build.startedAt;
  }

  #percentOfTask(): number {
    return (this.#size.cpu / 1024) * 100;
  }

  #percentOfBuild(): number {
    return Math.min(this.#usage.cpuPercent, this.#percentOfTask());
  }
}

/** The guard samples this often, and two samples make a line. */
export const SAMPLE_MS = 30_000;
const SAMPLES_A_LINE = 2;

/** Smaller changes are not logged, unless there was no line for this number of lines. */
const CHANGE = { memoryMiB: 16, cpuPercent: 5, unchangedLines: 10 };

/** A sample's numbers that only grow; 0 if the agent does not tell them. */
type Counters = {
  readonly atMs: number;
  readonly cpuNs: number;
  readonly systemNs: number;
  readonly periods: number;
  readonly throttled: number;
};

export class UsageLog {
  readonly #labels: { readonly pool: string; readonly task: string };
  #before: Counters | undefined;
  #samples = 0;
  #memoryMiB = 0;
  #peakMiB = -1;
  #cpuPercent = 0;
  #throttledPercent = -1;
  #loggedMiB = Number.NEGATIVE_INFINITY;
  #unchanged = 0;

  constructor(labels: { readonly pool: string; readonly task: string }) {
    this.#labels = labels;
  }

  /** Takes a sample. Returns a line for the log, or undefined. `stats`: undefined if none came. */
  take(stats: DockerStats | undefined, atMs: number): string | undefined {
    if (stats !== undefined) this.#note(stats, atMs);
    this.#samples++;
    if (this.#samples % SAMPLES_A_LINE !== 0) return undefined;
    const line = this.#line();
    [this.#peakMiB, this.#cpuPercent, this.#throttledPercent] = [-1, 0, -1];
    return line;
  }

  #note({ memory_stats: { usage, stats }, cpu_stats }: DockerStats, atMs: number): void {
    const cache = Math.max(stats.inactive_file ?? 0, stats.total_inactive_file ?? 0);
    this.#memoryMiB = Math.floor((cache < usage ? usage - cache : usage) / MIB);
    this.#peakMiB = Math.max(this.#peakMiB, this.#memoryMiB);
    const now = countersOf(cpu_stats, atMs);
    const elapsed = elapsedNs(this.#before, now, cpu_stats.online_cpus ?? 0);
    const { cpuNs, periods, throttled } = this.#before ?? { cpuNs: 0, periods: 0, throttled: 0 };
    this.#cpuPercent = Math.max(this.#cpuPercent, percent(now.cpuNs - cpuNs, elapsed) ?? 0);
    const held = percent(now.throttled - throttled, now.periods - periods);
    this.#throttledPercent = Math.max(this.#throttledPercent, held ?? -1);
    this.#before = now;
  }

  #line(): string | undefined {
    if (this.#peakMiB < 0) return undefined;
    const isChanged =
      Math.abs(this.#peakMiB - this.#loggedMiB) >= CHANGE.memoryMiB || this.#cpuPercent >= CHANGE.cpuPercent;
    if (!isChanged && ++this.#unchanged < CHANGE.unchangedLines) return undefined;
    [this.#loggedMiB, this.#unchanged] = [this.#memoryMiB, 0];
    return JSON.stringify({
      message: 'usage',
      ...this.#labels,
      memoryMiB: this.#memoryMiB,
      peakMiB: this.#peakMiB,
      cpuPercent: this.#cpuPercent,
      ...(this.#throttledPercent < 0 ? {} : { throttledPercent: this.#throttledPercent }),
    });
  }
}

function countersOf(
  { cpu_usage, system_cpu_usage = 0, throttling_data }: DockerStats['cpu_stats'],
  atMs: number,
): Counters {
  const { periods = 0, throttled_periods = 0 } = throttling_data ?? {};
  return {
    atMs,
    cpuNs: cpu_usage.total_usage,
    systemNs: system_cpu_usage,
    periods,
    throttled: throttled_periods,
  };
}

/** Nanoseconds between two samples: by the machine's counter of CPU time, or else by the clock. */
function elapsedNs(before: Counters | undefined, now: Counters, cpus: number): number {
  if (before === undefined) return 0;
  if (before.systemNs === 0 || cpus === 0) return (now.atMs - before.atMs) * NS_PER_MS;
  return Math.trunc((now.systemNs - before.systemNs) / cpus);
}

/** Undefined if it is not known. */
function percent(part: number, whole: number): number | undefined {
  return whole > 0 ? Math.trunc((part * 100) / whole) : undefined;
}
