/**
 * The promised starts: when each pending job will start, or why that is unknown. Computed from a
 * snapshot and the decision about it. docs/waits.md describes the model and how often it is
 * right.
 */
import { failsAt } from '../demand/demand.ts';
import type { PoolDecision } from '../drain/decide-pool.ts';
import { isoTime, type PoolName, poolOfPart } from '../model/brands.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Doubt, Plan } from '../model/plan.ts';
import type { NoPromise, PendingJob, PromisedPlan, PromisedStart } from '../model/promise.ts';
import type { OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, displayTags, normalizeTags } from '../model/tags.ts';
import { wakeOverride } from '../settings/settings-in-force.ts';
import { isHeldBack } from '../supply/capacity.ts';
import { playQueue } from './play-queue.ts';
import { deriveQueue, type Queue, type QueuedJob, type Server } from './queue.ts';
import { quantileOf } from './start-phase.ts';

export type Decided = { readonly plan: Plan; readonly pools: readonly PoolDecision[] };

/** Later jobs of an organization get no row: their wait depends on what comes until then. */
const MOST_JOBS = 1_000;

/** Adds the promised starts to a plan. */
export function withPromises({ plan, pools }: Decided, snapshot: Snapshot): PromisedPlan {
  const queue = deriveQueue(pools, { snapshot, most: MOST_JOBS });
  const played = queue.jobs.length === 0 ? [] : playQueue(queue);
  const workspaceOf = memoized(workspacesIn);
  const pendingJobs = queue.jobs.map((queued, index): PendingJob => {
    const { job, organization, leftTo } = queued;
    const { servers = [], startsInMs = [] } = played[index] ?? {};
    const sorted = Float64Array.from(startsInMs).sort();
    const why = whyUnknown(queued, sorted, { pools, queue, snapshot });
    return {
      id: job.id,
      organization: organization.name,
      tags: displayTags(job.tags),
      type: job.type,
      workspace: workspaceOf(organization)(job.metadata?.workspace_id),
      createdAt: isoTime(job.created_at),
      failsAt: failsAt(job.created_at, snapshot),
      pool: why === 'unschedulable' || leftTo !== undefined ? null : poolOf(servers, queue),
      startsAt: why === null ? promisedStart(sorted, snapshot) : null,
      runningBuilds: why === null ? runningBuildsOf(servers, queue) : 0,
      why,
      ...(why === null && isPolled(servers, queue) && { isPolled: true }),
      ...(leftTo && { leftTo: { peer: leftTo.peer, until: isoTime(leftTo.until) } }),
    };
  });
  return { ...plan, pendingJobs, pendingJobsLeftOut: queue.leftOut };
}

/** In whole seconds, as coderd's time is. */
function promisedStart(sorted: Float64Array, { takenAt }: Snapshot): PromisedStart {
  const at = (chance: number) => isoTime(Math.round((takenAt + quantileOf(sorted, chance)) / 1000) * 1000);
  return { p5: at(0.05), p50: at(0.5), p95: at(0.95) };
}

type Context = {
  readonly pools: readonly PoolDecision[];
  readonly queue: Queue;
  readonly snapshot: Snapshot;
};

/** Why no start can be promised; null: one can. `sorted`: the starts, the earliest first. */
function whyUnknown(queued: QueuedJob, sorted: Float64Array, context: Context): NoPromise | null {
  if (queued.leftTo !== undefined) return 'left-to-peer';
  const { queue, snapshot } = context;
  const { organization } = queued;
  const tags = normalizeTags(queued.job.tags);
  const all = context.pools.filter(({ need: { view } }) => view.organization === organization);
  const pools = all.filter(({ need: { view } }) => covers(view.tags, tags));
  const servers = queue.servers.filter(({ fits }) => fits.includes(queued.class));
  const open = pools.filter(({ need }) => !need.view.pool.retiring);
  if (snapshot.coder.license === 'not_entitled' && open.length > 0) return 'license-missing';
  if (isInDoubt(organization, pools)) return 'readings-in-doubt';
  if (open.length === 0 && servers.length === 0) return 'unschedulable';
  if (open.some(({ need }) => isHeldBack(need.view))) return 'starts-failing';
  if (!Number.isFinite(quantileOf(sorted, 0.95))) return whyNever(queued, servers, open, queue);
  const fails = failsAt(queued.job.created_at, snapshot);
  const median = snapshot.takenAt + quantileOf(sorted, 0.5);
  return fails !== null && median > Date.parse(fails) ? 'fails-first' : null;
}

/** A person's own choice is no doubt about the readings. */
const HARMLESS: readonly Doubt[] = ['scale-in-paused', 'override-malformed'];
function isInDoubt({ jobs, daemons }: OrganizationReadings, pools: readonly PoolDecision[]): boolean {
  if (jobs.status !== 'ok' || daemons.status !== 'ok') return true;
  return pools.some(({ doubts }) => doubts.some((doubt) => !HARMLESS.includes(doubt)));
}

/** Why the job starts in too few scenarios. */
function whyNever(
  queued: QueuedJob,
  servers: readonly Server[],
  pools: readonly PoolDecision[],
  { jobs }: Queue,
): NoPromise {
  if (servers.some(({ ready }) => ready.kind === 'doubtful')) return 'daemon-may-have-left';
  const isLengthUnknown =
    servers.some(({ ready }) => ready.kind === 'busy' && ready.builds === undefined) ||
    (servers.length > 0 && jobs.some((other) => isBeside(other, queued) && other.builds === undefined));
  if (isLengthUnknown) return 'build-length-unknown';
  const isHeld = pools.some(({ need }) => wakeOverride(need.view.overrides) !== undefined);
  return isHeld ? 'pool-held' : 'no-room';
}

const isBeside = (other: QueuedJob, { organization, job }: QueuedJob): boolean =>
  other.organization === organization && other.job !== job;

/** The pool of the server that takes the job in most scenarios. */
function poolOf(servers: ArrayLike<number>, queue: Queue): PoolName | null {
  const counts = new Map<PoolName | null, number>();
  for (const index of Array.from(servers)) {
    const part = queue.servers[index]?.view?.pool.name;
    const pool = part === undefined ? null : poolOfPart(part);
    counts.set(pool, (counts.get(pool) ?? 0) + 1);
  }
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
  return most?.[0] ?? null;
}

/** How many of the servers that take the job run a build now. */
function runningBuildsOf(servers: ArrayLike<number>, queue: Queue): number {
  const taking = new Set(Array.from(servers));
  return [...taking].filter((index) => queue.servers[index]?.ready.kind === 'busy').length;
}

const isPolled = (servers: ArrayLike<number>, queue: Queue): boolean =>
  Array.from(servers).every((index) => queue.servers[index]?.ready.kind === 'polls');

function workspacesIn({
  workspaces,
}: OrganizationReadings): (id: string | null | undefined) => string | null {
  const names = new Map(
    (workspaces?.items ?? []).flatMap(({ id, owner_name: owner, name }) =>
      owner == null || name == null ? [] : [[id, `${owner}/${name}`] as const],
    ),
  );
  return (id) => (id == null ? null : (names.get(id) ?? null));
}
