/**
 * The state of one task in an exploration: what ECS, its guard, its daemon and coderd hold of it,
 * in small values.
 *
 * Time is counted in units of six hours. Rounding never makes anything safer than it is: a lease of
 * 48 h lasts 8 units, a drain request of 23 h lasts 3. A guard that cannot look drains after one
 * unit. A job of a draining daemon lasts at most 2 units (docs/internals/architecture.md, "The
 * lease": builds shorter than 17 h). 3 = 1 + 2 stands for 23 = 6 + 17.
 */
import type { GuardInput, GuardPhase } from '../../../world/task/guard-table.ts';

/** The process `coder provisioner start`, terminated with a job (`finishing`) or without (`exiting`). */
type DaemonState = 'none' | 'starting' | 'idle' | 'busy' | 'finishing' | 'exiting';

export type ModelTask = {
  /** `chosen`: ECS has decided to stop it, and cannot undo that. The task has not been told yet. */
  readonly ecs: 'pending' | 'running' | 'chosen';
  readonly revision: 'old' | 'new';
  /** 0: unprotected; otherwise the units left, plus one. */
  readonly protection: number;
  readonly guard: GuardPhase;
  /** Of a working guard: 0 it has looked in this unit, 1 not yet, 2 not for more than one unit, 3 it never looks again. */
  readonly blind: 0 | 1 | 2 | 3;
  /** Of a working guard: whether its last renewal was refused. */
  readonly isRefused: boolean;
  /** A PUT that was sent but has not taken effect: 48 h, 23 h or disabled. */
  readonly write: 'none' | 'lease' | 'hold' | 'release';
  /** The agent's answer to a look, which the guard has not received yet. */
  readonly look: GuardInput | 'none';
  readonly daemon: DaemonState;
  /** Units that a job may still take after its daemon drains. */
  readonly unitsOfJob: number;
  /** Its row in coderd. `young`: none, RUNNING for less than 15 min. `none`: later, or key deleted. */
  readonly row: 'young' | 'none' | 'live' | 'offline';
};

const UNITS = { lease: 8, ask: 3, askedBelow: 4, lowBelow: 2, drainedJob: 2 } as const;

export const UNPROTECTED = 0;
export const LEASE = UNITS.lease + 1;
export const ASK = UNITS.ask + 1;
/** What a PUT leaves of a lease. */
export const PUTS = { lease: LEASE, hold: ASK, release: UNPROTECTED } as const;
/** Less than this is a drain request. */
export const ASKED_BELOW = UNITS.askedBelow + 1;
/** With less than this the guard renews the 23 h. */
export const LOW_BELOW = UNITS.lowBelow + 1;
export const UNITS_OF_DRAINED_JOB = UNITS.drainedJob;

export const NEW_TASK: ModelTask = {
  ecs: 'pending',
  revision: 'new',
  protection: UNPROTECTED,
  guard: 'leasing',
  blind: 0,
  isRefused: false,
  write: 'none',
  look: 'none',
  daemon: 'none',
  unitsOfJob: 0,
  row: 'young',
};

export function holdsJob({ daemon }: ModelTask): boolean {
  return daemon === 'busy' || daemon === 'finishing';
}

/** Whether stopping the task may kill a job: its daemon holds one, or may get one before it is told. */
export function isAtRisk(task: ModelTask): boolean {
  if (task.daemon === 'idle' || holdsJob(task)) return true;
  // coderd refuses a daemon that could not register for 15 minutes, so it gets no job.
  return task.daemon === 'starting' && task.row !== 'none';
}

/** Resets values that no longer matter, so that equivalent states are the same state. */
export function forget(task: ModelTask): ModelTask {
  const isWorking = task.guard === 'working';
  return {
    ...task,
    blind: isWorking ? task.blind : 0,
    isRefused: isWorking && task.isRefused,
    unitsOfJob: task.daemon === 'finishing' ? task.unitsOfJob : 0,
  };
}

export function keyOf(task: ModelTask | undefined): string {
  if (task === undefined) return '';
  const { ecs, revision, protection, guard, blind, isRefused, write, look, daemon, unitsOfJob, row } = task;
  return [ecs, revision, protection, guard, blind, isRefused, write, look, daemon, unitsOfJob, row].join(' ');
}

export function describeTask(task: ModelTask | undefined): string {
  if (task === undefined) return '-';
  const { ecs, revision, guard, write, daemon, row } = task;
  if (ecs === 'pending') return `${revision} pending${task.protection > 0 ? ' protected' : ''}`;
  const parts = [
    ...(ecs === 'chosen' ? ['CHOSEN'] : []),
    revision,
    guard,
    protectionText(task),
    ...(daemon === 'none' ? [] : [`daemon ${daemon}`]),
    ...(write === 'none' ? [] : [`PUT ${write} in flight`]),
    ...(task.look === 'none' ? [] : [`answer ${task.look} in flight`]),
    ...(row === 'young' ? [] : [`row ${row}`]),
    ...(task.blind === 0 ? [] : [`blind ${task.blind}`]),
  ];
  return parts.join(', ');
}

function protectionText({ protection }: ModelTask): string {
  return protection === UNPROTECTED ? 'UNPROTECTED' : `protected for ${protection - 1} units`;
}
