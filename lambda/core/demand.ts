/** Demand: the pending jobs as tag groups. */
import type { EpochMs, OrganizationId, PoolName } from './brands.ts';
import { by, unique } from './order.ts';
import type { Job, OrganizationSight, Snapshot } from './snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from './tags.ts';

/** The user on whose behalf coderd makes prebuilt workspaces; its jobs are acquired last (contract §4). */
export const PREBUILDS_USER = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

/** Like demand: jobs of one tag set, those that coderd is about to insert, or the free daemons that one pool is to keep ready. */
export type Group = TagGroup | DueGroup | WarmGroup;

/** Jobs of one tag set that coderd is about to insert by itself. */
export type DueGroup = {
  readonly for: 'due';
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  /** The pools that get ready for them. */
  readonly pools: ReadonlySet<PoolName>;
  readonly jobs: number;
};

/** `warm` of one pool: daemons that nobody has asked for yet, so the last to be served. */
export type WarmGroup = {
  readonly for: 'warm';
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  /** The only pool whose daemons will do. */
  readonly pool: PoolName;
  /** Daemons. */
  readonly jobs: number;
};

/** The pending jobs of one organization that have the same tag set, people's and prebuilds apart. */
export type TagGroup = {
  readonly organizationId: OrganizationId;
  /** The organization's name. */
  readonly organization: string;
  readonly tags: TagSet;
  /** Equal for equal tag sets of one organization. */
  readonly key: string;
  readonly for: 'people' | 'prebuilds';
  readonly jobs: number;
  /** When the jobs were submitted, the oldest first. */
  readonly createdAt: readonly EpochMs[];
};

/** The tag groups in the order in which they are served: people before prebuilds, then the oldest job first. */
export function readDemand(snapshot: Snapshot): readonly TagGroup[] {
  return snapshot.coder.organizations.flatMap(groupsOf).toSorted(
    by(
      (group) => (group.for === 'people' ? 0 : 1),
      oldestOf,
      (group) => group.key,
    ),
  );
}

/** Whether a group is of jobs that are there. */
export function isPending(group: Group): group is TagGroup {
  return group.for === 'people' || group.for === 'prebuilds';
}

/** When the oldest job of a group was submitted. */
export function oldestOf({ createdAt }: TagGroup): EpochMs {
  return createdAt[0] ?? (0 as EpochMs);
}

/** A part of a group: those that are served last. */
export function youngestOf<G extends Group>(group: G, jobs: number): G {
  return 'createdAt' in group
    ? { ...group, jobs, createdAt: group.createdAt.slice(-jobs) }
    : { ...group, jobs };
}

function groupsOf(organization: OrganizationSight): readonly TagGroup[] {
  const pending = unique(organization.jobs.items, ({ id }) => id).filter(isWaiting);
  const groups = Map.groupBy(pending, (job) => `${audience(job)} ${tagKey(job.tags)}`);
  return [...groups.values()].flatMap((jobs) => {
    const [first] = jobs;
    return first === undefined ? [] : [toGroup(organization, first, jobs)];
  });
}

function toGroup(organization: OrganizationSight, first: Job, jobs: readonly Job[]): TagGroup {
  return {
    organizationId: organization.id,
    organization: organization.name,
    tags: normalizeTags(first.tags),
    key: `${organization.id} ${tagKey(first.tags)}`,
    for: audience(first),
    jobs: jobs.length,
    createdAt: jobs.map(({ created_at }) => created_at).toSorted((a, b) => a - b),
  };
}

/** Pending: not acquired by any daemon yet and not ended. */
function isWaiting(job: Job): boolean {
  return job.status === 'pending' && job.worker_id == null && job.completed_at == null;
}

function audience(job: Job): 'people' | 'prebuilds' {
  return job.initiator_id === PREBUILDS_USER ? 'prebuilds' : 'people';
}
