/**
 * The state of one task by docs/internals/architecture.md, "The lease", and the use of its daemon,
 * from its protection and coderd's rows. If the state is not certain, it is the one that holds
 * scale-in.
 */
import type { EpochMs } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import type { PoolConfig } from '../model/config.ts';
import type { OrganizationReadings, Task } from '../model/snapshot.ts';
import { areEqual, normalizeTags, type TagSet } from '../model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { type Claims, type DaemonIndex, poolNamed } from './rows/daemons.ts';
import { GUARDLESS_MS, LEASE_LATE_MS, LEASE_MS, runsFor, type TaskRow } from './rows/task-row.ts';
import { isOverdue } from './starts.ts';

/** A drain request, or a guard that drains by itself, sets the protection to this. */
const LEAVING_MS = 23 * HOUR_MS;
/** A task that has been RUNNING for longer has had enough time to get a lease and a daemon. */
const BOOT_MS = 15 * MINUTE_MS;

/** The states of architecture.md, "The lease", and `replacing`: its turn has come (turns/rolling.ts). */
type TaskState = 'starting' | 'working' | 'replacing' | 'leaving' | 'left' | 'unguarded';

/**
 * The use of a task that counts as supply. `registering`: its daemon is still expected. `silent`:
 * it should have a daemon and has none. `unsure`: its daemon looks offline, and may live (heartbeats.ts).
 * `unknown`: the daemons could not be read.
 */
type Use = 'busy' | 'idle' | 'registering' | 'silent' | 'unsure' | 'unknown';

export type TaskView = Claims & {
  readonly task: Task;
  readonly state: TaskState;
  readonly use: Use;
  /** The tags of its daemon; the pool's tags if no daemon is known. */
  readonly offers: TagSet;
  /** Whether these tags differ from the pool's: the daemon uses the key of another pool, or its token is of another user. */
  readonly hasOtherTags: boolean;
  readonly idleSince: EpochMs | undefined;
  /** Whether it runs for so long that a guard would have its lease by now. */
  readonly shouldHaveLease: boolean;
  /** Whether it runs and should have a daemon by now (starts.ts): it serves no job. */
  readonly isLate: boolean;
  /** Whether coderd has most likely refused its daemon, for want of a license. It never dials again. */
  readonly isRefused: boolean;
  /** Whether the daemon of a task that ECS created later has registered. */
  readonly isOvertaken: boolean;
  /** Milliseconds until its protection ends; 0: none; undefined: it was not read. */
  readonly leaseMs: number | undefined;
};

export type TaskInput = Omit<TaskRow, 'leasedAt' | 'registered'> & {
  readonly pool: PoolConfig;
  readonly organization: OrganizationReadings | undefined;
  readonly index: DaemonIndex | undefined;
  readonly now: EpochMs;
  readonly isLate: boolean;
  readonly isRefused: boolean;
  readonly isOvertaken: boolean;
  /** Whether starts of its pool keep failing, and not for want of leases. */
  readonly isFailing: boolean;
};

/** Derives the view of one task that ECS intends to keep running. */
export function deriveTaskView(input: TaskInput): TaskView {
  const { task, claims, leaseMs, pool, index, isRefused, isOvertaken, now } = input;
  const { daemon } = claims;
  const use = deriveUse(input);
  return {
    ...claims,
    task,
    use,
    isRefused,
    isOvertaken,
    isLate: isRefused || input.isLate,
    shouldHaveLease: runsFor(task, now) >= LEASE_LATE_MS,
    state: deriveState(input),
    offers: normalizeTags(daemon?.tags ?? pool.tags),
    hasOtherTags: daemon !== undefined && !areEqual(normalizeTags(daemon.tags), normalizeTags(pool.tags)),
    idleSince: daemon !== undefined && isIdle({ use }) ? index?.idleSince(daemon, task) : undefined,
    leaseMs,
  };
}

/**
 * Where starts keep failing, one task at a time starts. Those that do not run yet are given up but for the
 * oldest: if many fail together, ECS waits longer before it starts another (docs/internals/aws.md §2).
 */
export function withOneStart(tasks: readonly TaskView[]): readonly TaskView[] {
  const [, ...others] = tasks
    .filter(({ task, state }) => state === 'starting' && task.lastStatus !== 'RUNNING')
    .toSorted(
      by(
        ({ task }) => task.createdAt ?? 0,
        ({ task }) => task.taskArn,
      ),
    );
  return tasks.map((task) => (others.includes(task) ? { ...task, state: 'left' } : task));
}

function deriveState(input: TaskInput): TaskState {
  const { task, claims, leaseMs = 0, now } = input;
  if (task.lastStatus !== 'RUNNING') return 'starting';
  if (leaseMs >= LEASE_MS) return 'working';
  if (isSure({ leaseMs })) return 'leaving';
  if (hasLeft(input)) return 'left';
  return claims.daemon === undefined && isBooting(task, now) ? 'starting' : 'unguarded';
}

