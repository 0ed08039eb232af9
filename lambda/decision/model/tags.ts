import { memoized } from './memoize-by-object.ts';

/** Tags as coderd or a user writes them. */
export type Tags = Readonly<Record<string, string>>;

/** Tags with `scope` and `owner` always present, as coderd stores them. */
export type TagSet = Tags & { readonly scope: string; readonly owner: string };

/**
 * Adds what coderd adds to tags (MutateTags): no scope, or any scope but `user`, means
 * `scope=organization owner=""`. A user scope keeps its owner.
 */
export function normalizeTags(tags: Tags): TagSet {
  if (isNormal(tags)) return tags;
  if (tags.scope === 'user') return { ...tags, scope: 'user', owner: tags.owner ?? '' };
  return { ...tags, scope: 'organization', owner: '' };
}

/**
 * Whether a daemon with these tags can run a job with those, both of one organization
 * (coderd's `provisioner_tagset_contains`): an untagged job runs on untagged daemons only, any other
 * job on every daemon that has all its tags. Values compare exactly. Both sides are normalised first.
 */
export function canRun(daemonTags: Tags, jobTags: Tags): boolean {
  return covers(normalizeTags(daemonTags), normalizeTags(jobTags));
}

/** `canRun` of tag sets that are normalised already. */
export function covers(daemon: TagSet, job: TagSet): boolean {
  if (isUntagged(job)) return isUntagged(daemon);
  return hasAll(daemon, job);
}

/** Whether two tag sets are the same. */
export function areEqual(a: TagSet, b: TagSet): boolean {
  return a === b || (Object.keys(a).length === Object.keys(b).length && hasAll(a, b));
}

/** One string per tag set, the same for every order of its tags. */
export const tagKey: (tags: Tags) => string = memoized((tags) => {
  const written = JSON.stringify(tags);
  const known = keys.get(written);
  if (known !== undefined) return known;
  const set: Tags = normalizeTags(tags);
  const key = JSON.stringify(
    Object.keys(set)
      .sort()
      .map((name) => [name, set[name]]),
  );
  if (keys.size >= MOST_KEYS) keys.clear();
  keys.set(written, key);
  return key;
});

/** By the tags as they are written: thousands of jobs have the same few. */
const keys = new Map<string, string>();
const MOST_KEYS = 10_000;

/** The tags a person gave: without `scope` and `owner` where these say nothing. */
export function displayTags(tags: Tags): Tags {
  const { scope, owner, ...rest } = normalizeTags(tags);
  return scope === 'organization' ? rest : { scope, owner, ...rest };
}

function isNormal(tags: Tags): tags is TagSet {
  return tags.scope === 'organization' && tags.owner === '';
}

function hasAll(set: Tags, wanted: Tags): boolean {
  return Object.keys(wanted).every((name) => Object.hasOwn(set, name) && set[name] === wanted[name]);
}

function isUntagged(set: TagSet): boolean {
  return set.scope === 'organization' && Object.keys(set).length === 2;
}
