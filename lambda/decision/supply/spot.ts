/** The facts about a part of a pool: what the other parts leave it, and what AWS took back on Spot. */
import type { EpochMs } from '../model/brands.ts';
import { sum } from '../model/collections.ts';
import type { Task } from '../model/snapshot.ts';
import { HOUR_MS } from '../model/units.ts';

/** What the other parts of the pool leave a part. All numbers are tasks. */
export type Share = {
  /** Whether this part launches tasks. */
  readonly isLaunching: boolean;
  /** Why this part launches although another one is cheaper without interruptions. */
  readonly instead: SpotProblem | undefined;
  /** `max` of the whole pool; that of the part is what the others leave. */
  readonly max: number;
  /** The tasks of the other parts. */
  readonly elsewhere: number;
  /** Tasks with a lease of cheaper parts, and the idle ones among them: they fill floors first. */
  readonly cheaper: { readonly working: number; readonly idle: number };
  /** Whether another part runs jobs, or is about to: then it is worth a try whether Spot is back. */
  readonly isNeededElsewhere: boolean;
};

/** Why Spot is left out. */
export type SpotProblem = {
  readonly because: 'placement-failing' | 'starts-failing' | 'interrupted' | 'no-service';
  readonly interruptions: number;
  /** A Spot task and its lost builds, in micro-dollars an hour. */
  readonly price: number;
};

/** Tasks that AWS took back in the last hour, and the hours that all tasks ran in it. */
export type Interruptions = { readonly tasks: number; readonly taskHours: number };

/** Counts from the list of tasks, which has stopped ones for an hour. */
export function countInterruptions(tasks: readonly Task[], now: EpochMs): Interruptions {
  const from = now - HOUR_MS;
  const ran = ({ startedAt, stoppedAt = now }: Task): number =>
    startedAt === undefined ? 0 : Math.max(0, stoppedAt - Math.max(from, startedAt));
  const isInterrupted = ({ stopCode, stoppingAt, stoppedAt = stoppingAt ?? now }: Task): boolean =>
    stopCode === 'SpotInterruption' && stoppedAt > from;
  return { tasks: tasks.filter(isInterrupted).length, taskHours: sum(tasks, ran) / HOUR_MS };
}
