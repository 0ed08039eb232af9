/** The record of recent jobs: when unforeseen builds came, and how long builds take. */
import type { EpochMs } from '../model/brands.ts';
import { indexBy } from '../model/collections.ts';
import { memoized, memoizedWith } from '../model/memoize-by-object.ts';
import type {
  Daemon,
  Job,
  LearnedStock,
  OrganizationReadings,
  Reading,
  Snapshot,
  Template,
  Workspace,
} from '../model/snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { jobsByWorker } from '../supply/rows/daemons.ts';
import type { PoolView } from '../supply/supply.ts';
import type { TaskView } from '../supply/task-state.ts';
import { chanceToEnd, MIN_SAMPLES } from './ending.ts';
import { AUTOMATIC, type Transition, transitionsOf } from './transitions.ts';

/** The owner of prebuilt workspaces. Its jobs come last (docs/internals/coder.md §4). */
export const PREBUILDS_USER = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

/** The unforeseen builds of one tag set. */
type Arrivals = {
  readonly tags: TagSet;
  /** When the latest one came; undefined: all builds of this tag set were foreseen. */
  readonly lastAt: EpochMs | undefined;
};

export type JobRecord = {
  /** Keyed by tag key. */
  readonly arrivals: ReadonlyMap<string, Arrivals>;
  /** The durations of similar jobs in milliseconds, the shortest first. Empty: unknown. */
  readonly durationsOf: (job: Pick<Job, 'type' | 'tags' | 'metadata'>) => readonly number[];
};

/** Derives the record of an organization from the lists of this process. */
export function deriveRecord(organization: OrganizationReadings): JobRecord {
  const { recentJobs, workspaces, templates } = organization;
  return recentJobs === undefined ? NO_RECORD : recordOf(recentJobs.items, { workspaces, templates });
}

/** As `durationsOf`. A process that has just started asks what earlier ones have learned of the tag set. */
export function durationsIn(
  organization: OrganizationReadings,
  stock: LearnedStock | undefined,
): JobRecord['durationsOf'] {
  const { durationsOf } = deriveRecord(organization);
  return (job) => {
    const seen = durationsOf(job);
    if (seen.length > 0 || stock === undefined) return seen;
    const learned = learnedDurations(stock).get(`${organization.id} ${tagKey(job.tags)}`) ?? [];
    return learned.length < MIN_SAMPLES ? [] : learned;
  };
}

const learnedDurations = memoized(
  ({ tagSets }: LearnedStock) =>
    new Map(
      tagSets.map(({ organizationId, tags, durationsMs = [] }) => [
        `${organizationId} ${tagKey(tags)}`,
        durationsMs,
      ]),
    ),
);

/** Cached by the list: most looks have the same jobs. */
const recordOf = memoizedWith(
  (items: readonly Job[], lists: Lists): JobRecord => ({
    arrivals: arrivalsOf(items, lists),
    durationsOf: (job) => durationsAmong(items)(job),
  }),
);

/** The lists that tell which jobs coderd made by itself. */
type Lists = {
  readonly [Key in 'workspaces' | 'templates']?: OrganizationReadings[Key] | undefined;
};

const NO_RECORD: JobRecord = { arrivals: new Map(), durationsOf: () => [] };

/** The kind of transition if coderd made the job by itself, else undefined. */
export const foreseenIn = memoized((organization: Lists) => {
  const workspaces = organization.workspaces && workspacesById(organization.workspaces);
  const templates = organization.templates && templatesById(organization.templates);
  return (job: Job): Transition['kind'] | undefined => {
    const id = job.metadata?.workspace_id;
    if (id == null || job.initiator_id === PREBUILDS_USER) return undefined;
    if (job.reason != null) return AUTOMATIC.get(job.reason);
    const workspace = workspaces?.get(id);
    if (workspace === undefined) return undefined;
    const { latest_build: build } = workspace;
    // the list of workspaces was read after this build was made
    if (build.job.id === job.id) return AUTOMATIC.get(build.reason ?? '');
    const template = templates?.get(workspace.template_id);
    const due = transitionsOf(workspace, template, { readAt: organization.workspaces?.takenAt });
    return due.find(({ at }) => at <= job.created_at)?.kind;
  };
});

const workspacesById = memoized(({ items }: Reading<Workspace>) => indexBy(items, ({ id }) => id));
const templatesById = memoized(({ items }: Reading<Template>) => indexBy(items, ({ id }) => id));

/** Not those that coderd makes by itself, nor prebuilds, which can wait. */
export function unforeseenIn(organization: Lists): (job: Job) => boolean {
  const kindOf = foreseenIn(organization);
  return (job) => job.initiator_id !== PREBUILDS_USER && kindOf(job) === undefined;
}

