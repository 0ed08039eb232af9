/** The rows of the plan about jobs: how each tag group is served, and the unschedulable ones. */
import type { JobAssignment } from '../assign/assignment.ts';
import { failsAt, oldestOf, pendingByTags, type TagGroup } from '../demand/demand.ts';
import { isoTime, poolOfPart } from '../model/brands.ts';
import { by, ownValue } from '../model/collections.ts';
import type { AssignmentRow, UnservedRow } from '../model/plan.ts';
import type { Job, Snapshot } from '../model/snapshot.ts';
import { covers, displayTags, type Tags, tagKey } from '../model/tags.ts';
import type { PoolView } from '../supply/supply.ts';

/** Derives one row for each tag group and offer, in the order in which the groups are served. */
export function reportAssignment({ assigned }: JobAssignment): readonly AssignmentRow[] {
  return assigned.map(({ group, offer, jobs }) => ({
    organization: group.organization,
    tags: displayTags(group.tags),
    for: group.for,
    jobs,
    pool: offer.pool && poolOfPart(offer.pool),
    served: offer.served,
  }));
}

/** Derives the rows of unschedulable jobs, each with the pool that differs least. */
export function reportUnserved(
  { unserved }: JobAssignment,
  pools: readonly PoolView[],
  snapshot: Snapshot,
): readonly UnservedRow[] {
  if (unserved.length === 0) return [];
  const byTags = new Map(snapshot.coder.organizations.map((each) => [each.id, pendingByTags(each)]));
  return unserved.map((group) => {
    const near = pools.filter(({ organization }) => organization?.id === group.organizationId);
    return {
      organization: group.organization,
      tags: displayTags(group.tags),
      jobs: group.jobs,
      oldest: isoTime(oldestOf(group)),
      failsAt: failsAt(oldestOf(group), snapshot),
      types: typesOf(byTags.get(group.organizationId)?.get(tagKey(group.tags)) ?? []),
      ...reasonUnserved(group, near),
    };
  });
}

const typesOf = (jobs: readonly Job[]): readonly string[] =>
  [...new Set(jobs.map(({ type }) => type))].sort();

function reasonUnserved(group: TagGroup, near: readonly PoolView[]): Pick<UnservedRow, 'why' | 'closest'> {
  const own = near.filter(
    ({ tags: { scope, owner } }) => scope === group.tags.scope && owner === group.tags.owner,
  );
  if (own.length === 0 && group.tags.scope === 'user') return { why: 'scope-is-user', closest: null };
  if (near.length === 0) return { why: 'no-pool-in-this-organization', closest: null };
  const fitting = own.filter(({ tags }) => covers(tags, group.tags));
  if (fitting.length > 0) return { why: 'pool-is-retiring', closest: closestPool(group, fitting) };
  return { why: 'no-pool-has-these-tags', closest: closestPool(group, own.length > 0 ? own : near) };
}

function closestPool(group: TagGroup, pools: readonly PoolView[]): UnservedRow['closest'] {
  const [closest] = pools
    .map(({ pool, tags }) => ({ pool: poolOfPart(pool.name), ...compareTags(tags, group.tags) }))
    .toSorted(
      by(
        ({ missing }) => Object.keys(missing).length,
        // a tag with a different value is closer than a missing tag: it is more likely a typing
        // error
        ({ has }) => -Object.keys(has).length,
        ({ surplus }) => Object.keys(surplus).length,
        ({ pool }) => pool,
      ),
    );
  return closest ?? null;
}

function compareTags(pool: Tags, job: Tags) {
  const pick = (tags: Tags, isPicked: (name: string, value: string) => boolean): Tags =>
    Object.fromEntries(Object.entries(tags).filter(([name, value]) => isPicked(name, value)));
  return {
    missing: pick(job, (name, value) => ownValue(pool, name) !== value),
    has: pick(pool, (name, value) => Object.hasOwn(job, name) && job[name] !== value),
    surplus: pick(pool, (name) => !Object.hasOwn(job, name)),
  };
}
