/** What coderd will do to one workspace by itself, as its lifecycle executor decides it (contract §10, lifecycle_executor.go). */
import type { EpochMs } from './brands.ts';
import { compare } from './order.ts';
import type { TransitionKind } from './plan.ts';
import type { Template, Workspace } from './snapshot.ts';
import { weekdayIn } from './zones.ts';

/** Something that coderd will do to a workspace. */
export type Transition = {
  readonly kind: TransitionKind;
  readonly at: EpochMs;
  /** Whether a job is to be expected: a stopped workspace is only marked as dormant, and the gate is asked all the same. */
  readonly takesJob: boolean;
};

/** coderd waits so long after a deletion that failed. */
const DELETE_AGAIN_MS = 24 * 3_600_000;

/** All that is to come for a workspace as it is, the earliest first; nothing while a build is under way. */
export function transitionsOf(workspace: Workspace, template: Template | undefined): readonly Transition[] {
  if (IN_PROGRESS.has(workspace.latest_build.job.status)) return [];
  return [
    autostart(workspace, template),
    autostop(workspace),
    cleanup(workspace, template),
    dormancy(workspace, template),
    deletion(workspace, template),
  ]
    .filter((transition) => transition !== undefined)
    .filter(({ at }) => at <= LAST_MS)
    .toSorted(byTime);
}

/** The last time that there is a date for. */
const LAST_MS = 8.64e15;

export function byTime(a: Transition, b: Transition): number {
  return a.at - b.at || compare(a.kind, b.kind);
}

/** What coderd does by itself, by the reason of the build (contract §10). */
export const AUTOMATIC: ReadonlyMap<string, TransitionKind> = new Map([
  ['autostart', 'autostart'],
  ['autostop', 'autostop'],
  ['dormancy', 'dormancy'],
  ['autodelete', 'deletion'],
  ['task_auto_pause', 'autostop'],
]);

const IN_PROGRESS: ReadonlySet<string> = new Set(['pending', 'running', 'canceling']);

function autostart(workspace: Workspace, template: Template | undefined): Transition | undefined {
  const { latest_build: build, next_start_at, autostart_schedule, dormant_at } = workspace;
  const isStopped = build.transition === 'stop' && build.job.status !== 'failed' && !isTime(dormant_at);
  if (!isStopped || !isTime(next_start_at) || !autostart_schedule) return undefined;
  if (template?.allow_user_autostart === false) return undefined;
  if (!isAllowedDay(next_start_at, autostart_schedule, template)) return undefined;
  return { kind: 'autostart', at: next_start_at, takesJob: true };
}

/** The template may allow certain days only, or none, by the clock of the workspace's schedule. */
function isAllowedDay(at: EpochMs, schedule: string, template: Template | undefined): boolean {
  const days = template?.autostart_requirement?.days_of_week;
  if (days == null) return true;
  const zone = /^(?:CRON_TZ|TZ)=(\S+)/.exec(schedule)?.[1] ?? 'UTC';
  const day = weekdayIn(zone, at);
  return day === undefined || days.includes(day);
}

/** Activity moves the deadline, up to the latest one. */
function autostop({ latest_build: build, dormant_at }: Workspace): Transition | undefined {
  if (build.transition !== 'start' || build.job.status === 'failed' || isTime(dormant_at)) return undefined;
  const ends = [build.deadline, build.max_deadline].filter(isTime);
  return ends.length === 0
    ? undefined
    : { kind: 'autostop', at: Math.min(...ends) as EpochMs, takesJob: true };
}

/** What failed to start or to stop is stopped after a while. */
function cleanup({ latest_build: build }: Workspace, template: Template | undefined): Transition | undefined {
  const ttl = template?.failure_ttl_ms ?? 0;
  const { status, completed_at } = build.job;
  if (ttl <= 0 || status !== 'failed' || build.transition === 'delete' || !isTime(completed_at))
    return undefined;
  return { kind: 'autostop', at: (completed_at + ttl) as EpochMs, takesJob: true };
}

function dormancy(
  { latest_build: build, last_used_at, dormant_at }: Workspace,
  template: Template | undefined,
): Transition | undefined {
  const ttl = template?.time_til_dormant_ms ?? 0;
  if (ttl <= 0 || isTime(dormant_at) || !isTime(last_used_at)) return undefined;
  return { kind: 'dormancy', at: (last_used_at + ttl) as EpochMs, takesJob: build.transition === 'start' };
}

function deletion(
  { latest_build: build, dormant_at, deleting_at }: Workspace,
  template: Template | undefined,
): Transition | undefined {
  const isMeant = (template?.time_til_dormant_autodelete_ms ?? 0) > 0;
  if (!isMeant || !isTime(dormant_at) || !isTime(deleting_at)) return undefined;
  const hasFailed = build.transition === 'delete' && build.job.status === 'failed';
  const again = hasFailed ? (build.job.completed_at ?? 0) + DELETE_AGAIN_MS : 0;
  return { kind: 'deletion', at: Math.max(deleting_at, again) as EpochMs, takesJob: true };
}

/** Go writes the year 1 for a time that is not set. */
function isTime(time: EpochMs | null | undefined): time is EpochMs {
  return time != null && time > 0;
}
