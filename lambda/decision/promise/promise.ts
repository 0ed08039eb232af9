/**
 * The promised starts: about when each pending job will start, or why that is unknown. In the order in
 * which coderd hands the jobs out, each takes the server that is free first (docs/waits.md).
 */
import { failsAt, pendingJobs } from '../demand/demand.ts';
import type { LeftOf } from '../demand/peers.ts';
import { durationsIn, PREBUILDS_USER } from '../demand/record.ts';
import {
  GONE,
  restOf,
  type Server,
  type ServerState,
  type ServersInput,
  type Span,
  serversIn,
  UNKNOWN,
} from '../drain/servers.ts';
import { isoTime } from '../model/brands.ts';
import { by, sum } from '../model/collections.ts';
import type { Doubt, IsoTime, Plan } from '../model/plan.ts';
import type { NoPromise, PendingJob, PromisedPlan } from '../model/promise.ts';
import type { Job, Snapshot } from '../model/snapshot.ts';
import { covers, displayTags, normalizeTags, tagKey } from '../model/tags.ts';
import { wakeOverride } from '../settings/settings-in-force.ts';
import { isHeldBack } from '../supply/capacity.ts';
import { handOverIn, POLL_MS } from '../supply/rows/daemons.ts';
import type { PoolView } from '../supply/supply.ts';

export type Decided = Omit<ServersInput, 'organization' | 'snapshot'> & {
  readonly plan: Plan;
  readonly leftOf: LeftOf;
};

/** Later jobs of an organization get no row: their wait depends on what comes until then. */
const MOST_JOBS = 1_000;

/** Adds the promised starts to a plan. */
export function withPromises({ plan, leftOf, pools, foreignIn }: Decided, snapshot: Snapshot): PromisedPlan {
  const { organizations } = snapshot.coder;
  return {
    ...plan,
    pendingJobs: organizations.flatMap((organization) =>
      rowsOf({ organization, pools, foreignIn, snapshot }, leftOf),
    ),
    pendingJobsLeftOut: sum(organizations, (each) => Math.max(0, pendingJobs(each).length - MOST_JOBS)),
  };
}

/** People's jobs before prebuilds, then the oldest first (docs/internals/coder.md §4). */
const IN_TURN = by<Job>(({ initiator_id }) => (initiator_id === PREBUILDS_USER ? 1 : 0), 'created_at', 'id');

function rowsOf(input: ServersInput, leftOf: LeftOf): readonly PendingJob[] {
  const { organization, snapshot } = input;
  const workspaces = new Map(organization.workspaces?.items.map((each) => [each.id, each]));
  const take = takerIn(input);
  const jobs = pendingJobs(organization).toSorted(IN_TURN).slice(0, MOST_JOBS);
  return jobs.map((job): PendingJob => {
    const { owner_name: owner, name } = workspaces.get(job.metadata?.workspace_id ?? '') ?? {};
    const left = leftOf(organization.id, job.tags, job.created_at);
    return {
      ...{ id: job.id, organization: organization.name, tags: displayTags(job.tags), type: job.type },
      workspace: owner == null || name == null ? null : `${owner}/${name}`,
      createdAt: isoTime(job.created_at),
      failsAt: failsAt(job.created_at, snapshot),
      ...{ pool: null, startsAt: null, runningBuilds: 0, why: 'left-to-peer' },
      ...(left ? { leftTo: { peer: left.peer, until: isoTime(left.until) } } : take(job)),
    };
  });
}

