/** Tags as coderd or a user writes them. */
export type Tags = Readonly<Record<string, string>>;

/** Tags with `scope` and `owner` always present, as coderd stores them. */
export type TagSet = Tags & { readonly scope: string; readonly owner: string };

/**
 * Adds what coderd adds to tags (MutateTags): no scope, or any scope but `user`, means
 * `scope=organization owner=""`. A user scope keeps its owner.
 */
export function normalizeTags(tags: Tags): TagSet {
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
  return Object.entries(job).every(([name, value]) => Object.hasOwn(daemon, name) && daemon[name] === value);
}

/** One string per tag set, the same for every order of its tags. */
export function tagKey(tags: Tags): string {
  const set: Tags = normalizeTags(tags);
  return JSON.stringify(
    Object.keys(set)
      .sort()
      .map((name) => [name, set[name]]),
  );
}

/** The tags a person gave: without `scope` and `owner` where these say nothing. */
export function displayTags(tags: Tags): Tags {
  const { scope, owner, ...rest } = normalizeTags(tags);
  return scope === 'organization' ? rest : { scope, owner, ...rest };
}

function isUntagged(set: TagSet): boolean {
  return set.scope === 'organization' && Object.keys(set).length === 2;
}
