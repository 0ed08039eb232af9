/**
 * The promised starts: about when each pending job will start, or why that is unknown. In the order in
 * which coderd hands the jobs out, each takes the server that is free first (docs/waits.md). Servers are
 * daemons, and tasks that will have one: those that this look launches too, not those that leave.
 */
import { failsAt, pendingJobs } from '../demand/demand.ts';
import type { LeftOf } from '../demand/peers.ts';
import { durationsIn, jobsByWorker, PREBUILDS_USER } from '../demand/record.ts';
import type { PoolDecision } from '../drain/decide-pool.ts';
import { isoTime, type PoolName, poolOfPart } from '../model/brands.ts';
import { by, countUpTo, percentile, sum } from '../model/collections.ts';
import type { Doubt, IsoTime, Plan } from '../model/plan.ts';
import type { NoPromise, PendingJob, PromisedPlan } from '../model/promise.ts';
import type { Daemon, Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, displayTags, normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { wakeOverride } from '../settings/settings-in-force.ts';
import { isComing, isHeldBack } from '../supply/capacity.ts';
import { handOverIn, mayHaveLeft, POLL_MS } from '../supply/daemons.ts';
import { seenStarts } from '../supply/starts.ts';
import { awsTimeOf, type PoolView } from '../supply/supply.ts';
import { mayTakeJobs } from '../supply/task-state.ts';
import type { ForeignIn } from '../supply/unlisted-daemons.ts';

export type Decided = Omit<Input, 'organization' | 'snapshot'> & {
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

type Input = {
  readonly organization: OrganizationReadings;
  readonly pools: readonly PoolDecision[];
  readonly foreignIn: ForeignIn;
  readonly snapshot: Snapshot;
};

/** People's jobs before prebuilds, then the oldest first (docs/internals/coder.md §4). */
const IN_TURN = by<Job>(({ initiator_id }) => (initiator_id === PREBUILDS_USER ? 1 : 0), 'created_at', 'id');

function rowsOf(input: Input, leftOf: LeftOf): readonly PendingJob[] {
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

/** In milliseconds from the look. */
type Span = { readonly p50: number; readonly p95: number };
const UNKNOWN: Span = { p50: Infinity, p95: Infinity };

/** `gone`: listed as idle, and may have left. `late`: it takes longer to start than expected. */
type State = { readonly kind: 'idle' | 'gone' | 'busy' | 'later' | 'late'; readonly free: Span };
const GONE: State = { kind: 'gone', free: UNKNOWN };
/** `pool`: null for a daemon that the autoscaler does not own. The state changes as it takes jobs. */
type Server = { readonly pool: PoolName | null; readonly tags: TagSet; state: State };

/** Makes a function that gives each job, in turn, the server that is free first. */
function takerIn(input: Input) {
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
    if (ageMs > handedOverMs) for (const one of able) if (one.state.kind === 'idle') one.state = GONE;
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
function whyUnknown(job: Job, able: readonly Server[], first: State, input: Input): NoPromise | null {
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

function serversIn(input: Input): readonly Server[] {
  const { organization, pools, foreignIn } = input;
  const own = pools.filter(({ need }) => need.view.organization === organization);
  return [
    ...own.flatMap((decision) => serversOfPool(decision, input)),
    ...foreignIn(organization).map((each) => ({
      pool: null,
      tags: normalizeTags(each.tags),
      state: stateOf(each, input),
    })),
  ];
}

function serversOfPool({ need, to }: PoolDecision, input: Input): readonly Server[] {
  const { view, capacity } = need;
  const pool = poolOfPart(view.pool.name);
  const starts = isHeldBack(view) ? [] : startsOf(view, input.snapshot);
  const launches = capacity.missing + Math.max(0, to - (view.service?.desiredCount ?? 0));
  return [
    ...view.tasks.flatMap((task): readonly Server[] => {
      const { daemon, use, offers: tags } = task;
      const ageMs = awsTimeOf(input.snapshot) - (task.task.createdAt ?? 0);
      if (isComing(task)) return [{ pool, tags, state: startingFor(ageMs, starts) }];
      const takesJobs = mayTakeJobs(task) && (use === 'idle' || use === 'busy');
      return takesJobs && daemon !== undefined ? [{ pool, tags, state: stateOf(daemon, input) }] : [];
    }),
    ...Array.from({ length: launches }, () => ({ pool, tags: view.tags, state: startingFor(0, starts) })),
  ];
}

function stateOf(daemon: Daemon, { organization, pools, snapshot: { takenAt, stock } }: Input): State {
  const index = pools.find(({ need }) => need.view.organization === organization)?.need.view.index;
  if (index?.activity(daemon) === 'idle')
    return mayHaveLeft(daemon, takenAt) ? GONE : { kind: 'idle', free: { p50: 0, p95: 0 } };
  const job = jobsByWorker(organization.jobs).get(daemon.id);
  const durations = job === undefined ? [] : durationsIn(organization, stock)(job);
  return { kind: 'busy', free: restOf(durations, takenAt - (job?.started_at ?? takenAt)) };
}

/** A late task promises nothing, but keeps its place: no job counts on a later server instead of it. */
function startingFor(ageMs: number, starts: readonly number[]): State {
  const free = restOf(starts, ageMs);
  return free === UNKNOWN ? { kind: 'late', free: restOf(starts, 0) } : { kind: 'later', free };
}

/** The rest of a build or start of this age. Unknown if it is older than 19 of 20 such times. */
function restOf(times: readonly number[], ageMs: number): Span {
  if (Math.max(0, ageMs) >= percentile(times, 0.95)) return UNKNOWN;
  const longer = times.slice(countUpTo(times, ageMs));
  return { p50: percentile(longer, 0.5) - ageMs, p95: percentile(longer, 0.95) - ageMs };
}

/** How long starts of a pool take, the shortest first: those seen, else the last one, else the setting. */
function startsOf(
  { pool, organization, starts: seenOnes }: PoolView,
  { stock }: Snapshot,
): readonly number[] {
  const last = stock?.choices.find(
    ({ organizationId: id, pools }) => id === organization?.id && pools.includes(poolOfPart(pool.name)),
  );
  const seen = seenStarts(seenOnes);
  // people state a time that most starts keep; twice the usual is no surprise, however few were seen
  const starts = seen.length > 0 ? seen : [last?.startMs ?? 0.6 * pool.startTimeMs];
  return [...starts, 2 * percentile(starts, 0.5)].sort((a, b) => a - b);
}
