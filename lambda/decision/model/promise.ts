/**
 * The promised starts: when each pending job will start. Only a plan that a person reads has them.
 * A scheduled look computes none.
 */
import type { JobId, PoolName } from './brands.ts';
import type { IsoTime, Plan } from './plan.ts';
import type { Tags } from './tags.ts';

/** Estimates in whole seconds: half of the jobs start by p50, most by p95. */
export type PromisedStart = { readonly p50: IsoTime; readonly p95: IsoTime };

/** Why no start is promised for a job. */
export type NoPromise =
  /** No pool and no daemon can run it. */
  | 'unschedulable'
  /** Another stack launches for it (demand/peers.ts). */
  | 'left-to-peer'
  /** A person has paused or pinned the pools that can run it. */
  | 'pool-held'
  /** A list that the promise needs is incomplete or contradicts another one. */
  | 'readings-in-doubt'
  /** coderd has no license for external daemons: it accepts no new one. */
  | 'license-missing'
  /** Tasks of its pool do not start or take longer than expected, or ECS cannot place them. */
  | 'starts-failing'
  /**
   * The free daemon that can run it has missed its heartbeat, or has left a job waiting: coderd
   * lists a daemon that has left as idle for up to 90 s.
   */
  | 'daemon-may-have-left'
  /** It waits for builds, and too few like them have ended, or none that took as long. */
  | 'build-length-unknown'
  /** Nothing that can run it starts or becomes free: the limits leave no room. */
  | 'no-room'
  /** coderd will probably fail it before a daemon is free. */
  | 'fails-first';

export type PendingJob = {
  readonly id: JobId;
  /** Name. */
  readonly organization: string;
  readonly tags: Tags;
  /** `workspace_build`, `template_version_import`, … */
  readonly type: string;
  /** `owner/workspace`; null if the job is of no workspace, or coderd has not listed it yet. */
  readonly workspace: string | null;
  readonly createdAt: IsoTime;
  /** When coderd fails the job unless a daemon has taken it. Null: this coderd lets jobs wait. */
  readonly failsAt: IsoTime | null;
  /**
   * The pool whose daemon will most likely run it. Null: a daemon that the autoscaler does not own,
   * or unknown.
   */
  readonly pool: PoolName | null;
  readonly startsAt: PromisedStart | null;
  /** How many running builds the promise depends on: the job may get the daemon of one of them. */
  readonly runningBuilds: number;
  /** Null if there is a promise. */
  readonly why: NoPromise | null;
  /** It waits for the poll of an idle daemon that coderd has not woken (docs/internals/coder.md §4). */
  readonly isPolled?: boolean;
  /** The stack that the job is left to, and until when. Absent: to none. */
  readonly leftTo?: { readonly peer: string; readonly until: IsoTime };
};

export type Promises = {
  /** By organization, in the order in which coderd hands them out. */
  readonly pendingJobs: readonly PendingJob[];
  /** How many pending jobs have no row: those at the end of a long queue. */
  readonly pendingJobsLeftOut: number;
};

export type PromisedPlan = Plan & Promises;
