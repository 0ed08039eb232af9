/** How long the two phases of a start take in one pool, learned from the tasks that ECS lists. */

import type { EpochMs } from '../model/brands.ts';
import { partition } from '../model/collections.ts';
import { isComing } from '../supply/capacity.ts';
import type { PoolView } from '../supply/supply.ts';
import { learnPhase, type StartPhase } from './start-phase.ts';

export type StartTimes = {
  /** From when ECS creates a task until its container runs. */
  readonly boot: StartPhase;
  /** From then until its daemon has registered. */
  readonly register: StartPhase;
};

/** With fewer starts nothing is promised. */
const LEAST_STARTS = 1;

/** Learns the start times of a pool. Undefined: too few starts were seen. */
export function learnStartTimes({ seenStarts, tasks }: PoolView, now: EpochMs): StartTimes | undefined {
  const seen = seenStarts().flatMap(({ tookMs, afterRunningMs }) =>
    afterRunningMs === undefined ? [] : [{ bootMs: tookMs - afterRunningMs, registerMs: afterRunningMs }],
  );
  if (seen.length < LEAST_STARTS) return undefined;
  const coming = tasks.filter(isComing).map(({ task }) => task);
  const [running, booting] = partition(coming, ({ startedAt }) => startedAt !== undefined);
  const boot = learnPhase({
    finished: [
      ...seen.map(({ bootMs }) => bootMs),
      ...running.map(({ createdAt = now, startedAt = now }) => startedAt - createdAt),
    ],
    ages: booting.map(({ createdAt = now }) => now - createdAt),
  });
  const register = learnPhase({
    finished: seen.map(({ registerMs }) => registerMs),
    ages: running.map(({ startedAt = now }) => now - startedAt),
  });
  return boot && register && { boot, register };
}
