/** What a look has read about one task: its protection, and the rows of coderd that claim it. */
import { type EpochMs, poolOfPart } from '../../model/brands.ts';
import type { PoolConfig } from '../../model/config.ts';
import type { Daemon, Protection, Task } from '../../model/snapshot.ts';
import { normalizeTags } from '../../model/tags.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../model/units.ts';
import type { Claims, DaemonIndex } from './daemons.ts';

/** A guard sets and renews its lease to this. */
const NEW_LEASE_MS = 48 * HOUR_MS;
/** A protection with less time left than this means that the task drains. */
export const LEASE_MS = DAY_MS;
/** Only guards and drain requests set a longer protection. Tasks without a guard get half an hour. */
export const GUARDLESS_MS = 2 * HOUR_MS;

/** A guard takes its lease within seconds, unless a deployment or its agent prevents it (docs/internals/aws.md §1). */
export const LEASE_LATE_MS = 2 * MINUTE_MS;

/** When the daemon of a task registered; `unknown` if coderd does not list offline daemons. */
export type Registration = EpochMs | 'never' | 'unknown';

export type TaskRow = {
  readonly task: Task;
  readonly protection: Protection | undefined;
  /** Milliseconds until its protection ends; 0: none; undefined: it was not read. */
  readonly leaseMs: number | undefined;
  /** When its guard last set its lease, at the latest; undefined: it has none. */
  readonly leasedAt: number | undefined;
  readonly claims: Claims;
  readonly registered: Registration;
};

type Listed = Pick<TaskRow, 'task' | 'protection'> & {
  readonly pool: PoolConfig;
  readonly index: DaemonIndex | undefined;
  /** Whether the list of daemons is whole, with offline ones. */
  readonly isWhole: boolean;
  readonly now: EpochMs;
};

/** Derives the row of a task from what is listed. */
export function rowOfTask({ task, protection, pool, index, isWhole, now }: Listed): TaskRow {
  const leaseMs = leaseOf(protection, now);
  const claims = claimsOn(task, { pool, index, leaseMs });
  const registered = registration(claims.daemon, isWhole);
  return { task, protection, leaseMs, leasedAt: leasedAt(task, leaseMs, now), claims, registered };
}

function leaseOf(protection: Protection | undefined, now: EpochMs): number | undefined {
  if (protection === undefined) return undefined;
  return protection.protectionEnabled ? Math.max(0, (protection.expirationDate ?? now) - now) : 0;
}

/** Judges the rows that claim a task. Only guards and drain requests set a long protection. */
function claimsOn(
  task: Task,
  { pool, index, leaseMs = 0 }: Pick<Listed, 'pool' | 'index'> & Pick<TaskRow, 'leaseMs'>,
): Claims {
  const guarded = { hasGuard: leaseMs > GUARDLESS_MS, isLeased: leaseMs >= LEASE_MS };
  const expected = { pool: poolOfPart(pool.name), tags: normalizeTags(pool.tags), ...guarded };
  return index?.ofTask(task, expected) ?? { daemon: undefined, rivals: [], strangers: [] };
}

function leasedAt(task: Task, leaseMs: number | undefined, now: EpochMs): number | undefined {
  if (leaseMs === undefined || leaseMs < LEASE_MS) return undefined;
  return now - Math.min(runsFor(task, now), Math.max(0, NEW_LEASE_MS - leaseMs));
}

/** When a task that has no lease any more, or that drains, got its lease at the latest. */
export function boundToLease(task: Task, now: EpochMs): number {
  return runsFor(task, now) < LEASE_LATE_MS ? now : (task.startedAt ?? now);
}

/** How long a task has been RUNNING, in milliseconds; 0 if that is not known. */
export function runsFor({ startedAt }: Task, now: EpochMs): number {
  return now - (startedAt ?? now);
}

/** ECS counts a task against the desired count until it has decided to stop it. */
export function isKeptRunning(task: Task): boolean {
  return task.desiredStatus === 'RUNNING' && task.lastStatus !== 'STOPPED';
}

/** Only a list with offline daemons proves that none came (docs/internals/coder.md §2). */
function registration(daemon: Daemon | undefined, isWhole: boolean): Registration {
  return daemon?.created_at ?? (isWhole ? 'never' : 'unknown');
}
