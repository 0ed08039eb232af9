/** Computes the pools of a first configuration from the templates of coderd. */
import { by, partition } from '../../lambda/decision/model/collections.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { displayTags, type Tags, tagKey } from '../../lambda/decision/model/tags.ts';
import { few, some, tagText } from '../../lambda/explain/format.ts';
import { type Builds, notesOnBuilds } from './builds.ts';
import { poolNames } from './pool-names.ts';
import type { OrganizationTemplates } from './survey.ts';

export type DraftPool = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  /** The name of the secret with the pool's key; undefined for a managed key. */
  readonly key?: string;
  /** The templates whose active version has these tags; none if the organization has no template. */
  readonly templates: readonly string[];
};

export type Draft = {
  readonly pools: readonly DraftPool[];
  /** Tag sets beyond the most pools of one deployment. */
  readonly leftOut: readonly DraftPool[];
  /** What the pools do not cover, one sentence each. */
  readonly notes: readonly string[];
};

type TagSet = Omit<DraftPool, 'name' | 'key'>;

/** `most`: the most pools of one deployment. */
export function draftPools(
  surveyed: readonly OrganizationTemplates[],
  builds: Builds,
  { keyPrefix, most }: { readonly keyPrefix: string | undefined; readonly most: number },
): Draft {
  const [own, scoped] = partition(surveyed.flatMap(tagSetsOf), ({ tags }) => tags.scope !== 'user');
  // if there are too many, keep those of the most templates
  const ranked = own.toSorted(by(({ templates }) => -templates.length));
  const [kept, others] = partition(own, (tagSet) => ranked.indexOf(tagSet) < most);
  const names = poolNames([...kept, ...others]);
  const pools = [...kept, ...others].map((tagSet, index): DraftPool => {
    const name = names[index] ?? '';
    return { name, ...tagSet, ...(keyPrefix === undefined ? {} : { key: `${keyPrefix}/${name}` }) };
  });
  const leftOut = pools.slice(kept.length);
  return {
    pools: pools.slice(0, kept.length),
    leftOut,
    notes: [
      ...noteOnUnread(surveyed),
      ...scoped.map(noteOnScope),
      ...(leftOut.length > 0 ? [noteOnRest(leftOut, most)] : []),
      ...notesOnBuilds(builds, pools),
      NOTE_ON_PARAMETERS,
    ],
  };
}

/** The tag sets of an organization, the untagged one first. */
function tagSetsOf({ organization: { name: organization }, templates }: OrganizationTemplates): TagSet[] {
  const read = templates.flatMap(({ name, tags }) => (tags === undefined ? [] : [{ name, tags }]));
  // the first import of a template has no tags
  if (templates.length === 0) return [{ organization, tags: {}, templates: [] }];
  return [...Map.groupBy(read, ({ tags }) => tagKey(tags)).values()]
    .map((same) => ({
      organization,
      tags: displayTags(same[0]?.tags ?? {}),
      templates: same.map(({ name }) => name).sort(),
    }))
    .sort(
      by<TagSet>(
        ({ tags }) => Object.keys(tags).length,
        ({ tags }) => tagText(tags),
      ),
    );
}

/** docs/internals/coder.md §4. */
const NOTE_ON_PARAMETERS =
  'Tags that depend on parameters cannot be seen. If a template has the data source coder_workspace_tags, coderd shows its tags with the default values only. Add a pool for each other combination of values that people may choose';

function noteOnUnread(surveyed: readonly OrganizationTemplates[]): readonly string[] {
  return surveyed.flatMap(({ organization, templates }) => {
    const unread = templates.filter(({ tags }) => tags === undefined);
    const [first] = unread;
    if (first === undefined) return [];
    const names = few(unread.map(({ name }) => `"${name}"`));
    return [
      `The tags of ${some(unread.length, 'template')} of organization "${organization.name}" could not be read (${names}): ${messageOf(first.error)}. Run this again with another --config, and compare`,
    ];
  });
}

function noteOnScope({ organization, templates }: TagSet): string {
  return `Jobs of ${few(templates.map((name) => `"${name}"`))} in organization "${organization}" have scope=user. The file has no pool for them: only a pool with the token of their owner runs them (docs/credentials.md)`;
}

function noteOnRest(leftOut: readonly DraftPool[], most: number): string {
  const sets = leftOut.map(({ organization, tags }) => `"${organization}" ${tagText(tags)}`);
  return `${some(leftOut.length, 'tag set')} too many for one deployment, which has at most ${most} pools. The file keeps those that most templates use. Without a pool: ${sets.join('; ')}. Write a file for each organization with --organization and --config, and give each its own aws.stack. Or remove pools that you do not need, and add these`;
}
