/**
 * The record: when unforeseen builds came, and how long builds take, from the list of recent jobs.
 * The list is a lower bound, so a missing job proves nothing.
 */

import { AUTOMATIC, type Transition, transitionsOf } from '../forecast/transitions.ts';
import type { EpochMs } from '../model/brands.ts';
import { countUpTo, percentile } from '../model/collections.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type {
  Job,
  OrganizationReadings,
  Reading,
  RecentJobs,
  Template,
  Workspace,
} from '../model/snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from '../model/tags.ts';

/**
 * The user for whom coderd makes prebuilt workspaces. Daemons acquire its jobs last (docs/coder.md
 * §4).
 */
export const PREBUILDS_USER = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

/** The unforeseen builds of one tag set. */
export type Arrivals = {
  readonly tags: TagSet;
  /** When the builds came, the newest first. */
  readonly times: readonly EpochMs[];
  /**
   * The time of the oldest job that is kept, if the list has only the newest jobs of this tag set.
   */
  readonly cutOffAt: EpochMs | undefined;
  /** The list has all builds that came since this time. */
  readonly since: EpochMs | undefined;
};

export type JobRecord = {
  /** Keyed by tag key. */
  readonly arrivals: ReadonlyMap<string, Arrivals>;
  /** Joins the builds of several tag keys. The same keys give the same object. */
  readonly together: (keys: readonly string[]) => Omit<Arrivals, 'tags'>;
  /** The durations of similar jobs in milliseconds, the shortest first. Empty: unknown. */
  readonly durationsOf: (job: Pick<Job, 'type' | 'tags' | 'metadata'>) => readonly number[];
  /** Whether the process has recorded for too short a time to know the rate. */
  readonly isYoung: (now: EpochMs) => boolean;
};

/** The time constant of the arrival rate: most of its weight is on builds younger than this. */
export const RECENT_MS = 45 * 60_000;
/** With fewer durations the duration of similar jobs is unknown. */
const MIN_SAMPLES = 5;

/**
 * Looks come every few seconds and most of them have the same jobs, so the record is cached by the
 * list.
 */
const known = new WeakMap<readonly Job[], { readonly from: Sources; readonly record: JobRecord }>();

/** The inputs of a record beside the jobs. */
type Sources = Pick<RecentJobs, 'since' | 'limit'> & {
  readonly [Key in 'workspaces' | 'templates']: OrganizationReadings[Key] | undefined;
};

/** Derives the record of an organization. */
export function deriveRecord(organization: OrganizationReadings): JobRecord {
  const { recentJobs, workspaces, templates } = organization;
  if (recentJobs === undefined) return NO_RECORD;
  const { items, since, limit } = recentJobs;
  const from: Sources = { since, limit, workspaces, templates };
  const before = known.get(items);
  if (before !== undefined && areSame(before.from, from)) return before.record;
  const record = newRecord(organization, recentJobs);
  known.set(items, { from, record });
  return record;
}

function areSame(a: Sources, b: Sources): boolean {
  return (
    a.since === b.since && a.limit === b.limit && a.workspaces === b.workspaces && a.templates === b.templates
  );
}

function newRecord(organization: OrganizationReadings, { items, since, limit }: RecentJobs): JobRecord {
  const arrivals = arrivalsOf(organization, { items, limit, since });
  const known = new Map<string, Omit<Arrivals, 'tags'>>();
  return {
    arrivals,
    together: (keys) => {
      const name = keys.join(' ');
      const joined = known.get(name) ?? join(keys.flatMap((key) => arrivals.get(key) ?? []));
      known.set(name, joined);
      return joined;
    },
    durationsOf: durationsIn(items),
    isYoung: (now) => since !== undefined && now - since < RECENT_MS,
  };
}

const NO_RECORD: JobRecord = {
  arrivals: new Map(),
  together: () => ({ times: [], cutOffAt: undefined, since: undefined }),
  durationsOf: () => [],
  isYoung: () => false,
};

/**
 * Makes a function that classifies a job: the kind of transition if coderd made the job by itself,
 * else undefined.
 */
