/**
 * The queues of all organizations as data: the pending jobs in the order in which coderd hands them
 * out, and the servers: daemons, and tasks that will have one. Derived from a snapshot and the
 * decision about it, so it has the tasks that this look launches. Pools share the limits: if a job
 * waits for room, the tasks that can make room are servers too.
 */
import { pendingJobs } from '../demand/demand.ts';
import { type Left, leftToPeers } from '../demand/peers.ts';
import { jobsByWorker, PREBUILDS_USER } from '../demand/record.ts';
import type { PoolDecision } from '../drain/decide-pool.ts';
import { leastTasks } from '../forecast/floors.ts';
import type { TaskArn } from '../model/brands.ts';
import { by, sum, unique } from '../model/collections.ts';
import type { Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { isComing, isHeldBack } from '../supply/capacity.ts';
import { type HandOver, handOverIn, mayHaveLeft, POLL_MS } from '../supply/daemons.ts';
import { awsTimeOf, foreignTo, type PoolView } from '../supply/supply.ts';
import { isLeaving, mayTakeJobs, type TaskView } from '../supply/task-state.ts';
import { type BuildTimes, buildTimesIn } from './build-times.ts';
import { learnStartTimes, type StartTimes } from './start-times.ts';

export type QueuedJob = {
  readonly job: Job;
  readonly organization: OrganizationReadings;
  /** Jobs with the same turn are taken in any order: coderd sorts by the time of their submission. */
  readonly turn: string;
  /** The index of its organization and tag set. */
  readonly class: number;
  /** The peer whose daemon runs it, so that none of these servers does. */
  readonly leftTo: Left | undefined;
  /** Undefined: no similar build is known. */
  readonly builds: BuildTimes | undefined;
};

export type Server = {
  /** Undefined: a daemon that the autoscaler does not own. */
  readonly view: PoolView | undefined;
  /** The classes of jobs that it can run. */
  readonly fits: readonly number[];
  /** Undefined: a daemon that the autoscaler does not own. */
  readonly starts: StartTimes | undefined;
  readonly ready: Ready;
  /** Whether it leaves after its build, and takes no job. */
  readonly leaves: boolean;
  /** So long after its last job it has made room, in milliseconds. Undefined: it makes none. */
  readonly roomAfterMs: readonly [least: number, most: number] | undefined;
};

/** What has to happen before a server takes its first job. Ages are in milliseconds. */
export type Ready =
  | { readonly kind: 'free' }
  /** An idle daemon that may have left: it has missed its heartbeat, or has not taken a job. */
  | { readonly kind: 'doubtful' }
  /** An idle daemon that coderd may not have woken for a job: it looks for one within this time. */
  | { readonly kind: 'polls'; readonly withinMs: number }
  | { readonly kind: 'busy'; readonly ageMs: number; readonly builds: BuildTimes | undefined }
  /** A task that is launched once another task has made room. */
  | { readonly kind: 'held' }
  /** A desired task that ECS has not created yet. */
  | { readonly kind: 'to-create' }
  /** A task whose container does not run yet. */
  | { readonly kind: 'booting'; readonly ageMs: number }
  /** A task that runs and whose daemon is not registered. */
  | { readonly kind: 'registering'; readonly ageMs: number };

export type Queue = {
  /** By organization. */
  readonly jobs: readonly QueuedJob[];
  /** Those that can run one of the jobs, or make room for it. */
  readonly servers: readonly Server[];
  /** The number of classes. */
  readonly classes: number;
  /** How many more tasks of a pool may leave to make room: its floors keep the others. */
  readonly mayMakeRoom: ReadonlyMap<PoolView, number>;
  /** The number of jobs that are left out. */
  readonly leftOut: number;
};

/** Derives the queues. `most`: further jobs of an organization are left out. */
export function deriveQueue(
  decisions: readonly PoolDecision[],
  { snapshot, most }: { readonly snapshot: Snapshot; readonly most: number },
): Queue {
  const leftOf = leftToPeers(
    decisions.map(({ need }) => need.view),
    snapshot.takenAt,
  );
  const isAnyHeld = decisions.some((decision) => heldLaunches(decision) > 0);
  const queues: OneQueue[] = [];
  let classes = 0;
  for (const organization of snapshot.coder.organizations) {
    const buildsOf = buildTimesIn(organization);
    const input = { organization, decisions, snapshot, buildsOf, leftOf, isAnyHeld, most };
    const queue = deriveOne(input, classes);
    queues.push(queue);
    classes += queue.classes;
  }
  return {
    jobs: queues.flatMap(({ jobs }) => jobs),
    servers: queues.flatMap(({ servers }) => servers),
    classes,
    mayMakeRoom: new Map(
      decisions.map((decision) => {
        const { view, capacity, poolForecast } = decision.need;
        return [view, capacity.total - askedIn(decision).size - leastTasks(poolForecast.floors)];
      }),
    ),
    leftOut: sum(queues, ({ leftOut }) => leftOut),
  };
}

/** The part of one organization. */
type OneQueue = Omit<Queue, 'mayMakeRoom'>;

function deriveOne(input: Input, firstClass: number): OneQueue {
  const { organization, decisions, snapshot, buildsOf, leftOf, isAnyHeld, most } = input;
  const all = pendingJobs(organization).toSorted(IN_TURN);
  const pending = all.slice(0, most);
  const tagSets = unique(
    pending.map(({ tags }) => normalizeTags(tags)),
    tagKey,
  );
  const classes = new Map(tagSets.map((tags, index) => [tagKey(tags), firstClass + index]));
  const handOver = handOverIn(organization, snapshot.takenAt);
  const oldest = Map.groupBy(pending, ({ tags }) => tagKey(tags));
  const waiting = tagSets.map((tags) => ({
    ...handOver(tags),
    ageMs: snapshot.takenAt - Math.min(...(oldest.get(tagKey(tags)) ?? []).map((job) => job.created_at)),
  }));
  const servers = [
    ...decisions
      .filter(({ need }) => need.view.organization === organization)
      .flatMap((decision) => serversOfPool(decision, input)),
    ...serversOfOthers(input),
  ].flatMap(({ tags, ...server }) => {
    const fits = server.leaves
      ? []
      : tagSets.flatMap((wanted, index) => (covers(tags, wanted) ? [firstClass + index] : []));
    if (fits.length === 0 && !(isAnyHeld && server.roomAfterMs)) return [];
    const beside = waiting.filter((_, index) => fits.includes(firstClass + index));
    const ready = server.ready.kind === 'free' ? readyBeside(beside) : server.ready;
    return [{ ...server, fits, ready }];
  });
  const jobs = pending.map((job) => ({
    job,
    organization,
    turn: `${rankOf(job)} ${job.created_at}`,
    class: classes.get(tagKey(job.tags)) ?? 0,
    leftTo: leftOf(organization.id, job.tags, job.created_at),
    builds: buildsOf(job),
  }));
  return { jobs, servers, classes: tagSets.length, leftOut: all.length - pending.length };
}

/** Launches for jobs that a limit over all pools holds back. */
function heldLaunches({ need: { view, jobs, tasks, held } }: PoolDecision): number {
  if (held.by === undefined || isHeldBack(view)) return 0;
  return Math.max(0, Math.min(jobs['when-there-is-room'], view.pool.max - tasks.granted));
}

const FREE: Ready = { kind: 'free' };
const DOUBTFUL: Ready = { kind: 'doubtful' };

/** `waiting`: the oldest job of each class that the free daemon fits and does not have. */
function readyBeside(waiting: readonly (HandOver & { readonly ageMs: number })[]): Ready {
  if (waiting.some(({ ageMs, handedOverMs }) => ageMs > handedOverMs)) return DOUBTFUL;
  const ages = waiting.filter(({ mayBePolled }) => mayBePolled).map(({ ageMs }) => Math.max(0, ageMs));
  if (ages.length === 0) return FREE;
  return { kind: 'polls', withinMs: Math.max(0, POLL_MS - Math.max(...ages)) };
}

/** People's jobs before prebuilds, then the oldest first (docs/internals/coder.md §4). */
const IN_TURN = by<Job>((job) => rankOf(job), 'created_at', 'id');

const rankOf = ({ initiator_id }: Job): number => (initiator_id === PREBUILDS_USER ? 1 : 0);

type Input = {
  readonly organization: OrganizationReadings;
  readonly decisions: readonly PoolDecision[];
  readonly snapshot: Snapshot;
  readonly buildsOf: ReturnType<typeof buildTimesIn>;
  readonly leftOf: ReturnType<typeof leftToPeers>;
  /** Whether a limit holds a launch back, so that tasks can make room. */
  readonly isAnyHeld: boolean;
  readonly most: number;
};

/** A server before its tags are compared with those of the jobs. */
type Tagged = Omit<Server, 'fits'> & { readonly tags: TagSet };

/**
 * Until a task has made room. An idle daemon leaves within seconds, and coderd lists it for up to
 * 90 s; the count follows once all that leave are gone, and the next look launches. A daemon that
 * has not been asked may have to wait for that.
 */
const ROOM_AFTER_MS = {
  left: [5_000, 60_000],
  unguarded: [5_000, 100_000],
  asked: [85_000, 130_000],
  later: [90_000, 240_000],
} as const;

function serversOfPool(decision: PoolDecision, input: Input): readonly Tagged[] {
  const { need, to } = decision;
  const { view } = need;
  const asked = askedIn(decision);
  const now = awsTimeOf(input.snapshot);
  const starts = learnStartTimes(view, input.snapshot);
  const running = jobsByWorker(input.organization.jobs);
  const raised = Math.max(0, to - (view.service?.desiredCount ?? 0));
  const toLaunch = (kind: 'to-create' | 'held'): Tagged => ({
    ...{ view, tags: view.tags, starts, ready: { kind } },
    ...{ leaves: false, roomAfterMs: undefined },
  });
  return [
    ...view.tasks.flatMap((task): readonly Tagged[] => {
      const of = { view, tags: task.offers, starts };
      const { state } = task;
      if (asked.has(task.task.taskArn) || isLeaving(task) || state === 'left') {
        const ready = task.use === 'busy' ? busyWith(jobOf(task, running), input) : FREE;
        const phase = state === 'left' || state === 'unguarded' ? state : 'asked';
        return [{ ...of, ready, leaves: true, roomAfterMs: ROOM_AFTER_MS[phase] }];
      }
      const ready = readyOf(task, now) ?? busyOf(task, running, input);
      return ready === undefined ? [] : [{ ...of, ready, leaves: false, roomAfterMs: ROOM_AFTER_MS.later }];
    }),
    ...Array<Tagged>(need.capacity.missing + raised).fill(toLaunch('to-create')),
    ...Array<Tagged>(heldLaunches(decision)).fill(toLaunch('held')),
  ];
}

/** The tasks that this look asks to leave. */
const askedIn = ({ actions }: PoolDecision): ReadonlySet<TaskArn> =>
  new Set(actions.flatMap((action) => (action.kind === 'ask-to-leave' ? action.task : [])));

function readyOf(task: TaskView, now: number): Ready | undefined {
  const { createdAt = now, startedAt } = task.task;
  if (isComing(task))
    return startedAt === undefined
      ? { kind: 'booting', ageMs: now - createdAt }
      : { kind: 'registering', ageMs: now - startedAt };
  return mayTakeJobs(task) && task.use === 'idle' ? FREE : undefined;
}

function busyOf(task: TaskView, running: ReadonlyMap<string, Job>, input: Input): Ready | undefined {
  if (!mayTakeJobs(task) || task.use !== 'busy') return undefined;
  return busyWith(jobOf(task, running), input);
}

const jobOf = ({ daemon }: TaskView, running: ReadonlyMap<string, Job>): Job | undefined =>
  running.get(daemon?.id ?? '');

function busyWith(job: Job | undefined, { snapshot, buildsOf }: Input): Ready {
  const ageMs = Math.max(0, snapshot.takenAt - (job?.started_at ?? snapshot.takenAt));
  return { kind: 'busy', ageMs, builds: job && buildsOf(job) };
}

function serversOfOthers(input: Input): readonly Tagged[] {
  const { organization, decisions, snapshot } = input;
  const views = decisions.map(({ need }) => need.view);
  const running = jobsByWorker(organization.jobs);
  const index = views.find((view) => view.organization === organization)?.index;
  const foreignIn = foreignTo(views, snapshot.takenAt);
  return foreignIn(organization).map((daemon) => ({
    view: undefined,
    tags: normalizeTags(daemon.tags),
    starts: undefined,
    ...{ leaves: false, roomAfterMs: undefined },
    ready:
      index?.activity(daemon) === 'idle'
        ? mayHaveLeft(daemon, snapshot.takenAt)
          ? DOUBTFUL
          : FREE
        : busyWith(running.get(daemon.id), input),
  }));
}
