/** Compares the builds that looks reported as dead with those that died in the world, which knows each. */

import { type EpochMs, lastPart } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { EcsTask, EcsTaskState, Protection } from '../../world/ecs/task.ts';
import type { Kill, World } from '../../world/world.ts';
import type { WorldResult } from './figures.ts';
import type { LookLog } from './look-log.ts';
import type { Crash } from './world/world-events.ts';

export type LedgerAudit = {
  readonly figures: Pick<WorldResult, 'died' | 'listed' | 'unknowable'>;
  readonly problems: readonly string[];
};

/** A look reports a death from 2 minutes after its task has stopped, and there is one every minute. */
const SEEN_WITHIN_MS = 4 * 60_000;

/** A look reports no death earlier: its task may still be on its way out (lambda/decision/deaths/death.ts). */
const REPORTED_AFTER_MS = 2 * MINUTE_MS;

/** Whether coderd kept the rows of daemons until a look needed them, and which dead tasks looks saw with such a row. */
export class DaemonRows {
  readonly #missing = new Set<string>();
  readonly #seen = new Set<string>();

  taskStopped(world: World, { identity: { id, place } }: EcsTask): void {
    const host = `ip-${place.privateIp.replaceAll('.', '-')}`;
    const isOwn = (name: string): boolean => isDaemonOf(id, name) || name === host;
    world.timeline.after(SEEN_WITHIN_MS, () => {
      if (!world.coderd.daemons().some(({ name }) => isOwn(name))) this.#missing.add(id);
    });
  }

  /** A look that reads all lists knows of each death whose task and daemon are in them. */
  add({ snapshot: { ecs, coder, takenAt } }: Pick<LookResult, 'snapshot'>): void {
    const readings = [ecs.services, ecs.tasks];
    for (const { daemons, jobs, previousJobs } of coder.organizations) {
      if ([...readings, daemons, jobs, previousJobs].some(({ status }) => status !== 'ok')) continue;
      for (const { taskArn, stoppedAt = takenAt } of ecs.tasks.items) {
        const id = lastPart(taskArn);
        const isDue = takenAt - stoppedAt >= REPORTED_AFTER_MS;
        if (isDue && daemons.items.some(({ name }) => isDaemonOf(id, name))) this.#seen.add(id);
      }
    }
  }

  /** Whether a look that read all lists saw both the stopped task and its daemon. */
  wasSeen(taskId: string): boolean {
    return this.#seen.has(taskId);
  }

  /** Whether coderd had no row of this task's daemon when looks needed it. */
  isMissing(taskId: string): boolean {
    return this.#missing.has(taskId);
  }
}

const isDaemonOf = (taskId: string, daemon: string): boolean => daemon.endsWith(`-${taskId}`);

/** ECS lists a stopped task for an hour. */
const LISTED_MS = 60 * MINUTE_MS;

type AuditInput = {
  readonly world: World;
  readonly crashes: readonly Crash[];
  readonly log: Pick<LookLog, 'orphans'>;
  readonly rows: Pick<DaemonRows, 'isMissing' | 'wasSeen'>;
  /** When looks could not see all. @default never */
  readonly blindSpans?: readonly { readonly from: number; readonly to: number }[];
  /** Tasks with imitated daemons: rows do not tell whose jobs these were. @default none */
  readonly imitated?: ReadonlySet<string>;
};

/** A build that was missed although it could be known, or invented, is a problem. */
export function auditLedger(input: AuditInput): LedgerAudit {
  const { world, crashes, log, rows, blindSpans = [], imitated = new Set() } = input;
  const isHidden = ({ taskId, at }: Crash): boolean =>
    !rows.wasSeen(taskId) && blindSpans.some(({ from, to }) => from <= at + LISTED_MS && to >= at);
  const deaths = deathsOf(world, crashes).filter(({ taskId }) => !imitated.has(taskId));
  const unlisted = deaths.filter(({ job }) => !log.orphans.has(job));
  const unknowable = unlisted.filter((death) => rows.isMissing(death.taskId) || isHidden(death));
  const missed = unlisted.filter((death) => !unknowable.includes(death));
  const dead = new Set<string>(deaths.map(({ job }) => job));
  const invented = [...log.orphans.values()].filter(({ job, task }) => !dead.has(job) && !imitated.has(task));
  return {
    figures: {
      died: deaths.length,
      listed: deaths.length - unlisted.length,
      unknowable: unknowable.length,
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

const LAST = 6;

/** One text for each build that a scale-in or a deployment killed. */
export function killedBuilds(world: World): readonly string[] {
  return world
    .kills()
    .filter(({ by }) => by === 'us')
    .map(describeKill);
}

/** More hung jobs of coderd than known kills and crashes: a build was killed unnoticed. */
export function lostJobs(world: World, crashed: number): readonly string[] {
  const hung = world.coderd.jobs().filter(({ failedBy }) => failedBy === 'hung-reaper').length;
  const known = world.kills().length + crashed;
  return hung > known
    ? [`coderd found ${hung} hung builds, but only ${known} builds were killed or crashed`]
    : [];
}

/** One line about the kill, then the last states of its task, one a line. */
function describeKill({ task, pool, job, at }: Kill): string {
  const { stopCode, stoppedReason } = task.state;
  return [
    `task ${task.identity.id} of pool "${pool}" was killed at ${timeText(at)} while it ran job ${job.id}: ${stopCode} (${stoppedReason})`,
    ...task.states.entries.slice(-LAST).map((entry) => `  ${timeText(entry.at)}  ${stateText(entry.value)}`),
    ...task.protections.entries
      .slice(-LAST)
      .map((entry) => `  ${timeText(entry.at)}  ${protectionText(entry.value)}`),
  ].join('\n');
}

function stateText({ lastStatus, desiredStatus, exitCode }: EcsTaskState): string {
  return `${lastStatus}, desired ${desiredStatus}${exitCode === undefined ? '' : `, exit code ${exitCode}`}`;
}

function protectionText({ enabled, expiresAt, byHand }: Protection): string {
  if (enabled)
    return `protected ${expiresAt === undefined ? 'without an end' : `until ${timeText(expiresAt)}`}`;
  return byHand ? 'not protected: a person removed the protection' : 'not protected';
}

/** A time in the world as text, to the second. */
export const timeText = (time: EpochMs): string => new Date(time).toISOString().slice(0, 19);