/** Whether a daemon's last job was an unforeseen build. Undefined: it had none, or the job is unknown. */
export function servedUnforeseen(
  organization: OrganizationReadings,
): (daemon: Daemon | undefined) => boolean | undefined {
  const isUnforeseen = unforeseenIn(organization);
  const jobs = jobsById(organization.previousJobs);
  return (daemon) => {
    const job = jobs.get(daemon?.previous_job?.id);
    return job && isUnforeseen(job);
  };
}

const jobsById = memoized(
  ({ items }: Reading<Job>) => new Map<string | undefined, Job>(items.map((job) => [job.id, job])),
);

function arrivalsOf(items: readonly Job[], lists: Lists): ReadonlyMap<string, Arrivals> {
  const isUnforeseen = unforeseenIn(lists);
  return new Map(
    [...Map.groupBy(items, ({ tags }) => tagKey(tags))].map(([key, alike]) => [
      key,
      {
        tags: normalizeTags(alike[0]?.tags ?? {}),
        lastAt: alike.reduce<EpochMs | undefined>(
          (last, job) =>
            (last === undefined || job.created_at > last) && isUnforeseen(job) ? job.created_at : last,
          undefined,
        ),
      },
    ]),
  );
}

const durationsAmong = memoized((jobs: readonly Job[]) => {
  const byLike = new Map<string, Map<string, number[]>>();
  for (const job of jobs) {
    const tookMs = tookMsOf(job);
    for (const { like, kind } of tookMs === 0 ? [] : kindsOf(job)) {
      const byKind = byLike.get(like) ?? new Map<string, number[]>();
      byLike.set(like, byKind);
      const known = byKind.get(kind);
      if (known === undefined) byKind.set(kind, [tookMs]);
      else known.push(tookMs);
    }
  }
  for (const byKind of byLike.values())
    for (const durations of byKind.values()) durations.sort((a, b) => a - b);
  return (job: JobFeatures): readonly number[] => {
    const found = kindsOf(job).map(({ like, kind }) => byLike.get(like)?.get(kind) ?? []);
    return found.find(({ length }) => length >= MIN_SAMPLES) ?? [];
  };
});

/**
 * How long a job ran, in milliseconds; 0 unless it succeeded and its times are known. coderd and the daemon
 * wrote them by two clocks, so the difference may be negative.
 */
function tookMsOf({ started_at, completed_at, status }: Job): number {
  if (status !== 'succeeded' || started_at == null || completed_at == null) return 0;
  return Math.max(0, completed_at - started_at);
}

type JobFeatures = Pick<Job, 'type' | 'tags' | 'metadata'>;

/** By template before tags, and with transition before without. */
const kindsOf = memoized(({ type, tags, metadata }: JobFeatures) => {
  const { template_id: template, workspace_build_transition: transition } = metadata ?? {};
  const kinds = transition == null ? [type] : [`${type} ${transition}`, type];
  return [template ?? [], tagKey(tags)].flat().flatMap((like) => kinds.map((kind) => ({ like, kind })));
});

export type RunningBuild<T = TaskView> = {
  readonly task: T;
  readonly job: Job;
  /** 0 if no similar build is known. */
  readonly chanceToEnd: (withinMs: number) => number;
};

/** What a snapshot knows of the time and of earlier builds. */
type Known = Pick<Snapshot, 'takenAt' | 'stock'>;

/** The builds of the tasks that stay. The end of a build on a task that drains frees no daemon. */
export function endsOf({ tasks, organization }: PoolView, at: Known): readonly RunningBuild[] {
  if (organization === undefined) return [];
  return buildsOn(
    tasks.filter(({ state, use }) => state === 'working' && use === 'busy'),
    organization,
    at,
  );
}

/** The builds of these tasks' daemons. */
export function buildsOn<T extends Pick<TaskView, 'daemon'>>(
  tasks: readonly T[],
  organization: OrganizationReadings,
  { takenAt: now, stock }: Known,
): readonly RunningBuild<T>[] {
  const jobs = jobsByWorker(organization.jobs);
  const durationsOf = durationsIn(organization, stock);
  return tasks.flatMap((task) => {
    const job = task.daemon && jobs.get(task.daemon.id);
    if (job === undefined) return [];
    const ageMs = Math.max(0, now - (job.started_at ?? now));
    const durations = durationsOf(job);
    return [{ task, job, chanceToEnd: (withinMs: number) => chanceToEnd(durations, { ageMs, withinMs }) }];
  });
}
