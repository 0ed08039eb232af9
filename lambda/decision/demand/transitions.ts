/**
 * The transitions of one workspace that coderd will make by itself, as its lifecycle executor
 * decides (docs/internals/coder.md §10, lifecycle_executor.go). Computed from the workspace, its
 * template and its owner.
 */
import { type EpochMs, isoTime, plusMs } from '../model/brands.ts';
import { by, compare, groupsBy, partition } from '../model/collections.ts';
import type { TransitionKind, Transitions } from '../model/plan.ts';
import type { Member, Template, Workspace } from '../model/snapshot.ts';
import { DAY_MS } from '../model/units.ts';
import { cleansUpFailedStops } from '../model/version.ts';
import { WEEKDAYS, weekdayIn } from '../model/zones.ts';
import { nextAutostart, zoneOf } from './autostart-schedule.ts';

/** One transition of a workspace. */
export type Transition = {
  readonly kind: TransitionKind;
  readonly at: EpochMs;
  /** False if coderd only marks a stopped workspace as dormant. It checks the gate then too. */
  readonly takesJob: boolean;
};

/** coderd retries a failed deletion after this time. */
const DELETE_AGAIN_MS = DAY_MS;

/** The other inputs of a workspace's transitions. */
export type Circumstances = {
  /** The version of coderd. @default unknown */
  readonly version?: string | undefined;
  /** @default unknown: transitions that coderd has yet to compute are left out */
  readonly readAt?: EpochMs | undefined;
  /** The owner of the workspace. @default unknown, which counts as active */
  readonly owner?: Member | undefined;
};

/** All coming transitions, the earliest first. None while a build is in progress. */
export function transitionsOf(
  workspace: Workspace,
  template: Template | undefined,
  { version, readAt, owner }: Circumstances = {},
): readonly Transition[] {
  if (IN_PROGRESS.has(workspace.latest_build.job.status)) return [];
  return [
    (owner?.status ?? 'active') === 'active' ? autostart(workspace, template, readAt) : undefined,
    autostop(workspace, owner),
    cleanup(workspace, template, version),
    dormancy(workspace, template),
    deletion(workspace, template),
  ]
    .filter(isComing)
    .sort(byTime);
}

function isComing(transition: Transition | undefined): transition is Transition {
  return transition !== undefined && transition.at <= LAST_MS;
}

/** The largest time that `Date` can represent. */
const LAST_MS = 8.64e15;

export function byTime(a: Transition, b: Transition): number {
  return a.at - b.at || compare(a.kind, b.kind);
}

/** The kind of transition by the reason of its build (docs/internals/coder.md §10). */
export const AUTOMATIC: ReadonlyMap<string, TransitionKind> = new Map([
  ['autostart', 'autostart'],
  ['autostop', 'autostop'],
  ['dormancy', 'dormancy'],
  ['autodelete', 'deletion'],
  ['task_auto_pause', 'autostop'],
]);

const IN_PROGRESS: ReadonlySet<string> = new Set(['pending', 'running', 'canceling']);

function autostart(
  workspace: Workspace,
  template: Template | undefined,
  readAt: EpochMs | undefined,
): Transition | undefined {
  const { latest_build: build, autostart_schedule: schedule, dormant_at } = workspace;
  const isStopped = build.transition === 'stop' && build.job.status !== 'failed' && !isTime(dormant_at);
  if (!isStopped || !schedule || template?.allow_user_autostart === false) return undefined;
  const at = nextStart(workspace, { schedule, template, readAt });
  return at === undefined ? undefined : { kind: 'autostart', at, takesJob: true };
}

/** Without `next_start_at`, as after dormancy, coderd's next poll computes it. */
function nextStart(
  { next_start_at }: Workspace,
  given: {
    readonly schedule: string;
    readonly template: Template | undefined;
    readonly readAt?: EpochMs | undefined;
  },
): EpochMs | undefined {
  const { schedule, template, readAt } = given;
  const days = template?.autostart_requirement?.days_of_week;
  const allowsDay = (weekday: string): boolean => days == null || days.includes(weekday);
  if (!isTime(next_start_at))
    return readAt === undefined ? undefined : nextAutostart(schedule, readAt, allowsDay);
  // coderd's default allows all days, and a local time takes long to compute
  if (WEEKDAYS.every(allowsDay)) return next_start_at;
  const weekday = weekdayIn(zoneOf(schedule), next_start_at);
  return weekday === undefined || allowsDay(weekday) ? next_start_at : undefined;
}

/** Up to `max_deadline`. coderd stops the workspaces of a suspended owner at once. */
function autostop(
  { latest_build: build, dormant_at }: Workspace,
  owner: Member | undefined,
): Transition | undefined {
  if (build.transition !== 'start' || build.job.status === 'failed' || isTime(dormant_at)) return undefined;
  // an infinite time never comes
  const endOf = (time: EpochMs | null | undefined): number =>
    isTime(time) ? time : Number.POSITIVE_INFINITY;
  const at =
    owner?.status === 'suspended'
      ? Math.max(owner.user_updated_at ?? 0, build.created_at ?? 0)
      : Math.min(endOf(build.deadline), endOf(build.max_deadline));
  return { kind: 'autostop', at: at as EpochMs, takesJob: true };
}

/** coderd stops a workspace after a failed start, and since coder #26203 after a failed stop. */
function cleanup(
  { latest_build: build }: Workspace,
  template: Template | undefined,
  version: string | undefined,
): Transition | undefined {
  const ttl = template?.failure_ttl_ms ?? 0;
  const { status, completed_at } = build.job;
  if (ttl <= 0 || status !== 'failed' || !isTime(completed_at)) return undefined;
  const isCleanedUp =
    build.transition === 'start' || (build.transition === 'stop' && cleansUpFailedStops(version));
  if (!isCleanedUp) return undefined;
  return { kind: 'autostop', at: plusMs(completed_at, ttl), takesJob: true };
}

function dormancy(
  { latest_build: build, last_used_at, dormant_at }: Workspace,
  template: Template | undefined,
): Transition | undefined {
  const ttl = template?.time_til_dormant_ms ?? 0;
  if (ttl <= 0 || isTime(dormant_at) || !isTime(last_used_at)) return undefined;
  return { kind: 'dormancy', at: plusMs(last_used_at, ttl), takesJob: build.transition === 'start' };
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

/** Go writes the year 1 for an unset time. */
function isTime(time: EpochMs | null | undefined): time is EpochMs {
  return time != null && time > 0;
}

/** `countTransitions` at the time of a look. */
export type CountTransitions = (transitions: readonly Transition[]) => readonly Transitions[];

/** Counts transitions by kind, the overdue ones separately, the earliest first. */
export function countTransitions(transitions: readonly Transition[], now: EpochMs): readonly Transitions[] {
  return partition(transitions, ({ at }) => at <= now)
    .flatMap((part) => groupsBy(part, ({ kind }) => kind))
    .map((alike) => ({
      kind: alike[0].kind,
      transitions: alike.length,
      earliest: alike.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY),
    }))
    .toSorted(by('earliest', 'kind'))
    .map(({ earliest, ...count }) => ({ ...count, at: isoTime(earliest) }));
}
