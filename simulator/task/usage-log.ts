/**
 * The lines that the guard's sampler logs (`sample_usage` in guard/guard.sh), from the same
 * samples. test/guard/usage-log.test.ts compares both.
 */
import type { DockerStats } from './container-usage.ts';

/** The guard samples this often, and two samples make a line. */
export const SAMPLE_MS = 30_000;
const SAMPLES_A_LINE = 2;

const MIB = 1024 * 1024;
const NS_PER_MS = 1e6;
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
