import type { Tags } from '../../../lambda/decision/model/tags.ts';

/**
 * `provisioner_tagset_contains(superset, subset)` on tags as they stand (docs/coder.md §4): the filter `tags` of both lists
 * is not normalised first, so `{}` finds everything and only the exact untagged set finds the untagged alone.
 */
export function tagsetContains(superset: Tags, subset: Tags): boolean {
  const names = Object.keys(subset);
  const holdsAll = names.every((name) => Object.hasOwn(superset, name) && superset[name] === subset[name]);
  if (!isUntagged(subset)) return holdsAll;
  return holdsAll && Object.keys(superset).length === names.length;
}

function isUntagged(tags: Tags): boolean {
  return Object.keys(tags).length === 2 && tags.scope === 'organization' && tags.owner === '';
}
