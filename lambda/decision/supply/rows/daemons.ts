/** The daemons of one organization: their tasks, whether they are busy, and since when idle. */
import { type DaemonId, type EpochMs, lastPart } from '../../model/brands.ts';
import { by, indexBy, partition, unique } from '../../model/collections.ts';
import { memoized } from '../../model/memoize-by-object.ts';
import type { Daemon, Job, OrganizationReadings, Reading, Task } from '../../model/snapshot.ts';
import { areEqual, hasAll, normalizeTags, type TagSet, tagKey } from '../../model/tags.ts';
import { MINUTE_MS } from '../../model/units.ts';

/** coderd then calls a daemon offline (docs/internals/coder.md §2, StaleInterval). */
export const STALE_AFTER_MS = 90_000;
/** How often coderd writes when it saw a daemon (docs/internals/coder.md §2). */
export const HEARTBEAT_MS = MINUTE_MS;
/** Until then one late heartbeat explains why a daemon looks offline (heartbeats.ts). */
export const LATE_UNTIL_MS = STALE_AFTER_MS + HEARTBEAT_MS;

/** `busy`: it may hold a job. `idle`: no reading says so. `offline`: not seen for 90 s. */
type Activity = 'busy' | 'idle' | 'offline';

/** What the daemon of a task looks like. */
type Expected = {
  /** The name of the task's pool. */
  readonly pool: string | undefined;
  /** The tags of the pool. Undefined: not known, so any tags fit. */
  readonly tags?: TagSet;
  /** Whether it surely has a guard. Then its daemon's name is `<pool>-<task id>`. */
  readonly hasGuard: boolean;
  /** Whether it has a lease, so that its daemon is no other than the guard's. @default false */
  readonly isLeased?: boolean;
};

/** Rows with the id or address of a task in their names. Any key holder can choose a name. */
export type Claims = {
  /** The daemon of the task: of several, the most certain to hold a job. */
  readonly daemon: Daemon | undefined;
  /** Other rows that may be its daemon as well. Nothing tells which one is. */
  readonly rivals: readonly Daemon[];
  /** Live daemons that claim the task with a name or with tags that its daemon does not have. */
  readonly strangers: readonly Daemon[];
};

export type DaemonIndex = {
  /** Finds the daemon of a task by the pool and the task id in its name, or by the private IP. */
  readonly ofTask: (task: Task, expected: Expected) => Claims;
  readonly activity: (daemon: Daemon) => Activity;
  /** Whether one late heartbeat explains why it looks offline. */
  readonly isLate: (daemon: Daemon) => boolean;
  /** Since when an idle daemon has been idle; undefined if unknown. */
  readonly idleSince: (daemon: Daemon, task: Task) => EpochMs | undefined;
  /** The daemons whose names contain this pool's name. */
  readonly namedAfter: (pool: string) => readonly Daemon[];
};

/** Indexes the daemons of an organization at the time `now`. */
export function indexDaemons(view: OrganizationReadings, now: EpochMs): DaemonIndex {
  const workers = jobsByWorker(view.jobs);
  const previous = indexBy(view.previousJobs.items, ({ id }) => id);
  const isWhole = view.jobs.status === 'ok' && view.daemons.status === 'ok';
  const activity = (daemon: Daemon): Activity => {
    if (workers.has(daemon.id) || daemon.current_job != null) return 'busy';
    if (!isAlive(daemon, now)) return 'offline';
    return HOLDS_NO_JOB.has(daemon.status ?? '') ? 'idle' : 'busy';
  };
  // the guard of a task with a lease keeps its daemon connected, so beside a live row a dead one without
  // a job is of somebody who has left
  const isConnected = (daemon: Daemon): boolean => activity(daemon) !== 'offline';
  const rows = view.daemons.items;
  const byEnding = Map.groupBy(rows, (daemon) => namePartsOf(daemon).ending);
  const byHost = Map.groupBy(
    rows.filter(({ name }) => name.startsWith(HOST)),
    ({ name }) => name,
  );
  const byPool = Map.groupBy(rows, poolNamed);
  return {
    namedAfter: (pool) => byPool.get(pool) ?? [],
    activity,
    isLate: ({ last_seen_at }) => now - (last_seen_at ?? 0) <= LATE_UNTIL_MS,
    ofTask: (task, expected) => {
      const claiming = { byId: byEnding.get(taskId(task)) ?? [], byAddress: daemonsByAddress(task, byHost) };
      const { daemon, rivals, strangers } = judgeClaims(claiming, expected, activity);
      const isLive = isWhole && expected.isLeased === true && daemon !== undefined && isAlive(daemon, now);
      return { daemon, rivals: isLive ? rivals.filter(isConnected) : rivals, strangers };
    },
    idleSince: (daemon, task) =>
      idleSince(daemon, task, { previous, isWhole: view.previousJobs.status === 'ok' }),
  };
}

