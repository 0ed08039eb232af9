/**
 * The servers of an organization's jobs, and when each is free: daemons, and tasks that will have one. Those
 * that this look launches count too, those that leave do not.
 */
import { durationsIn } from '../demand/record.ts';
import { type PoolName, poolOfPart } from '../model/brands.ts';
import { countUpTo, percentile } from '../model/collections.ts';
import type { Daemon, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { awsTimeOf } from '../model/snapshot.ts';
import { normalizeTags, type TagSet } from '../model/tags.ts';
import { isComing, isHeldBack } from '../supply/capacity.ts';
import { deriveEcsWait } from '../supply/hidden/ecs-wait.ts';
import { jobsByWorker, mayHaveLeft } from '../supply/rows/daemons.ts';
import type { ForeignIn } from '../supply/rows/unlisted-daemons.ts';
import { seenStarts } from '../supply/starts.ts';
import type { PoolView } from '../supply/supply.ts';
import { mayTakeJobs } from '../supply/task-state.ts';
import type { PoolDecision } from './decide-pool.ts';

/** In milliseconds from the look. */
export type Span = { readonly p50: number; readonly p95: number };
export const UNKNOWN: Span = { p50: Infinity, p95: Infinity };

/** `gone`: listed as idle, and may have left. `late`: it takes longer to start than expected, or starts fail. */
export type ServerState = { readonly kind: 'idle' | 'gone' | 'busy' | 'later' | 'late'; readonly free: Span };
export const GONE: ServerState = { kind: 'gone', free: UNKNOWN };

/** `pool`: null for a daemon that the autoscaler does not own. The state changes as it takes jobs. */
export type Server = { readonly pool: PoolName | null; readonly tags: TagSet; state: ServerState };

export type ServersInput = {
  readonly organization: OrganizationReadings;
  readonly pools: readonly PoolDecision[];
  readonly foreignIn: ForeignIn;
  readonly snapshot: Snapshot;
};

/** Derives the servers of one organization. */
export function serversIn(input: ServersInput): readonly Server[] {
  const { organization, pools, foreignIn } = input;
  const own = pools.filter(({ need }) => need.view.organization === organization);
  const given = { ...input, index: own[0]?.need.view.index };
  return [
    ...own.flatMap((decision) => serversOfPool(decision, given)),
    ...foreignIn(organization).map((each) => ({
      pool: null,
      tags: normalizeTags(each.tags),
      state: stateOf(each, given),
    })),
  ];
}

type Given = ServersInput & Pick<PoolView, 'index'>;

function serversOfPool({ need, to }: PoolDecision, input: Given): readonly Server[] {
  const { view, capacity } = need;
  const pool = poolOfPart(view.pool.name);
  const starts = isHeldBack(view) ? [] : startsOf(view, input.snapshot);
  // one start may fail by chance
  const isUnsure = view.failing.count > 1 || deriveEcsWait(view, input.snapshot) !== undefined;
  const launches = capacity.missing + Math.max(0, to - (view.service?.desiredCount ?? 0));
  return [
    ...view.tasks.flatMap((task): readonly Server[] => {
      const { daemon, use, offers: tags } = task;
      const ageMs = awsTimeOf(input.snapshot) - (task.task.createdAt ?? 0);
      if (isComing(task)) return [{ pool, tags, state: startingFor(ageMs, starts, isUnsure) }];
      const takesJobs = mayTakeJobs(task) && (use === 'idle' || use === 'busy');
      return takesJobs && daemon !== undefined ? [{ pool, tags, state: stateOf(daemon, input) }] : [];
    }),
    ...Array.from({ length: launches }, () => ({
      pool,
      tags: view.tags,
      state: startingFor(0, starts, isUnsure),
    })),
  ];
}

function stateOf(daemon: Daemon, { organization, index, snapshot: { takenAt, stock } }: Given): ServerState {
  if (index?.activity(daemon) === 'idle')
    return mayHaveLeft(daemon, takenAt) ? GONE : { kind: 'idle', free: { p50: 0, p95: 0 } };
  const job = jobsByWorker(organization.jobs).get(daemon.id);
  const durations = job === undefined ? [] : durationsIn(organization, stock)(job);
  return { kind: 'busy', free: restOf(durations, takenAt - (job?.started_at ?? takenAt)) };
}

/** A late task promises nothing, but keeps its place: no job counts on a later server instead of it. */
function startingFor(ageMs: number, starts: readonly number[], isUnsure: boolean): ServerState {
  const free = restOf(starts, ageMs);
  return free === UNKNOWN || isUnsure ? { kind: 'late', free: restOf(starts, 0) } : { kind: 'later', free };
}

/** The rest of a build or start of this age. Unknown if it is older than 19 of 20 such times. */
export function restOf(times: readonly number[], ageMs: number): Span {
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
