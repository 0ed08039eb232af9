/** Demand: the pending jobs as tag groups, and the other kinds of demand. */
import { type EpochMs, isoTime, type JobId, type OrganizationId, type PoolName } from '../model/brands.ts';
import { by, groupsBy, meanOf } from '../model/collections.ts';
import type { Waiting } from '../model/config.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Audience, IsoTime } from '../model/plan.ts';
import type { Job, OrganizationReadings, Reading, Snapshot, StockChoice } from '../model/snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import { compareVersion, REAPS_PENDING_SINCE } from '../model/version.ts';
import type { Left, LeftOf } from './peers.ts';
import { durationsIn, foreseenIn, PREBUILDS_USER } from './record.ts';

/** Pending jobs of one tag set, jobs that coderd will insert, or free daemons to have ready. */
export type Group = TagGroup | DueGroup | WarmGroup | StockGroup;

/** Jobs of one tag set that coderd is about to insert by itself. */
export type DueGroup = {
  /** `due`: they launch daemons now. `later`: they only keep idle ones, which is cheaper. */
  readonly for: 'due' | 'later';
  readonly organizationId: OrganizationId;
  /** The tags of the jobs. coderd's gate may check other tags. */
  readonly tags: TagSet;
  /** The pools that may serve these jobs. */
  readonly pools: ReadonlySet<PoolName>;
  readonly jobs: number;
};

/** The free daemons of one pool that `warm` asks for by number. */
export type WarmGroup = {
  readonly for: 'warm';
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  /** Only daemons of this pool count. */
  readonly pool: PoolName;
  /** Daemons. */
  readonly jobs: number;
};

/**
 * Free daemons for unforeseen builds that the same set of pools can run (stock-groups.ts). An unforeseen
 * build is one that the forecast cannot predict, because a person causes it.
 */
export type StockGroup = {
  readonly for: 'stock';
  readonly organizationId: OrganizationId;
  readonly pools: ReadonlySet<PoolName>;
  /** The tag sets of these builds. */
  readonly tagSets: readonly TagSet[];
  /**
   * Spare daemons are idle for less than the time of the rule, beyond those that it keeps. They are
   * served after what all sets of pools keep: a daemon that is spare for one set may be kept for another.
   */
  readonly isSpare: boolean;
  /** How many free daemons stay. Spare ones are not launched. */
  readonly jobs: number;
  /** The rule that says so; undefined: nothing is known of the builds yet. */
  readonly choice: StockChoice | undefined;
  /** The idle and busy daemons that the rule would have by now. Undefined: no more than its own number keeps. */
  readonly wouldHave: number | undefined;
};

/** All audiences. Each has its own price of waiting. */
export const AUDIENCES: readonly Audience[] = ['people', 'autostarts', 'stops', 'prebuilds'];

/** The setting that is the price of waiting of each audience. */
export const PRICE_OF: Readonly<Record<Audience, keyof Waiting>> = {
  people: 'person',
  autostarts: 'autostart',
  stops: 'stop',
  prebuilds: 'prebuild',
};

/** The pending jobs of one organization with the same tag set and audience, left to the same peer. */
export type TagGroup = {
  readonly organizationId: OrganizationId;
  /** The organization's name. */
  readonly organization: string;
  readonly tags: TagSet;
  /** The same string for the same tag set of one organization. */
  readonly key: string;
  readonly for: Audience;
  /** The peer that launches for them, until the first of them is this stack's. Absent: this stack. */
  readonly leftTo?: Left | undefined;
  readonly jobs: number;
  /** When each job was submitted, the oldest first. */
  readonly createdAt: readonly EpochMs[];
  /** How many should run at the same time; the others wait for their turn (patience.ts). */
  readonly atOnce: number;
  /** How long similar jobs took, in milliseconds, the shortest first. Empty: unknown. */
  readonly durationsMs: readonly number[];
  /** Their mean. Undefined: unknown. */
  readonly tookMs: number | undefined;
};

/** In the order of serving: people and autostarts first, then by the oldest job. */
export function deriveDemand(
  { coder, stock }: Snapshot,
  leftOf: LeftOf = () => undefined,
): readonly TagGroup[] {
  return coder.organizations
    .flatMap((organization) => groupsOf(organization, stock, leftOf))
    .toSorted(
      by<TagGroup>(
        (group) => RANK[group.for],
        oldestOf,
        (group) => group.key,
        (group) => group.for,
      ),
    );
}

const RANK: Readonly<Record<Audience, number>> = { people: 0, autostarts: 0, stops: 1, prebuilds: 2 };

