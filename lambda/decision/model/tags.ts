/** Tag sets: how coderd normalizes tags, and which daemon can run which job by its tags. */
import { by } from './collections.ts';
import { memoized } from './memoize-by-object.ts';

/** Tags as coderd or a person wrote them. */
export type Tags = Readonly<Record<string, string>>;

/** Tags that always have `scope` and `owner`, as in coderd's database. */
export type TagSet = Tags & { readonly scope: string; readonly owner: string };

/** As coderd's MutateTags: any scope but `user` becomes `scope=organization owner=""`. */
export function normalizeTags(tags: Tags): TagSet {
  if (isNormal(tags)) return tags;
  if (tags.scope === 'user') return { ...tags, scope: 'user', owner: tags.owner ?? '' };
  return { ...tags, scope: 'organization', owner: '' };
}

/** Drops empty tags, as coderd does with those of daemons (docs/internals/coder.md §4). */
export function withoutEmpty(tags: Tags): Tags {
  return Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== ''));
}

/**
 * Whether a daemon can run a job of the same organization (coderd's `provisioner_tagset_contains`).
 * An untagged job needs an untagged daemon. Any other job needs a daemon that has all its tags.
 * Values are compared exactly. Both sides are normalized first.
 */
export function canRun(daemonTags: Tags, jobTags: Tags): boolean {
  return covers(normalizeTags(daemonTags), normalizeTags(jobTags));
}

/** `canRun` for tag sets that are normalized already. */
export function covers(daemon: TagSet, job: TagSet): boolean {
  return hasAll(daemon, job) && (!isUntagged(job) || isUntagged(daemon));
}

/** Whether two tag sets are the same. */
export function areEqual(a: TagSet, b: TagSet): boolean {
  return a === b || (hasAll(a, b) && hasAll(b, a));
}

/** A string that is equal for equal tag sets, whatever the order of their tags. */
export const tagKey: (tags: Tags) => string = memoized((tags) => {
  const entries = Object.entries(normalizeTags(tags));
  return JSON.stringify(entries.sort(by(([name]) => name)));
});

/** The same object for tags that are written alike: thousands of jobs share a few tag sets. */
export function sharedTags(tags: Tags): Tags {
  const written = JSON.stringify(tags);
  const known = shared.get(written) ?? tags;
  if (shared.size >= MAX_SHARED) shared.clear();
  shared.set(written, known);
  return known;
}

const shared = new Map<string, Tags>();
const MAX_SHARED = 10_000;

/** The tags without `scope` and `owner`, unless the scope is `user`. */
export function displayTags(tags: Tags): Tags {
  const { scope, owner, ...rest } = normalizeTags(tags);
  return scope === 'organization' ? rest : { scope, owner, ...rest };
}

function isNormal(tags: Tags): tags is TagSet {
  return tags.scope === 'organization' && tags.owner === '';
}

/** Whether `set` has all tags of `wanted`, with equal values. Asked so often that it makes no array. */
export function hasAll(set: Tags, wanted: Tags): boolean {
  for (const name in wanted) if (!Object.hasOwn(set, name) || set[name] !== wanted[name]) return false;
  return true;
}

const UNTAGGED: TagSet = { scope: 'organization', owner: '' };

function isUntagged(set: TagSet): boolean {
  return hasAll(UNTAGGED, set);
}
