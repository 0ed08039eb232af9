/**
 * What the record of recent jobs tells: when builds came that nobody could foresee, and how long builds take. The record is a lower
 * bound, so what it does not have proves nothing.
 */

import { AUTOMATIC, type Transition, transitionsOf } from '../forecast/transitions.ts';
import type { EpochMs } from '../model/brands.ts';
import { countUpTo } from '../model/collections.ts';
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

/** The user on whose behalf coderd makes prebuilt workspaces; its jobs are acquired last (docs/coder.md §4). */
export const PREBUILDS_USER = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

/** Builds of one tag set that nobody could foresee. */
export type Arrivals = {
  readonly tags: TagSet;
  /** When they came, the newest first. */
  readonly times: readonly EpochMs[];
  /** Of a tag set of which only the newest jobs are kept: the oldest of these. */
  readonly cutOffAt: EpochMs | undefined;
  /** All that came since are known. */
  readonly since: EpochMs | undefined;
};

export type JobRecord = {
  /** By tag key. */
  readonly arrivals: ReadonlyMap<string, Arrivals>;
  /** The builds of several tag keys: the same object for the same keys. */
  readonly together: (keys: readonly string[]) => Omit<Arrivals, 'tags'>;
  /** How long jobs like this one took, in milliseconds, the shortest first. Empty: unknown. */
  readonly durationsOf: (job: Pick<Job, 'type' | 'tags' | 'metadata'>) => readonly number[];
  /** Whether the process began to record too short a time ago to tell how many came. */
  readonly isYoung: (now: EpochMs) => boolean;
};

/** The rate of arrivals looks so far back, mostly. */
export const RECENT_MS = 45 * 60_000;
/** Fewer durations say nothing. */
const ENOUGH = 5;

/** Looks come every few seconds, and most of them show the same jobs: what these tell is worked out once. */
const known = new WeakMap<readonly Job[], { readonly from: Sources; readonly record: JobRecord }>();

/** What a record is made of, beside the jobs. */
type Sources = Pick<RecentJobs, 'since' | 'limit'> & {
  readonly [Key in 'workspaces' | 'templates']: OrganizationReadings[Key] | undefined;
};

/** Reads the record of an organization. */
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

/** Tells what coderd does to the workspace of a job by itself, if a job is that. */
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
    // the list was read after the build was made
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

/** Tells whether nobody could foresee a job: those that coderd makes by itself are foreseen, and prebuilds can wait. */
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

/** Whatever the order of the list. */
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
  return (job: Alike): readonly number[] => {
    const found = kindsOf(job).map((kind) => byKind.get(kind) ?? []);
    return found.find(({ length }) => length >= ENOUGH) ?? [];
  };
});

/** What a job is like that has succeeded, and how long it took. Two clocks wrote its times: a build that took no time tells nothing. */
const durationOf = memoized((job: Job) => {
  const { started_at, completed_at, status } = job;
  const isKnown =
    status === 'succeeded' && started_at != null && completed_at != null && completed_at > started_at;
  return isKnown ? { kinds: kindsOf(job), tookMs: completed_at - started_at } : { kinds: [], tookMs: 0 };
});

type Alike = Pick<Job, 'type' | 'tags' | 'metadata'>;

/** What a job is like, the narrowest first: by its template before its tags, and with its transition before without. */
function kindsOf({ type, tags, metadata }: Alike): readonly string[] {
  const { template_id: template, workspace_build_transition: transition } = metadata ?? {};
  return [template ?? [], tagKey(tags)]
    .flat()
    .flatMap((like) =>
      (transition == null ? [] : [`${type} ${like} ${transition}`]).concat(`${type} ${like}`),
    );
}

/**
 * The chance that a running job ends within a time, given its age; 0 where nothing is known, or the job is older than 19 of 20 like it.
 * @param durations of jobs like it, in milliseconds, the shortest first
 */
export function chanceToEnd(
  durations: readonly number[],
  { ageMs, withinMs }: { readonly ageMs: number; readonly withinMs: number },
): number {
  const p95 = durations[Math.ceil(durations.length * 0.95) - 1] ?? 0;
  if (ageMs >= p95) return 0;
  const longer = durations.length - countUpTo(durations, ageMs);
  const soon = countUpTo(durations, ageMs + withinMs) - (durations.length - longer);
  return soon / longer;
}