/**
 * A task has left if it has no protection and coderd says that none of its daemons can hold a job.
 * A missing row proves that only for a task past its boot time, and only if the readings are
 * complete. Two minutes are enough where starts keep failing, or if the daemon of a later task has
 * registered: a guard that has no lease has started no daemon, or its daemon has ended. Without a guard a
 * daemon may be offline and build on.
 */
function hasLeft(input: TaskInput): boolean {
  const { task, claims, protection, organization, index, now, isFailing, isRefused, isOvertaken } = input;
  const { daemon } = claims;
  const isKnown = organization?.jobs.status === 'ok' && organization.daemons.status === 'ok';
  if (!isKnown || protection === undefined || protection.protectionEnabled || isHostNamed(claims))
    return false;
  const isGivenUp = isFailing || isRefused || isOvertaken;
  if (daemon === undefined) return runsFor(task, now) >= (isGivenUp ? LEASE_LATE_MS : BOOT_MS);
  return index?.activity(daemon) === 'offline';
}

function deriveUse({ task, claims, leaseMs = 0, organization, index, now }: TaskInput): Use {
  const { daemon } = claims;
  const activity = daemon && index?.activity(daemon);
  if (activity === 'busy' || activity === 'idle') return activity;
  const isComing = daemon === undefined && isBooting(task, now);
  if (task.lastStatus !== 'RUNNING') return isOverdue(task, now) ? 'silent' : 'registering';
  if (isComing) return 'registering';
  if (organization?.daemons.status !== 'ok') return 'unknown';
  const isLate = daemon !== undefined && index?.isLate(daemon) === true;
  return isLate && leaseMs >= LEASE_MS ? 'unsure' : 'silent';
}

/**
 * Whether a task leaves, as shown to people. coderd lists a daemon that has left as idle for up to
 * 90 s, and its task has no lease any more. One look cannot tell it from an idle daemon without a
 * guard, so decisions treat it as unguarded. Such a daemon has no job that ECS could kill; once it
 * takes one, it is reported.
 */
export function isLeaving(task: TaskView): boolean {
  return task.state === 'leaving' || hasJustLeft(task);
}

/** Whether a task without a lease has an idle daemon, which has most likely just left. */
export function hasJustLeft({ state, use, leaseMs }: TaskView): boolean {
  return state === 'unguarded' && use === 'idle' && leaseMs !== undefined;
}

/**
 * Whether the task's daemon takes jobs. A daemon that has drained still reads idle for up to 90 s,
 * but its task has no lease any more. If the leases could not be read, a live daemon counts:
 * missing readings must not cause launches.
 */
export function mayTakeJobs({ state, leaseMs }: TaskView): boolean {
  return state === 'working' || (state === 'unguarded' && leaseMs === undefined);
}

/** Whether its daemon has no job, although its heartbeat may be late. It is ready for jobs to come. */
export function isIdle({ use }: Pick<TaskView, 'use'>): boolean {
  return use === 'idle' || use === 'unsure';
}

/** Whether its daemon has been idle for `idleTimeout`, so that it may be asked to drain. */
export function isIdleLongEnough(task: TaskView, pool: PoolConfig, now: EpochMs): boolean {
  const { idleSince } = task;
  return isIdle(task) && idleSince !== undefined && now - idleSince >= pool.idleTimeoutMs;
}

/** Whether the task accepts a drain request. */
export function isGuarded({ leaseMs }: TaskView): boolean {
  return (leaseMs ?? 0) >= LEASE_MS;
}

/**
 * Whether a task has no guard, as in a pool that had `scaleIn: confirm` until 0.2: its daemon has the name of
 * its host, or it has a protection as short as the autoscaler sets it.
 */
export function lacksGuard({ leaseMs = 0, ...claims }: TaskView): boolean {
  return leaseMs <= GUARDLESS_MS && (leaseMs > 0 || isHostNamed(claims));
}

function isHostNamed({ daemon, rivals }: Claims): boolean {
  return [daemon, ...rivals].some((row) => row !== undefined && poolNamed(row) === undefined);
}

/**
 * How long a task has drained at least, in milliseconds: a drain request leaves 23 h of its
 * protection. A guard that drains for more than 11 h sets the protection to 23 h again, which
 * restarts this count. Undefined: the task does not drain, or may have no guard.
 */
export function drainedMs({ state, leaseMs = 0 }: TaskView): number | undefined {
  return state === 'leaving' && leaseMs > GUARDLESS_MS ? Math.max(0, LEAVING_MS - leaseMs) : undefined;
}

/** Whether a task is too young to conclude anything from a missing lease or daemon. */
export function isBooting(task: Task, now: EpochMs): boolean {
  return runsFor(task, now) < BOOT_MS;
}

/** With less than this left, the protection may end before ECS chooses a task to stop. */
const SURE_FOR_MS = 5 * MINUTE_MS;

/** Whether the task is protected for long enough that ECS does not stop it. */
function isSure({ leaseMs }: Pick<TaskView, 'leaseMs'>): boolean {
  return (leaseMs ?? 0) >= SURE_FOR_MS;
}