type Claiming = { readonly byId: readonly Daemon[]; readonly byAddress: readonly Daemon[] };

/**
 * Tells the rows that may be the daemon of a task from those that claim it wrongly. Of two with its
 * name, the one with the pool's tags is: such rows differ in the owner of their tags. Without a
 * guard the daemon may have the name of its host instead, and any tags, because the pool's secret
 * may hold a wrong key. So the busy one counts.
 */
function judgeClaims(
  { byId, byAddress }: Claiming,
  { pool, tags, hasGuard }: Expected,
  activity: (daemon: Daemon) => Activity,
): Claims {
  const fits = (row: Daemon): boolean => tags === undefined || areEqual(normalizeTags(row.tags), tags);
  const [named, misnamed] = partition(byId, (row) => poolNamed(row) === pool);
  const hosts = hasGuard && named.length > 0 ? [] : byAddress;
  const likely = named.some(fits) ? named.filter(fits) : named;
  const [daemon, ...rivals] = [...likely, ...hosts].toSorted(
    by(
      (row) => -JOB_CERTAINTY[activity(row)],
      (row) => (fits(row) ? 0 : 1),
      'id',
    ),
  );
  const wrong = [...misnamed, ...[...named, ...hosts].filter((row) => row !== daemon && !fits(row))];
  return { daemon, rivals, strangers: wrong.filter((row) => activity(row) !== 'offline') };
}

/**
 * The statuses of a daemon without a job. A daemon that is alive at `now` can have `offline`:
 * coderd computes it a moment after `now`, which may be a Date header in whole seconds, and it only
 * says when the daemon was seen.
 */
const HOLDS_NO_JOB: ReadonlySet<string> = new Set(['idle', 'offline']);

const JOB_CERTAINTY: Readonly<Record<Activity, number>> = { offline: 0, idle: 1, busy: 2 };

/** Seen in the last 90 s. The daemon's own `status` may be as old as the list. */
export function isAlive({ last_seen_at }: Daemon, now: EpochMs): boolean {
  return last_seen_at != null && now - last_seen_at <= STALE_AFTER_MS;
}

/** Whether a daemon's connection has most likely ended, although coderd does not list it as offline yet. */
export function mayHaveLeft({ last_seen_at }: Daemon, now: EpochMs): boolean {
  return now - (last_seen_at ?? 0) > HEARTBEAT_MS;
}

/** How often waiting daemons look for a job that they were not woken for (docs/internals/coder.md §4). */
export const POLL_MS = 30_000;

/**
 * coderd gives a pending job to a daemon that it wakes within a second. A job that has waited longer
 * shows that an idle daemon which fits has ended, or does not take such jobs. coderd shows the end
 * of a daemon only after 90 s (docs/internals/coder.md §2).
 */
const HANDED_OVER_MS = 15_000;

export type HandOver = {
  /** How long a job waits at most beside an idle daemon that takes it. */
  readonly handedOverMs: number;
  /** Whether coderd may have woken other daemons for it, so that it waits for the poll of one that fits. */
  readonly mayBePolled: boolean;
};

