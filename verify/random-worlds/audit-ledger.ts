/** Compares the builds that looks reported as dead with those that died in the world, which knows each. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { EcsTask } from '../../simulator/ecs/task.ts';
import type { World } from '../../simulator/world.ts';
import type { LedgerFigures } from './figures.ts';
import type { LookLog } from './look-log.ts';
import { timeText } from './lost-builds.ts';
import type { Crash } from './world/world-events.ts';

export type LedgerAudit = { readonly figures: LedgerFigures; readonly problems: readonly string[] };

/** A look reports a death from 2 minutes after its task has stopped, and there is one every minute. */
const SEEN_WITHIN_MS = 4 * 60_000;

/** Whether coderd kept the rows of daemons until a look needed them. */
export class DaemonRows {
  readonly #missing = new Set<string>();

  taskStopped(world: World, { identity: { id, place } }: EcsTask): void {
    const host = `ip-${place.privateIp.replaceAll('.', '-')}`;
    const isOwn = (name: string): boolean => name.endsWith(`-${id}`) || name === host;
    world.timeline.after(SEEN_WITHIN_MS, () => {
      if (!world.coderd.daemons().some(({ name }) => isOwn(name))) this.#missing.add(id);
    });
  }

  /** Whether coderd had no row of this task's daemon when looks needed it. */
  isMissing(taskId: string): boolean {
    return this.#missing.has(taskId);
  }
}

type AuditInput = {
  readonly world: World;
  readonly crashes: readonly Crash[];
  readonly log: Pick<LookLog, 'orphans' | 'unknownTasks'>;
  readonly rows: DaemonRows;
  /** Tasks with imitated daemons: rows do not tell whose jobs these were. @default none */
  readonly imitated?: ReadonlySet<string>;
};

/** A build that was missed although it could be known, or invented, is a problem. */
export function auditLedger({ world, crashes, log, rows, imitated = new Set() }: AuditInput): LedgerAudit {
  const deaths = deathsOf(world, crashes).filter(({ taskId }) => !imitated.has(taskId));
  const unlisted = deaths.filter(({ job }) => !log.orphans.has(job));
  const unknowable = unlisted.filter(({ taskId }) => rows.isMissing(taskId));
  const missed = unlisted.filter((death) => !unknowable.includes(death));
  const dead = new Set<string>(deaths.map(({ job }) => job));
  const invented = [...log.orphans.values()].filter(({ job, task }) => !dead.has(job) && !imitated.has(task));
  return {
    figures: {
      died: deaths.length,
      listed: deaths.length - unlisted.length,
      invented: invented.length,
      unknowable: unknowable.length,
      saidUnknown: unknowable.filter(({ taskId }) => log.unknownTasks.has(taskId)).length,
    },
    problems: [
      ...missed.map(
        ({ job, taskId, at }) =>
          `no look reported that job ${job} died with task ${taskId} at ${timeText(at)}`,
      ),
      ...invented.map(
        ({ job, task, stoppedAt }) =>
          `a look reported that job ${job} died with task ${task} at ${stoppedAt}, but it did not`,
      ),
    ],
  };
}

/** Before 2.31.1 coderd hands over jobs that were cancelled. They had ended before their daemon. */
function deathsOf(world: World, crashes: readonly Crash[]): readonly Crash[] {
  const killed = world.kills().map(({ job, task, at }) => ({ job: job.id, taskId: task.identity.id, at }));
  const hasEndedBefore = (job: Crash['job'], at: EpochMs): boolean =>
    (world.coderd.job(job)?.completedAt ?? Number.POSITIVE_INFINITY) <= at;
  return [...killed, ...crashes].filter(({ job, at }) => !hasEndedBefore(job, at));
}
