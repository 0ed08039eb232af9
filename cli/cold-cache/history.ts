/**
 * Reads the builds of the last days from coderd, and the daemons that ran them. It never reads the
 * list of all jobs, for which coderd reads every job it ever had (docs/internals/coder.md §1).
 */
import {
  readAllDaemons,
  readBuildsOf,
  readJobsByIds,
  readWorkspacePage,
} from '../../lambda/adapters/coderd/build-timings.ts';
import { ROLE } from '../../lambda/adapters/coderd/coderd.ts';
import { listTemplates } from '../../lambda/adapters/coderd/forecast/template-list.ts';
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { batchesOf, unique } from '../../lambda/decision/model/collections.ts';
import type { BuildInfo, Daemon } from '../../lambda/decision/model/snapshot.ts';
import { ageText, some } from '../../lambda/explain/format.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { orRefuse, readServer } from '../trace/history.ts';
import { type KnownBuild, knownBuild, type Source } from './build-groups.ts';
import { type Pace, readEach } from './pace.ts';

/** The coderd to read, how fast, and a function that gets lines about the progress. */
export type Reader = {
  readonly http: CoderdHttp;
  readonly pace: Pace;
  readonly tell: (line: string) => void;
};

export type BuildHistory = {
  readonly daemons: readonly Daemon[];
  readonly builds: readonly KnownBuild[];
  /** Names of templates by id. Deleted ones are missing. */
  readonly names: ReadonlyMap<string, string>;
  /** Workspaces whose builds the token's user may not read. */
  readonly unreadable: number;
  readonly coverage: Coverage;
};

/** What tells how many builds cannot be seen: most are builds of deleted workspaces. */
export type Coverage = {
  /** Builds that were found. */
  readonly found: number;
  /** Daemons whose last job was a build. */
  readonly lastBuilds: number;
  /** Workspaces that coderd does not list, by how many daemons had them as last job. */
  readonly foundOnce: number;
  readonly foundTwice: number;
};

const IDS_A_REQUEST = 100;
/** coderd writes a build and its job one after another, so their times differ a little. */
const SLACK_MS = 60_000;

/** Reads what these organizations built since then. Throws InputError. */
export async function readHistory(
  reader: Reader,
  organizationNames: readonly string[],
  since: EpochMs,
): Promise<BuildHistory> {
  const { http } = reader;
  const { organizations, build } = await readServer(http, organizationNames);
  const daemons = await readDaemons(reader, organizations, build);
  const listed = await readWorkspaces(reader, organizations, since);
  const last = await readWorkspacesOfLastJobs(reader, { organizations, daemons, since });
  const sources = unique([...listed, ...last], ({ workspace }) => workspace);
  const { builds, unreadable } = await readBuilds(reader, sources, since);
  const templates = await orRefuse(
    { what: 'listing templates' },
    async () => (await listTemplates(http)).value,
  );
  const names = new Map(templates.map(({ id, name }) => [id, name]));
  const ids = new Set(listed.map(({ workspace }) => workspace));
  return { daemons, builds, names, unreadable, coverage: coverageOf(ids, builds, last) };
}

function coverageOf(
  listed: ReadonlySet<string>,
  builds: readonly KnownBuild[],
  last: readonly Source[],
): Coverage {
  const unlisted = last.filter(({ workspace }) => !listed.has(workspace));
  const counts = [...Map.groupBy(unlisted, ({ workspace }) => workspace).values()].map((its) => its.length);
  const foundBy = (daemons: number): number => counts.filter((count) => count === daemons).length;
  const times = { foundOnce: foundBy(1), foundTwice: foundBy(2) };
  return { found: builds.length, lastBuilds: last.length, ...times };
}

async function readDaemons(
  { http }: Reader,
  organizations: readonly Organization[],
  build: BuildInfo | undefined,
): Promise<readonly Daemon[]> {
  const lists = organizations.map((organization) => {
    const what = `listing provisioner daemons of organization "${organization.name}"`;
    return orRefuse({ what, role: ROLE }, () => readAllDaemons(http, organization, build));
  });
  return (await Promise.all(lists)).flat();
}

/** The workspaces whose latest build is young enough: the others have no build since then. */
async function readWorkspaces(
  { http }: Reader,
  organizations: readonly Organization[],
  since: EpochMs,
): Promise<readonly Source[]> {
  const ids = new Set(organizations.map(({ id }) => id));
  const found: Source[] = [];
  for (let offset = 0; ; ) {
    const at = offset;
    const page = await orRefuse({ what: 'listing workspaces' }, () => readWorkspacePage(http, at));
    for (const { id, organization_id, template_id, latest_build } of page.workspaces)
      if (ids.has(organization_id) && latest_build.created_at >= since - SLACK_MS)
        found.push({ workspace: id, template: template_id });
    offset += page.size;
    if (offset >= page.count) return found;
  }
}

type LastJobsOf = {
  readonly organizations: readonly Organization[];
  readonly daemons: readonly Daemon[];
  readonly since: EpochMs;
};

/**
 * The workspaces of each daemon's last job since then. coderd cannot list deleted workspaces, but knows their
 * builds.
 */
async function readWorkspacesOfLastJobs(
  { http, pace }: Reader,
  { organizations, daemons, since }: LastJobsOf,
): Promise<readonly Source[]> {
  const batches = organizations.flatMap((organization) => {
    const its = daemons.filter(({ organization_id }) => organization_id === organization.id);
    const ids = its.flatMap(({ previous_job, current_job }) => previous_job?.id ?? current_job?.id ?? []);
    return batchesOf([...new Set(ids)], IDS_A_REQUEST).map((batch) => ({ organization, batch }));
  });
  const jobs = await readEach(batches, pace, ({ organization, batch }) => {
    const what = `reading previous jobs of organization "${organization.name}"`;
    return orRefuse({ what, role: ROLE }, () => readJobsByIds(http, organization, batch));
  });
  return jobs.flat().flatMap(({ metadata, started_at }) => {
    const { workspace_id: workspace, template_id: template } = metadata ?? {};
    if (workspace == null || template == null || (started_at ?? 0) < since) return [];
    return { workspace, template };
  });
}

async function readBuilds(reader: Reader, sources: readonly Source[], since: EpochMs) {
  const { http, pace, tell } = reader;
  tell(`reading the builds of ${some(sources.length, 'workspace')}${timeFor(sources.length, pace)}`);
  const lists = await readEach(sources, pace, ({ workspace }) =>
    orRefuse({ what: 'listing the builds of a workspace' }, () =>
      unlessHidden(() => readBuildsOf(http, workspace, (since - SLACK_MS) as EpochMs)),
    ),
  );
  const builds = sources.flatMap((source, index) =>
    (lists[index] ?? []).flatMap((build) => knownBuild(build, source) ?? []),
  );
  return {
    builds: builds.filter(({ startedAt }) => startedAt >= since),
    unreadable: lists.filter((list) => list === undefined).length,
  };
}

/** How long so many requests take, if that is long. A slow coderd takes longer. */
export function timeFor(requests: number, { perSecond }: Pace): string {
  const seconds = requests / perSecond;
  return seconds < 20 ? '' : `, ${ageText(seconds)} or longer`;
}

/** Undefined if coderd answers that there is no such thing: the user may not read it. */
export async function unlessHidden<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof CoderdError && cause.code === 'not-found') return undefined;
    throw cause;
  }
}