export const foreseenIn = memoized((organization: OrganizationReadings) => {
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

const workspacesById = memoized(
  ({ items }: Reading<Workspace>) => new Map(items.map((workspace) => [workspace.id, workspace])),
);
const templatesById = memoized(
  ({ items }: Reading<Template>) => new Map(items.map((template) => [template.id, template])),
);

/**
 * Makes a predicate for unforeseen builds. Jobs that coderd makes by itself are foreseen, and
 * prebuilds can wait.
 */
export function unforeseenIn(organization: OrganizationReadings): (job: Job) => boolean {
  const kindOf = foreseenIn(organization);
  return (job) => job.initiator_id !== PREBUILDS_USER && kindOf(job) === undefined;
}

function arrivalsOf(
  organization: OrganizationReadings,
  { items, limit, since }: Pick<RecentJobs, 'items' | 'limit' | 'since'>,
): ReadonlyMap<string, Arrivals> {
  const isUnforeseen = unforeseenIn(organization);
  return new Map(
    [...Map.groupBy(items, ({ tags }) => tagKey(tags))].map(([key, alike]) => {
      const times = alike.filter(isUnforeseen).map(({ created_at }) => created_at);
      const isCutOff = limit !== undefined && limit > 0 && alike.length >= limit;
      return [
        key,
        {
          tags: normalizeTags(alike[0]?.tags ?? {}),
          times: times.sort((a, b) => b - a),
          cutOffAt: isCutOff ? earliestOf(alike) : undefined,
          since,
        },
      ];
    }),
  );
}

/** Does not rely on the order of the list. */
function earliestOf(jobs: readonly Job[]): EpochMs | undefined {
  return jobs.reduce<EpochMs | undefined>(
    (least, { created_at }) => (least === undefined || created_at < least ? created_at : least),
    undefined,
  );
}

function join(arrivals: readonly Arrivals[]): Omit<Arrivals, 'tags'> {
  const cutOffs = arrivals.flatMap(({ cutOffAt }) => cutOffAt ?? []);
  return {
    times: arrivals.flatMap(({ times }) => times).sort((a, b) => b - a),
    cutOffAt: cutOffs.length === 0 ? undefined : (Math.max(...cutOffs) as EpochMs),
    since: arrivals[0]?.since,
  };
}

const durationsIn = memoized((jobs: readonly Job[]) => {
  const byKind = new Map<string, number[]>();
  for (const job of jobs) {
    const { kinds, tookMs } = durationOf(job);
    for (const kind of kinds) {
      const known = byKind.get(kind);
      if (known === undefined) byKind.set(kind, [tookMs]);
      else known.push(tookMs);
    }
  }
  for (const durations of byKind.values()) durations.sort((a, b) => a - b);
  return (job: JobFeatures): readonly number[] => {
    const found = kindsOf(job).map((kind) => byKind.get(kind) ?? []);
    return found.find(({ length }) => length >= MIN_SAMPLES) ?? [];
  };
});

/**
 * The kinds and the duration of a job that succeeded. coderd and the daemon wrote its times by two
 * clocks, so a build without a positive duration is ignored.
 */
const durationOf = memoized((job: Job) => {
  const { started_at, completed_at, status } = job;
  const isKnown =
    status === 'succeeded' && started_at != null && completed_at != null && completed_at > started_at;
  return isKnown ? { kinds: kindsOf(job), tookMs: completed_at - started_at } : { kinds: [], tookMs: 0 };
});

type JobFeatures = Pick<Job, 'type' | 'tags' | 'metadata'>;

/**
 * The keys by which jobs are similar, the narrowest first: template before tags, with transition
 * before without.
 */
function kindsOf({ type, tags, metadata }: JobFeatures): readonly string[] {
  const { template_id: template, workspace_build_transition: transition } = metadata ?? {};
  return [template ?? [], tagKey(tags)]
    .flat()
    .flatMap((like) =>
      (transition == null ? [] : [`${type} ${like} ${transition}`]).concat(`${type} ${like}`),
    );
}

/**
 * The chance that a running job ends within a time, given its age. 0 if nothing is known, or if the
 * job is older than 19 of 20 similar jobs.
 * @param durations of similar jobs, in milliseconds, the shortest first
 */
export function chanceToEnd(
  durations: readonly number[],
  { ageMs, withinMs }: { readonly ageMs: number; readonly withinMs: number },
): number {
  if (ageMs >= percentile(durations, 0.95)) return 0;
  const longer = durations.length - countUpTo(durations, ageMs);
  const soon = countUpTo(durations, ageMs + withinMs) - (durations.length - longer);
  return soon / longer;
}
