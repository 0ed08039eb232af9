/**
 * The queue of one organization as data: the pending jobs in the order in which coderd hands them
 * out, and the servers: daemons, and tasks that will have one. Derived from a snapshot and the
 * decision about it, so it has the tasks that this look launches.
 */
import { pendingJobs } from '../demand/demand.ts';
import { type Left, leftToPeers } from '../demand/peers.ts';
import { jobsByWorker, PREBUILDS_USER } from '../demand/record.ts';
import type { PoolDecision } from '../drain/decide-pool.ts';
import { by, unique } from '../model/collections.ts';
import type { Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { isComing } from '../supply/capacity.ts';
import { HANDED_OVER_MS, mayHaveLeft } from '../supply/daemons.ts';
import { awsTimeOf, foreignTo, type PoolView } from '../supply/supply.ts';
import { mayTakeJobs, type TaskView } from '../supply/task-state.ts';
import { type BuildTimes, buildTimesIn } from './build-times.ts';
import { learnStartTimes, type StartTimes } from './start-times.ts';

export type QueuedJob = {
  readonly job: Job;
  /** Jobs with the same turn are taken in any order: coderd sorts by the time of their submission. */
  readonly turn: string;
  /** The index of its tag set. */
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
};

/** What has to happen before a server takes its first job. Ages are in milliseconds. */
export type Ready =
  | { readonly kind: 'free' }
  /** An idle daemon that may have left: it has missed its heartbeat, or has not taken a job. */
  | { readonly kind: 'doubtful' }
  | { readonly kind: 'busy'; readonly ageMs: number; readonly builds: BuildTimes | undefined }
  /** A desired task that ECS has not created yet. */
  | { readonly kind: 'to-create' }
  /** A task whose container does not run yet. */
  | { readonly kind: 'booting'; readonly ageMs: number }
  /** A task that runs and whose daemon is not registered. */
  | { readonly kind: 'registering'; readonly ageMs: number };

export type Queue = {
  readonly jobs: readonly QueuedJob[];
  /** Those that can run one of the jobs. */
  readonly servers: readonly Server[];
  /** The number of classes. */
  readonly classes: number;
  /** The number of jobs that are left out. */
  readonly leftOut: number;
};

/** Derives the queue of one organization. `most`: further jobs are left out. */
export function deriveQueue(
  organization: OrganizationReadings,
  decisions: readonly PoolDecision[],
  { snapshot, most }: { readonly snapshot: Snapshot; readonly most: number },
): Queue {
  const buildsOf = buildTimesIn(organization);
  const all = pendingJobs(organization).toSorted(IN_TURN);
  const pending = all.slice(0, most);
  const tagSets = unique(
    pending.map(({ tags }) => normalizeTags(tags)),
    tagKey,
  );
  const classes = new Map(tagSets.map((tags, index) => [tagKey(tags), index]));
  const input: Input = { organization, decisions, snapshot, buildsOf };
  const servers = [
    ...decisions
      .filter(({ need }) => need.view.organization === organization)
      .flatMap((decision) => serversOfPool(decision, input)),
    ...serversOfOthers(input),
  ].flatMap(({ tags, ...server }) => {
    const fits = tagSets.flatMap((wanted, index) => (covers(tags, wanted) ? [index] : []));
    const refuses = server.ready.kind === 'free' && pending.some((job) => isRefused(job, tags, snapshot));
    return fits.length === 0 ? [] : [{ ...server, fits, ...(refuses ? { ready: DOUBTFUL } : {}) }];
  });
  const leftOf = leftToPeers(
    decisions.map(({ need }) => need.view),
    snapshot.takenAt,
  );
  const jobs = pending.map((job) => ({
    job,
    turn: `${rankOf(job)} ${job.created_at}`,
    class: classes.get(tagKey(job.tags)) ?? 0,
    leftTo: leftOf(organization.id, job.tags, job.created_at),
    builds: buildsOf(job),
  }));
  return { jobs, servers, classes: tagSets.length, leftOut: all.length - pending.length };
}

const DOUBTFUL: Ready = { kind: 'doubtful' };

function isRefused(job: Job, tags: TagSet, { takenAt }: Snapshot): boolean {
  return takenAt - job.created_at > HANDED_OVER_MS && covers(tags, normalizeTags(job.tags));
}

/** People's jobs before prebuilds, then the oldest first (docs/internals/coder.md §4). */
const IN_TURN = by<Job>((job) => rankOf(job), 'created_at', 'id');

const rankOf = ({ initiator_id }: Job): number => (initiator_id === PREBUILDS_USER ? 1 : 0);

type Input = {
  readonly organization: OrganizationReadings;
  readonly decisions: readonly PoolDecision[];
  readonly snapshot: Snapshot;
  readonly buildsOf: ReturnType<typeof buildTimesIn>;
};

/** A server before its tags are compared with those of the jobs. */
type Tagged = Omit<Server, 'fits'> & { readonly tags: TagSet };

function serversOfPool({ need, actions, to }: PoolDecision, input: Input): readonly Tagged[] {
  const { view } = need;
  const leaving = new Set(actions.flatMap((action) => (action.kind === 'ask-to-leave' ? action.task : [])));
  const now = awsTimeOf(input.snapshot);
  const starts = learnStartTimes(view, input.snapshot);
  const running = jobsByWorker(input.organization.jobs);
  const raised = Math.max(0, to - (view.service?.desiredCount ?? 0));
  const toCreate: Tagged = { view, tags: view.tags, starts, ready: { kind: 'to-create' } };
  return [
    ...view.tasks
      .filter(({ task }) => !leaving.has(task.taskArn))
      .flatMap((task) => {
        const ready = readyOf(task, now) ?? busyOf(task, running, input);
        return ready === undefined ? [] : [{ view, tags: task.offers, starts, ready }];
      }),
    ...Array<Tagged>(need.capacity.missing + raised).fill(toCreate),
  ];
}

function readyOf(task: TaskView, now: number): Ready | undefined {
  const { createdAt = now, startedAt } = task.task;
  if (isComing(task))
    return startedAt === undefined
      ? { kind: 'booting', ageMs: now - createdAt }
      : { kind: 'registering', ageMs: now - startedAt };
  return mayTakeJobs(task) && task.use === 'idle' ? { kind: 'free' } : undefined;
}

function busyOf(task: TaskView, running: ReadonlyMap<string, Job>, input: Input): Ready | undefined {
  if (!mayTakeJobs(task) || task.use !== 'busy') return undefined;
  return busyWith(running.get(task.daemon?.id ?? ''), input);
}

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
    ready:
      index?.activity(daemon) === 'idle'
        ? mayHaveLeft(daemon, snapshot.takenAt)
          ? DOUBTFUL
          : ({ kind: 'free' } as const)
        : busyWith(running.get(daemon.id), input),
  }));
}
