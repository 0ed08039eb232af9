import type { Tags } from '../../../../lambda/decision/model/tags.ts';

/**
 * `provisioner_tagset_contains` on tags without normalization (docs/internals/coder.md §4), also in the filters of
 * lists: `{}` finds everything, and only the exact untagged set finds only untagged ones.
 */
export function tagsetContains(superset: Tags, subset: Tags): boolean {
  const names = Object.keys(subset);
  if (names.length === 0) return true;
  const holdsAll = names.every((name) => Object.hasOwn(superset, name) && superset[name] === subset[name]);
  if (!isUntagged(subset)) return holdsAll;
  return holdsAll && Object.keys(superset).length === names.length;
}

function isUntagged(tags: Tags): boolean {
  return Object.keys(tags).length === 2 && tags.scope === 'organization' && tags.owner === '';
}
