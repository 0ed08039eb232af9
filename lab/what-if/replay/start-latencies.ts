/** Converts the start times of a trace into latencies of a simulated world, and back. */
import { BOOT_SHARES, FARGATE, type Latencies, type Range } from '../../world/ecs/parts/latencies.ts';

/** From RUNNING to a registered daemon, with a guard: two calls, 3 s to be told to stop, its start. */
const AFTER_BOOT_MS: Range = [100 + 3_000 + 2_500, 800 + 3_000 + 6_000];
/** The network interface and the image pull take at least this long. */
const LEAST_BOOT_MS = 1_000;

/** `startSeconds`: seconds from the creation of a task to its daemon, shortest and longest. */
export function startLatencies(
  startSeconds: readonly [from: number, to: number] | undefined,
): Partial<Latencies> {
  if (startSeconds === undefined) return {};
  const [from, to] = startSeconds;
  const least = Math.max(LEAST_BOOT_MS, Math.round(from * 1000) - AFTER_BOOT_MS[0]);
  const most = Math.max(least, Math.round(to * 1000) - AFTER_BOOT_MS[1]);
  return { boot: [least, most] };
}

/** How the simulation divides the time until a task is RUNNING. Shares: 0 to 1. */
export const START_SHARES: typeof BOOT_SHARES = BOOT_SHARES;

/** Seconds from the creation of a task to its daemon, shortest and longest. */
export function startSecondsOf(latencies: Partial<Latencies>): readonly [from: number, to: number] {
  const [least, most] = latencies.boot ?? FARGATE.boot;
  return [(least + AFTER_BOOT_MS[0]) / 1000, (most + AFTER_BOOT_MS[1]) / 1000];
}