/** coderd wakes the daemons of one tag set that contains the job's, and may choose one that cannot run it. */
export function handOverIn({ daemons }: OrganizationReadings, now: EpochMs): (job: TagSet) => HandOver {
  const alive = daemons.items.filter((daemon) => isAlive(daemon, now));
  const tagSets = unique(
    alive.map(({ tags }) => normalizeTags(tags)),
    tagKey,
  );
  return (job) => {
    const mayBePolled = tagSets.filter((tags) => hasAll(tags, job)).length > 1;
    return { mayBePolled, handedOverMs: HANDED_OVER_MS + (mayBePolled ? POLL_MS : 0) };
  };
}

/** The pool in a daemon's name, `<pool>-<task id>`; undefined for any other name. */
export function poolNamed(daemon: Daemon): string | undefined {
  return namePartsOf(daemon).pool;
}

const namePartsOf = memoized(({ name }: Daemon) => nameInParts(name));

/** `<pool>-<task id>`, of 32 hexadecimal digits. `pool` is undefined for any other name. */
export function nameInParts(name: string): { readonly pool: string | undefined; readonly ending: string } {
  const end = name.lastIndexOf('-');
  const ending = name.slice(end + 1);
  return { ending, pool: end > 0 && TASK_ID.test(ending) ? name.slice(0, end) : undefined };
}

const TASK_ID = /^[0-9a-f]{32}$/;

/** The task id: the last part of a task's ARN. */
export const taskId: (task: Task) => string = memoized(({ taskArn }) => lastPart(taskArn));

type Container = Task['containers'][number];

/** The container of the daemon. Others, such as GuardDuty's, say nothing about it (docs/internals/aws.md §2). */
export function provisionerOf({ containers }: Task): Container | undefined {
  return containers.find(({ name }) => name === 'provisioner') ?? containers[0];
}

const HOST = 'ip-';

/**
 * Finds daemons by their host's name, `ip-10-0-1-2`, which they have unless they were started with a
 * name (docs/internals/coder.md §5). AWS reuses addresses, so a row that was last seen before this
 * task started belongs to an earlier task.
 */
function daemonsByAddress(task: Task, byHost: ReadonlyMap<string, readonly Daemon[]>): readonly Daemon[] {
  if (byHost.size === 0) return [];
  const address = task.containers
    .flatMap((container) => container.networkInterfaces ?? [])
    .find((network) => network.privateIpv4Address !== undefined)?.privateIpv4Address;
  if (address === undefined) return [];
  const startedAt = task.startedAt ?? Number.POSITIVE_INFINITY;
  return (byHost.get(`${HOST}${address.replaceAll('.', '-')}`) ?? []).filter(
    ({ last_seen_at }) => (last_seen_at ?? 0) >= startedAt,
  );
}

/** The unfinished jobs by the daemon that has taken them. */
export const jobsByWorker = memoized(({ items }: Reading<Job>): ReadonlyMap<DaemonId, Job> => {
  const jobs = new Map<DaemonId, Job>();
  for (const job of items) {
    const worker = workerOf(job);
    if (worker !== undefined) jobs.set(worker, job);
  }
  return jobs;
});

/** The daemon that a job keeps busy: the job is acquired and not completed, whatever its status. */
export function workerOf({ worker_id, completed_at }: Job): DaemonId | undefined {
  return completed_at == null ? (worker_id ?? undefined) : undefined;
}

type PreviousJobs = { readonly previous: ReadonlyMap<string, Job>; readonly isWhole: boolean };

/** If its workspace was deleted, coderd no longer has the job, which ended long ago. */
function idleSince(daemon: Daemon, task: Task, { previous, isWhole }: PreviousJobs): EpochMs | undefined {
  const registered = Math.max(daemon.created_at, task.startedAt ?? daemon.created_at);
  if (daemon.previous_job == null) return registered as EpochMs;
  const job = previous.get(daemon.previous_job.id);
  if (job === undefined && isWhole) return registered as EpochMs;
  const completedAt = job?.completed_at;
  return completedAt == null ? undefined : (Math.max(registered, completedAt) as EpochMs);
}
