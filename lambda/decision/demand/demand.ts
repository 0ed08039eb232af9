/** Demand: the pending jobs as tag groups, and what is wanted beside them. */
import type { EpochMs, OrganizationId, PoolName } from '../model/brands.ts';
import { by, unique } from '../model/collections.ts';
import type { Waiting } from '../model/config.ts';
import type { Audience } from '../model/plan.ts';
import type { Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { deriveRecord, foreseenIn, PREBUILDS_USER } from './record.ts';

/** Like demand: jobs of one tag set, those that coderd is about to insert, or free daemons that are to be ready. */
export type Group = TagGroup | DueGroup | WarmGroup | StockGroup;

/** Jobs of one tag set that coderd is about to insert by itself. */
export type DueGroup = {
  /** `due`: daemons are launched for them now. `later`: idle daemons are kept for them, which is cheaper than to launch others. */
  readonly for: 'due' | 'later';
  readonly organizationId: OrganizationId;
  /** Those of the jobs, which the gate need not ask for. */
  readonly tags: TagSet;
  /** The pools that get ready for them. */
  readonly pools: ReadonlySet<PoolName>;
  readonly jobs: number;
};

/** `warm` of one pool: daemons that nobody has asked for yet. */
export type WarmGroup = {
  readonly for: 'warm';
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  /** The only pool whose daemons will do. */
  readonly pool: PoolName;
  /** Daemons. */
  readonly jobs: number;
};

/** Free daemons for builds that nobody can foresee, where the same pools can run these builds (stock.ts). */
export type StockGroup = {
  readonly for: 'stock';
  readonly organizationId: OrganizationId;
  readonly pools: ReadonlySet<PoolName>;
  /** Of these builds. */
  readonly tagSets: readonly TagSet[];
  /** Daemons that are worth anything, as far as `max` has room for them. */
  readonly jobs: number;
  /** What the first, the second, … saves, in micro-dollars an hour; never rising. One more than `max` has room for. */
  readonly values: readonly number[];
  /** Builds that nobody could foresee. */
  readonly perMinute: number;
  /** Until a daemon that is taken is replaced. */
  readonly replaceMs: number;
  /** Of a person's waiting, in dollars a minute. */
  readonly person: number;
};

/** Whose jobs wait, by what their waiting costs. */
export const AUDIENCES: readonly Audience[] = ['people', 'autostarts', 'stops', 'prebuilds'];

/** The price of waiting of an audience. */
export const PRICE_OF: Readonly<Record<Audience, keyof Waiting>> = {
  people: 'person',
  autostarts: 'autostart',
  stops: 'stop',
  prebuilds: 'prebuild',
};

/** The pending jobs of one organization that have the same tag set and audience. */
export type TagGroup = {
  readonly organizationId: OrganizationId;
  /** The organization's name. */
  readonly organization: string;
  readonly tags: TagSet;
  /** Equal for equal tag sets of one organization. */
  readonly key: string;
  readonly for: Audience;
  readonly jobs: number;
  /** When the jobs were submitted, the oldest first. */
  readonly createdAt: readonly EpochMs[];
  /** How many of them are to run at the same time; the others wait for their turn (patience.ts). */
  readonly atOnce: number;
  /** How long one of them takes, on average, as far as is known. */
  readonly tookMs: number | undefined;
};

/** The tag groups in the order in which they are served: people and autostarts first, then the oldest job first. */
export function deriveDemand(snapshot: Snapshot): readonly TagGroup[] {
  return snapshot.coder.organizations.flatMap(groupsOf).toSorted(
    by<TagGroup>(
      (group) => RANK[group.for],
      oldestOf,
      (group) => group.key,
      (group) => group.for,
    ),
  );
}

const RANK: Readonly<Record<Audience, number>> = { people: 0, autostarts: 0, stops: 1, prebuilds: 2 };

/** Whether a group is of jobs that are there. */
export function isPending(group: Group): group is TagGroup {
  return 'createdAt' in group;
}

/** Whether it is of jobs that people wait for. */
export function isUrgent(group: Group): boolean {
  return group.for === 'people' || group.for === 'autostarts';
}

/** When the oldest job of a group was submitted. */
export function oldestOf({ createdAt }: Pick<TagGroup, 'createdAt'>): EpochMs {
  return createdAt[0] ?? (0 as EpochMs);
}

/** A part of a group: those that are served last. */
export function youngestOf<G extends Group>(group: G, jobs: number): G {
  return 'createdAt' in group
    ? { ...group, jobs, createdAt: group.createdAt.slice(-jobs) }
    : { ...group, jobs };
}

function groupsOf(organization: OrganizationReadings): readonly TagGroup[] {
  const pending = unique(organization.jobs.items, ({ id }) => id).filter(isWaiting);
  const kindOf = foreseenIn(organization);
  const byAudience = Map.groupBy(pending, (job) => audienceOf(job, kindOf));
  return [...byAudience].flatMap(([audience, all]) =>
    [...Map.groupBy(all, ({ tags }) => tagKey(tags)).values()].flatMap((jobs) => {
      const [first] = jobs;
      return first === undefined ? [] : [toGroup(organization, { audience, first, jobs })];
    }),
  );
}

function toGroup(
  organization: OrganizationReadings,
  {
    audience,
    first,
    jobs,
  }: { readonly audience: Audience; readonly first: Job; readonly jobs: readonly Job[] },
): TagGroup {
  const durations = deriveRecord(organization).durationsOf(first);
  return {
    organizationId: organization.id,
    organization: organization.name,
    tags: normalizeTags(first.tags),
    key: `${organization.id} ${tagKey(first.tags)}`,
    for: audience,
    jobs: jobs.length,
    atOnce: jobs.length,
    createdAt: jobs.map(({ created_at }) => created_at).toSorted((a, b) => a - b),
    tookMs:
      durations.length === 0 ? undefined : durations.reduce((sum, ms) => sum + ms, 0) / durations.length,
  };
}

/** Pending: not acquired by any daemon yet and not ended. */
function isWaiting(job: Job): boolean {
  return job.status === 'pending' && job.worker_id == null && job.completed_at == null;
}

function audienceOf(job: Job, kindOf: ReturnType<typeof foreseenIn>): Audience {
  if (job.initiator_id === PREBUILDS_USER) return 'prebuilds';
  const kind = kindOf(job);
  if (kind === undefined) return 'people';
  return kind === 'autostart' ? 'autostarts' : 'stops';
}
