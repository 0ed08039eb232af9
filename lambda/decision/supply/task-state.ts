/**
 * The state of one task by docs/architecture.md, "The lease", and what its daemon is good for. A state that can't be told is
 * read as the one that holds.
 */
import type { EpochMs } from '../model/brands.ts';
import type { PoolConfig } from '../model/config.ts';
import type { Daemon, OrganizationReadings, Protection, Task } from '../model/snapshot.ts';
import { areEqual, normalizeTags, type TagSet } from '../model/tags.ts';
import type { DaemonIndex } from './daemons.ts';
import { isOverdue } from './failing-starts.ts';

/** An enabled protection with less left than this means: leaving. */
const LEASE_MS = 24 * 3_600_000;
/** Nobody but a guard, or who asks one to leave, protects for longer: rung `confirm` takes half an hour. */
const GUARDLESS_MS = 2 * 3_600_000;
/** What an ask, or a guard that drains by itself, leaves of a lease. */
export const LEAVING_MS = 23 * 3_600_000;
/** A task that has been RUNNING for this long has had its time to get a lease and a daemon. */
const BOOT_MS = 15 * 60_000;

/** The states of docs/architecture.md, "The lease", and `replacing`: working, and its turn to be replaced has come (rolling.ts). */
export type TaskState = 'starting' | 'working' | 'replacing' | 'leaving' | 'left' | 'unguarded';

/**
 * What a task that counts as supply is good for. `registering`: its daemon is still to come. `silent`: it should
 * have a daemon and has none. `unknown`: the daemons could not be read.
 */
export type Use = 'busy' | 'idle' | 'registering' | 'silent' | 'unknown';

export type TaskView = {
  readonly task: Task;
  readonly state: TaskState;
  readonly use: Use;
  readonly daemon: Daemon | undefined;
  /** What its daemon offers; the pool's tags where no daemon is known. */
  readonly offers: TagSet;
  /** Whether these are not its pool's: its daemon was started with another pool's key. */
  readonly hasOtherTags: boolean;
  readonly idleSince: EpochMs | undefined;
  /** Milliseconds until its protection ends, 0 without one; undefined where that was not read. */
  readonly leaseMs: number | undefined;
};

export type TaskInput = {
  readonly task: Task;
  readonly pool: PoolConfig;
  readonly organization: OrganizationReadings | undefined;
  readonly index: DaemonIndex | undefined;
  readonly now: EpochMs;
  readonly protection: Protection | undefined;
};

/** Reads one task that ECS means to keep running. */
export function readTask(input: TaskInput): TaskView {
  const { task, pool, index } = input;
  const daemon = index?.ofTask(task);
  const use = readUse(input, daemon);
  return {
    task,
    daemon,
    use,
    state: readState(input, daemon),
    offers: normalizeTags(daemon?.tags ?? pool.tags),
    hasOtherTags: daemon !== undefined && !areEqual(normalizeTags(daemon.tags), normalizeTags(pool.tags)),
    idleSince: daemon !== undefined && use === 'idle' ? index?.idleSince(daemon, task) : undefined,
    leaseMs: leaseOf(input),
  };
}

function leaseOf({ protection, now }: TaskInput): number | undefined {
  if (protection === undefined) return undefined;
  return protection.protectionEnabled ? Math.max(0, (protection.expirationDate ?? now) - now) : 0;
}

function readState(input: TaskInput, daemon: Daemon | undefined): TaskState {
  const { task, now, protection, pool } = input;
  if (task.lastStatus !== 'RUNNING') return 'starting';
  const leaseMs = leaseOf(input) ?? 0;
  // without a guard a protection says nothing of the daemon; a longer one was taken by a guard of before
  if (pool.scaleIn !== 'lease' && leaseMs <= GUARDLESS_MS)
    return daemon === undefined && isBooting(task, now) ? 'starting' : 'working';
  if (protection?.protectionEnabled === true) return leaseMs >= LEASE_MS ? 'working' : 'leaving';
  if (hasLeft(input, daemon)) return 'left';
  return daemon === undefined && isBooting(task, now) ? 'starting' : 'unguarded';
}

/**
 * Left: nothing protects the task, and coderd says that no daemon of its can hold a job. An absent row
 * proves that only for a task that is too old to be booting, and only from readings that are whole.
 */
function hasLeft(
  { task, organization, index, now, protection }: TaskInput,
  daemon: Daemon | undefined,
): boolean {
  const isKnown = organization?.jobs.status === 'ok' && organization.daemons.status === 'ok';
  if (!isKnown || protection === undefined) return false;
  if (daemon === undefined) return !isBooting(task, now);
  return index?.activity(daemon) === 'offline';
}

function readUse({ task, organization, index, now }: TaskInput, daemon: Daemon | undefined): Use {
  const activity = daemon && index?.activity(daemon);
  if (activity === 'busy' || activity === 'idle') return activity;
  const isComing = daemon === undefined && isBooting(task, now);
  if (task.lastStatus !== 'RUNNING') return isOverdue(task, now) ? 'silent' : 'registering';
  if (isComing) return 'registering';
  return organization?.daemons.status === 'ok' ? 'silent' : 'unknown';
}

/** Whether a guard holds its lease: then it can be asked, whatever its pool's rung is by now. */
export function isGuarded({ leaseMs }: TaskView): boolean {
  return (leaseMs ?? 0) >= LEASE_MS;
}

/**
 * For how long a task has drained, at the least: an ask leaves 23 h of its protection. A guard that drains for longer than 11 h sets
 * the protection to 23 h again, so its time starts anew. Undefined: it does not drain, or it may have no guard.
 */
export function drainedMs({ state, leaseMs = 0 }: TaskView): number | undefined {
  return state === 'leaving' && leaseMs > GUARDLESS_MS ? Math.max(0, LEAVING_MS - leaseMs) : undefined;
}

/** Whether it is too young for anything to follow from what it doesn't have. */
export function isBooting(task: Task, now: EpochMs): boolean {
  return now - (task.startedAt ?? now) < BOOT_MS;
}
