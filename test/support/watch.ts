/**
 * Watches a world from its start: the transitions that coderd's lifecycle executor could not make,
 * and the number of running tasks.
 */
import { isDue } from '../../lab/world/coderd/tables/transitions.ts';
import type { BuildReason } from '../../lab/world/coderd/tables/workspace-records.ts';
import type { World } from '../../lab/world/world.ts';
import { MOST_DELAY_MS } from '../../lambda/decision/forecast/wake-demand.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { type Lab, type LabOptions, startLongLab } from './lab.ts';

/** A due transition that the executor did not make in a run, because it saw no daemon. */
type Left = {
  readonly workspace: string;
  readonly reason: BuildReason;
  readonly dueAt: number;
  readonly at: EpochMs;
};

export type Watch = {
  /** One for each workspace and minute. */
  readonly left: readonly Left[];
  /** Those that are starts, and those that were still open after this delay. */
  readonly late: () => readonly Left[];
  /** The minutes of all RUNNING tasks together. */
  readonly taskMinutes: () => number;
  /** The most tasks that were RUNNING at once from one time to another, both inclusive. */
  readonly mostRunning: (from: EpochMs, to: EpochMs) => number;
};

/** Starts a lab for long simulated times, and watches its world from the start. */
export async function startWatched(options: LabOptions): Promise<Lab & { readonly watched: Watch }> {
  const lab = await startLongLab(options);
  return { ...lab, watched: watch(lab.world) };
}

const EXECUTOR_MS = 60_000;
const SAMPLE_MS = 10_000;

/** Call it before time passes: then each sample comes right after the executor. */
export function watch(world: World): Watch {
  const { timeline } = world;
  const left: Left[] = [];
  const samples: { readonly at: EpochMs; readonly running: number }[] = [];
  timeline.every(EXECUTOR_MS, () => left.push(...leftAt(world)));
  timeline.every(SAMPLE_MS, () =>
    samples.push({ at: timeline.now(), running: world.figures().tasks.running }),
  );
  return {
    left,
    late: () =>
      left.filter(
        ({ reason, at, dueAt }) => reason === 'autostart' || at + EXECUTOR_MS - dueAt > MOST_DELAY_MS,
      ),
    taskMinutes: () => samples.reduce((total, { running }) => total + running, 0) * (SAMPLE_MS / EXECUTOR_MS),
    mostRunning: (from, to) =>
      Math.max(...samples.filter(({ at }) => at >= from && at <= to).map(({ running }) => running)),
  };
}

/**
 * The open transitions now. A running build delays the next transition, even if a daemon is free:
 * it does not count.
 */
function leftAt({ timeline, coderd }: World): readonly Left[] {
  const at = timeline.now();
  // the executor counts in whole minutes
  const tick = Math.floor(at / EXECUTOR_MS) * EXECUTOR_MS;
  return coderd.workspaces.all().flatMap(({ name, transitions, latestBuild }) => {
    const due = transitions.find((transition) => isDue(transition, tick as EpochMs));
    if (due === undefined || latestBuild.job.completedAt === undefined) return [];
    return [{ workspace: name, reason: due.reason, dueAt: due.at, at }];
  });
}
