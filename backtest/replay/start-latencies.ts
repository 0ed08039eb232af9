/** Start times as a trace tells them, as the latencies of a world. */
import { FARGATE, type Latencies, type Range } from '../../simulator/ecs/parts/latencies.ts';

/** Of a task with a guard, from RUNNING to a registered daemon: two calls of 50 to 400 ms, 3 s of waiting to be told, the daemon's own start. */
const AFTER_BOOT_MS: Range = [100 + 3_000 + 2_500, 800 + 3_000 + 6_000];
/** A network interface and an image take so long in any case. */
const LEAST_BOOT_MS = 1_000;

/** `startSeconds`: from a task's creation to its daemon. */
export function startLatencies(
  startSeconds: readonly [from: number, to: number] | undefined,
): Partial<Latencies> {
  if (startSeconds === undefined) return {};
  const [from, to] = startSeconds;
  const least = Math.max(LEAST_BOOT_MS, Math.round(from * 1000) - AFTER_BOOT_MS[0]);
  const most = Math.max(least, Math.round(to * 1000) - AFTER_BOOT_MS[1]);
  return { boot: [least, most] };
}

/** From a task's creation to its daemon, the least and the most, in seconds. */
export function startSecondsOf(latencies: Partial<Latencies>): readonly [from: number, to: number] {
  const [least, most] = latencies.boot ?? FARGATE.boot;
  return [(least + AFTER_BOOT_MS[0]) / 1000, (most + AFTER_BOOT_MS[1]) / 1000];
}