/** Whether a group consists of pending jobs. */
export function isPending(group: Group): group is TagGroup {
  return 'createdAt' in group;
}

/** Whether a group consists of jobs that are left to a peer. */
export function isLeft(group: Group): boolean {
  return isPending(group) && group.leftTo !== undefined;
}

/** Whether a group consists of jobs that people wait for. */
export function isUrgent(group: Group): boolean {
  return group.for === 'people' || group.for === 'autostarts';
}

/** When the oldest job of a group was submitted. */
export function oldestOf({ createdAt }: Pick<TagGroup, 'createdAt'>): EpochMs {
  return createdAt[0] ?? (0 as EpochMs);
}

/** The part of a group that is served last: its youngest jobs. */
export function youngestOf<G extends Group>(group: G, jobs: number): G {
  return 'createdAt' in group
    ? { ...group, jobs, createdAt: group.createdAt.slice(-jobs) }
    : { ...group, jobs };
}

function groupsOf(
  organization: OrganizationReadings,
  stock: Snapshot['stock'],
  leftOf: LeftOf,
): readonly TagGroup[] {
  const kindOf = foreseenIn(organization);
  const toPending = (job: Job): PendingJob => ({
    job,
    audience: audienceOf(job, kindOf),
    leftTo: leftOf(organization.id, job.tags, job.created_at),
  });
  return [...pendingByTags(organization).values()]
    .flatMap((jobs) => groupsBy(jobs.map(toPending), keyOf))
    .map((alike) => toTagGroup(organization, stock, alike));
}

type PendingJob = { readonly job: Job; readonly audience: Audience; readonly leftTo: Left | undefined };

function keyOf({ audience, leftTo }: PendingJob): string {
  return leftTo === undefined ? audience : `${audience} ${leftTo.peer}`;
}

function toTagGroup(
  organization: OrganizationReadings,
  stock: Snapshot['stock'],
  alike: readonly [PendingJob, ...PendingJob[]],
): TagGroup {
  const [{ job: first, audience }] = alike;
  const [leftTo] = alike.flatMap((each) => each.leftTo ?? []).toSorted(by('until'));
  const durationsMs = durationsIn(organization, stock)(first);
  return {
    organizationId: organization.id,
    organization: organization.name,
    tags: normalizeTags(first.tags),
    key: `${organization.id} ${tagKey(first.tags)}`,
    for: audience,
    leftTo,
    jobs: alike.length,
    atOnce: alike.length,
    createdAt: alike.map(({ job }) => job.created_at).sort((a, b) => a - b),
    durationsMs,
    tookMs: durationsMs.length === 0 ? undefined : meanOf(durationsMs),
  };
}

/** Pending means: no daemon has acquired the job, and it has not ended. */
export function pendingJobs({ jobs }: OrganizationReadings): readonly Job[] {
  return pendingIn(jobs);
}

/** The pending jobs by tag key. */
export function pendingByTags({ jobs }: OrganizationReadings): ReadonlyMap<string, readonly Job[]> {
  return byTagsIn(jobs);
}

const pendingIn = memoized((jobs: Reading<Job>): readonly Job[] =>
  [...distinctJobs(jobs).values()].filter(
    ({ status, worker_id, completed_at }) =>
      status === 'pending' && worker_id == null && completed_at == null,
  ),
);

/** Each job once: a job that comes while the list is read may be in it twice. */
export const distinctJobs = memoized(({ items }: Reading<Job>): ReadonlyMap<JobId, Job> => {
  const jobs = new Map<JobId, Job>();
  for (const job of items) if (!jobs.has(job.id)) jobs.set(job.id, job);
  return jobs;
});

const byTagsIn = memoized((jobs: Reading<Job>) => Map.groupBy(pendingIn(jobs), ({ tags }) => tagKey(tags)));

function audienceOf(job: Job, kindOf: ReturnType<typeof foreseenIn>): Audience {
  if (job.initiator_id === PREBUILDS_USER) return 'prebuilds';
  const kind = kindOf(job);
  if (kind === undefined) return 'people';
  return kind === 'autostart' ? 'autostarts' : 'stops';
}

/** coderd fails a job that is pending for so long (docs/internals/coder.md §5, since 2.23). */
export const REAPED_AFTER_MS = 30 * MINUTE_MS;

/** When coderd fails a job that no daemon acquires; null if this server lets jobs wait. */
export function failsAt(createdAt: EpochMs, { coder }: Snapshot): IsoTime | null {
  const reaps = (compareVersion(coder.buildInfo?.version, REAPS_PENDING_SINCE) ?? 0) >= 0;
  return reaps ? isoTime(createdAt + REAPED_AFTER_MS) : null;
}
