/**
 * The wait of one started job: which task and pool served it, and its parts. A job belongs to a
 * pool if the daemon that took it runs in one of the pool's tasks, or has the name of one.
 */
import {
  type DaemonId,
  type EpochMs,
  type JobId,
  type PoolName,
  poolOfPart,
} from '../../decision/model/brands.ts';
import type { PromisedStart } from '../../decision/model/promise.ts';
import { POOL_TAG, poolOfService, tagOf } from '../../decision/model/service-tags.ts';
import type { Daemon, Job, OrganizationReadings, Snapshot, Task } from '../../decision/model/snapshot.ts';
import { indexDaemons, isAlive, poolNamed, taskId } from '../../decision/supply/rows/daemons.ts';
import { type ServingTask, splitWait, type WaitParts } from './wait-parts.ts';

export type JobWait = {
  readonly id: JobId;
  /** Name. */
  readonly organization: string;
  readonly pool: PoolName;
  /** The task id; null: ECS no longer lists the task. */
  readonly task: string | null;
  /** `workspace_build`, `template_version_import`, … */
  readonly type: string;
  readonly createdAt: EpochMs;
  readonly startedAt: EpochMs;
  /** Milliseconds: the sum of `parts`. */
  readonly waitMs: number;
  readonly parts: WaitParts;
  /** What the first look that saw the job promised. Undefined: unknown. */
  readonly promised?: PromisedStart | undefined;
};

/** A started job of an organization, with what the process remembers of it. */
export type StartedJob = {
  readonly job: Job & { readonly started_at: EpochMs };
  readonly organization: Pick<OrganizationReadings, 'name'>;
  /** What the process remembers of the job and the task that served it. @default nothing */
  readonly remembered?: (task: Task) => Pick<ServingTask, 'noticedAt' | 'requestedAt'>;
};

/** The pools of the tasks of a snapshot. */
export type PoolsOfTasks = {
  readonly poolOf: (task: Task) => string | undefined;
  /** Its part, if the pool has parts. */
  readonly partOf: (task: Task) => string | undefined;
  readonly pools: ReadonlySet<string | undefined>;
};

/** The daemons of a snapshot, their tasks, and the pools of these. */
export type ServingTasks = PoolsOfTasks & {
  /** The daemon that took a job; undefined if coderd no longer lists it, or does not tell which. */
  readonly daemonOf: (job: Pick<Job, 'worker_id'>) => Daemon | undefined;
  readonly ofDaemon: ReadonlyMap<DaemonId, Task>;
  /** Whether a daemon can run in one of the pools' tasks although `ofDaemon` has none for it. */
  readonly mayBeUnlisted: (daemon: Daemon) => boolean;
};

export function poolsOfTasks({ services }: Snapshot['ecs']): PoolsOfTasks {
  const parts = new Map(
    services.items.map((service) => [`service:${service.serviceName}`, tagOf(service, POOL_TAG)]),
  );
  const partOf = ({ group }: Task): string | undefined => parts.get(group ?? '');
  const poolOf = (task: Task): string | undefined => {
    const part = partOf(task);
    return part === undefined ? undefined : poolOfPart(part);
  };
  return { partOf, poolOf, pools: new Set(services.items.map(poolOfService)) };
}

export function indexServing({ ecs, coder, takenAt }: Snapshot): ServingTasks {
  const pools = poolsOfTasks(ecs);
  const daemons = new Map<string, Daemon>();
  const ofDaemon = new Map<DaemonId, Task>();
  for (const organization of coder.organizations) {
    for (const daemon of organization.daemons.items)
      if (!daemons.has(daemon.id)) daemons.set(daemon.id, daemon);
    const { ofTask } = indexDaemons(organization, takenAt);
    for (const task of ecs.tasks.items) {
      const { daemon } = ofTask(task, { pool: pools.poolOf(task), hasGuard: false });
      if (daemon !== undefined) ofDaemon.set(daemon.id, task);
    }
  }
  return {
    ...pools,
    daemonOf: ({ worker_id }) => daemons.get(worker_id ?? ''),
    ofDaemon,
    // ECS lists every task that runs, so a daemon that is alive is one of another deployment
    mayBeUnlisted: (daemon) => ecs.tasks.status !== 'ok' || !isAlive(daemon, takenAt),
  };
}

/** The wait of a started job; undefined if no pool served it, as far as is known. */
export function deriveJobWait(started: StartedJob, tasks: ServingTasks): JobWait | undefined {
  const { job, organization } = started;
  const daemon = tasks.daemonOf(job);
  const task = daemon && tasks.ofDaemon.get(daemon.id);
  const named = daemon && tasks.mayBeUnlisted(daemon) ? poolNamed(daemon) : undefined;
  const pool = (task && tasks.poolOf(task)) ?? named;
  if (pool === undefined || !tasks.pools.has(pool)) return undefined;
  const served: ServingTask = {
    task,
    daemon,
    ...(task && started.remembered?.(task)),
  };
  const createdAt = job.created_at;
  const startedAt = job.started_at;
  return {
    id: job.id,
    organization: organization.name,
    pool: pool as PoolName,
    task: task === undefined ? null : taskId(task),
    type: job.type,
    createdAt,
    startedAt,
    waitMs: Math.max(0, startedAt - createdAt),
    parts: splitWait({ createdAt, startedAt }, served),
  };
}
