/** Computes the pools of a first configuration from the templates of coderd. */
import { ROLE } from '../../lambda/adapters/coderd/coderd.ts';
import { listWorkspaces } from '../../lambda/adapters/coderd/forecast/workspace-list.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { by, partition } from '../../lambda/decision/model/collections.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { canRun, displayTags, type Tags, tagKey } from '../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { few, some, tagText } from '../../lambda/explain/format.ts';
import type { Organization } from '../../lambda/look/ports.ts';
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
  readonly notes: readonly string[];
};

type TagSet = Omit<DraftPool, 'name' | 'key'>;

type Choices = {
  readonly keyPrefix: string | undefined;
  readonly most: number;
  /** Whether further stacks serve this coderd. @default false */
  readonly isOneOfSeveral?: boolean;
};

export function draftPools(
  surveyed: readonly OrganizationTemplates[],
  builds: Builds,
  { keyPrefix, most, isOneOfSeveral = false }: Choices,
): Draft {
  const [own, scoped] = partition(surveyed.flatMap(tagSetsOf), ({ tags }) => tags.scope !== 'user');
  // if there are too many, keep those of the most templates
  const ranked = own.toSorted(by(({ templates }) => -templates.length));
  const [kept, others] = partition(own, (tagSet) => ranked.indexOf(tagSet) < most);
  const names = poolNames([...kept, ...others], isOneOfSeveral);
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

export type TagSetOf = { readonly organization: string; readonly tags: Tags };

const LONGEST = 30;
/** coderd refuses keys with these names (docs/internals/coder.md §3), and the key gets the pool's name. */
const REFUSED_BY_CODERD = ['built-in', 'user-auth', 'psk'];
/** Values that say less than the name of their tag. */
const YES = ['', 'true', 'yes', 'on'];

/** The names in the order of the tag sets, each different. */
export function poolNames(tagSets: readonly TagSetOf[], isOneOfSeveral = false): readonly string[] {
  const hasSeveral = isOneOfSeveral || new Set(tagSets.map(({ organization }) => organization)).size > 1;
  const taken = new Set(REFUSED_BY_CODERD);
  return tagSets.map((tagSet) => {
    const name = freeName(candidatesFor(tagSet, hasSeveral), taken);
    taken.add(name);
    return name;
  });
}

/** The shortest name first. */
function candidatesFor({ organization, tags }: TagSetOf, hasSeveral: boolean): readonly string[] {
  const entries = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
  const prefix = hasSeveral || entries.length === 0 ? [organization] : [];
  const short = entries.map(([name, value]) => wordOf(name, value));
  const long = entries.map(([name, value]) => `${name}-${value}`);
  return [short, long].map((words) => fold([...prefix, ...words].join('-')) || 'pool');
}

function wordOf(name: string, value: string): string {
  if (YES.includes(value.toLowerCase())) return name;
  return /[a-z]/.test(fold(value)) && value.toLowerCase() !== 'false' ? value : `${name}-${value}`;
}

/** Lower case without accents; every other character becomes a hyphen. */
function fold(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
}

function freeName(candidates: readonly string[], taken: ReadonlySet<string>): string {
  const free = candidates.map((name) => cut(name, LONGEST)).find((name) => !taken.has(name));
  if (free !== undefined) return free;
  const [first = 'pool'] = candidates;
  for (let number = 2; ; number++) {
    const name = `${cut(first, LONGEST - `-${number}`.length)}-${number}`;
    if (!taken.has(name)) return name;
  }
}

const cut = (name: string, length: number): string => name.slice(0, length).replace(/-+$/, '');

const WORKSPACES_MS = MINUTE_MS;

type BuiltTags = TagSetOf & { readonly workspaces: number };

/** The tag sets of latest builds, or the error if not all workspaces could be read. */
type Builds = { readonly built: readonly BuiltTags[]; readonly error?: string | undefined };

export async function readBuilds(
  http: CoderdHttp,
  organizations: readonly Organization[],
  now: EpochMs,
): Promise<Builds> {
  const signal = AbortSignal.timeout(WORKSPACES_MS);
  const { list } = await listWorkspaces({ http, signal, role: ROLE }, { now, resumeAt: 0 });
  const built = organizations.flatMap(({ id, name: organization }) => {
    const tags = list.items
      .filter((workspace) => workspace.organization_id === id)
      .flatMap(({ latest_build: { job } }): readonly Tags[] => (job.tags ? [job.tags] : []));
    return [...Map.groupBy(tags, tagKey).values()].map((same) => ({
      organization,
      tags: same[0] ?? {},
      workspaces: same.length,
    }));
  });
  return { built, error: list.status === 'ok' ? undefined : list.error };
}

/** A sentence for each tag set of builds that none of these pools can run. */
function notesOnBuilds({ built, error }: Builds, pools: readonly TagSetOf[]): readonly string[] {
  const unserved = built.filter(
    ({ organization, tags }) =>
      tags.scope !== 'user' &&
      !pools.some((pool) => pool.organization === organization && canRun(pool.tags, tags)),
  );
  return [
    ...unserved.map(noteOn),
    ...(error === undefined
      ? []
      : [`The builds of workspaces could not be compared with the pools: ${error}`]),
  ];
}

function noteOn({ organization, tags, workspaces }: BuiltTags): string {
  const built = workspaces === 1 ? 'was last built' : 'were last built';
  return `${some(workspaces, 'workspace')} of organization "${organization}" ${built} with tags ${shown(tags)}, and no pool has them. A parameter or an older version of the template sets them. Add a pool if such builds will come again`;
}

const shown = (tags: Tags): string => tagText(displayTags(tags));