/** Makes a function that gives each job, in turn, the server that is free first. */
function takerIn(input: ServersInput) {
  const { organization, snapshot } = input;
  const servers = serversIn(input);
  const handOver = handOverIn(organization, snapshot.takenAt);
  const durationsOf = durationsIn(organization, snapshot.stock);
  const known = new Map<string, readonly Server[]>();
  const wholeSecond = (ms: number): IsoTime => isoTime(Math.round((snapshot.takenAt + ms) / 1000) * 1000);
  return (job: Job): Pick<PendingJob, 'pool' | 'startsAt' | 'runningBuilds' | 'why' | 'isPolled'> => {
    const tags = normalizeTags(job.tags);
    const able = known.get(tagKey(tags)) ?? servers.filter((server) => covers(server.tags, tags));
    known.set(tagKey(tags), able);
    const ageMs = Math.max(0, snapshot.takenAt - job.created_at);
    const { mayBePolled, handedOverMs } = handOver(tags);
    // coderd lists a daemon that has left as idle for up to 90 s, but it leaves jobs waiting
    const leaving = ageMs > handedOverMs ? able.filter(({ state }) => state.kind === 'idle') : [];
    for (const one of leaving) one.state = GONE;
    const none: Server = { pool: null, tags, state: { kind: 'later', free: UNKNOWN } };
    const first = able.reduce((a, b) => (b.state.free.p50 < a.state.free.p50 ? b : a), none);
    const { kind, free } = first.state;
    const isPolled = kind === 'idle' && mayBePolled;
    const pollMs = Math.max(0, POLL_MS - ageMs);
    const span = isPolled ? { p50: pollMs / 2, p95: pollMs } : free;
    const why = whyUnknown(job, able, first.state, input);
    const runningBuilds = kind === 'busy' ? able.filter(({ state }) => state.kind === 'busy').length : 0;
    const next = after(span, restOf(durationsOf(job), 0));
    first.state = { kind: kind === 'busy' || kind === 'late' ? kind : 'later', free: next };
    if (why !== null) return { pool: first.pool, startsAt: null, runningBuilds: 0, why };
    const startsAt = { p50: wholeSecond(span.p50), p95: wholeSecond(span.p95) };
    return { pool: first.pool, startsAt, runningBuilds, why, ...(isPolled && { isPolled }) };
  };
}

/** Unlike the medians, what is beyond them does not add up: one is long, the next is short. */
function after(free: Span, build: Span): Span {
  const p50 = free.p50 + build.p50;
  return { p50, p95: p50 + Math.hypot(free.p95 - free.p50, build.p95 - build.p50) };
}

/** A person's own choice is no doubt about the readings. */
const HARMLESS: readonly Doubt[] = ['scale-in-paused', 'override-malformed'];

/** Why no start can be promised; null: one can. `able`: the servers that can run it. */
function whyUnknown(
  job: Job,
  able: readonly Server[],
  first: ServerState,
  input: ServersInput,
): NoPromise | null {
  const { organization, pools, snapshot } = input;
  const fits = ({ tags }: PoolView): boolean => covers(tags, normalizeTags(job.tags));
  const own = pools.filter(({ need: { view } }) => view.organization === organization && fits(view));
  const open = own.filter(({ need }) => !need.view.pool.retiring);
  const isRead = organization.jobs.status === 'ok' && organization.daemons.status === 'ok';
  const isInDoubt = own.some(({ doubts }) => doubts.some((doubt) => !HARMLESS.includes(doubt)));
  if (snapshot.coder.license === 'not_entitled' && open.length > 0) return 'license-missing';
  if (!isRead || isInDoubt) return 'readings-in-doubt';
  if (open.length === 0 && able.length === 0) return 'unschedulable';
  if (first.kind === 'late') return 'starts-failing';
  const failsInMs = Date.parse(failsAt(job.created_at, snapshot) ?? '') - snapshot.takenAt;
  if (first.free.p50 < Infinity) return first.free.p50 > failsInMs ? 'fails-first' : null;
  if (able.some(({ state }) => state.kind === 'gone')) return 'daemon-may-have-left';
  const isHeld = open.some(({ need }) => isHeldBack(need.view));
  if (isHeld || able.some(({ state }) => state.kind === 'late')) return 'starts-failing';
  if (able.length > 0) return 'build-length-unknown';
  return open.some(({ need }) => wakeOverride(need.view.overrides)) ? 'pool-held' : 'no-room';
}
