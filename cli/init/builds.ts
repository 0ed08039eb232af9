/**
 * The tags of the latest build of each workspace. They show what the templates do not: tags that
 * depend on parameters, and tags of older versions.
 */
import { ROLE } from '../../lambda/adapters/coderd/coderd.ts';
import { listWorkspaces } from '../../lambda/adapters/coderd/forecast/workspace-list.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { canRun, displayTags, type Tags, tagKey } from '../../lambda/decision/model/tags.ts';
import { some, tagText } from '../../lambda/explain/format.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import type { TagSetOf } from './pool-names.ts';

const WORKSPACES_MS = 60_000;

export type BuiltTags = TagSetOf & { readonly workspaces: number };

/** The tag sets of latest builds, or the error if not all workspaces could be read. */
export type Builds = { readonly built: readonly BuiltTags[]; readonly error?: string | undefined };

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
export function notesOnBuilds({ built, error }: Builds, pools: readonly TagSetOf[]): readonly string[] {
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
