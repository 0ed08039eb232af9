/** Reads the jobs of organizations for a trace, and the workspace builds that give their reason. */

import type * as z from 'zod';
import { readJobsSince } from '../../../../cli/adapters/history.ts';
import { InputError } from '../../../../cli/shared/cli-environment.ts';
import { CoderdAdapter, ROLE } from '../../../../lambda/adapters/coderd/coderd.ts';
import { CoderdError, type CoderdHttp, wholeList } from '../../../../lambda/adapters/coderd/http/http.ts';
import { buildReasonRows } from '../../../../lambda/adapters/coderd/http/lists.ts';
import { failure, type ReadingRequest } from '../../../../lambda/adapters/coderd/http/reading.ts';
import { buildsPath, jobSchema } from '../../../../lambda/adapters/coderd/http/schemas.ts';
import { SecretError } from '../../../../lambda/adapters/secrets/secrets.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { BuildInfo, Job, Reading } from '../../../../lambda/decision/model/snapshot.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { some } from '../../../../lambda/explain/format.ts';
import { unlisted } from '../../../../lambda/look/observe.ts';
import type { Organization } from '../../../../lambda/look/ports.ts';
import { CODERD_READINGS } from '../../../../lambda/look/reading-names.ts';

/** Low, to leave coderd capacity for its users. */
const WORKSPACES_AT_ONCE = 8;
const WORKSPACES_A_LINE = 500;

export type Period = { readonly from: EpochMs; readonly to: EpochMs };

/** The coderd to read, and a function that gets lines about the progress. */
export type Reader = { readonly http: CoderdHttp; readonly tell: (line: string) => void };

export type OrganizationJobs = { readonly organization: string; readonly jobs: readonly Job[] };

type History = {
  /** As given, or from the first job on if coderd has no older ones. */
  readonly period: Period;
  readonly read: readonly OrganizationJobs[];
};

/** Oldest first. `names` has names or ids of organizations. Throws InputError. */
export async function readJobs(
  { http, tell }: Reader,
  names: readonly string[],
  { from, to }: Period,
): Promise<History> {
  const { organizations, build } = await readServer(http, names);
  const read: OrganizationJobs[] = [];
  let [first, isWhole] = [to, true];
  for (const organization of organizations) {
    const what = CODERD_READINGS.jobs(organization);
    const { jobs, hasOlder } = await orRefuse({ what, role: ROLE }, () =>
      readJobsSince(http, organization, { since: from, build, schema: jobSchema }),
    );
    const asked = jobs.filter(({ created_at }) => created_at < to).reverse();
    first = asked.reduce((least, { created_at }) => (created_at < least ? created_at : least), first);
    isWhole &&= !hasOlder;
    tell(`organization "${organization.name}": ${some(asked.length, 'job')}`);
    read.push({ organization: organization.name, jobs: asked });
  }
  return { period: { from: isWhole ? first : from, to }, read };
}

/** Finds organizations by name or id, and coderd's version. Throws InputError. */
async function readServer(
  http: CoderdHttp,
  names: readonly string[],
): Promise<{ readonly organizations: readonly Organization[]; readonly build: BuildInfo | undefined }> {
  const coderd = new CoderdAdapter(http);
  const [build, known] = await Promise.all([coderd.buildInfo(), coderd.organizations()]);
  const listed = itemsOf(known);
  const organizations = names.map((name) => {
    const found = listed.find((organization) => organization.name === name || organization.id === name);
    if (found === undefined) throw new InputError(unlisted(name, listed));
    return found;
  });
  return { organizations: [...new Set(organizations)], build: itemsOf(build)[0] };
}

function itemsOf<T>({ status, error, items }: Reading<T>): readonly T[] {
  if (status === 'ok') return items;
  throw new InputError(error ?? `a list of coderd is ${status}`);
}

/** By the id of their job. A workspace that coderd no longer has gives no builds. Throws InputError. */
export async function readBuilds(
  { http, tell }: Reader,
  workspaces: ReadonlySet<string>,
  since: EpochMs,
): Promise<ReadonlyMap<string, WorkspaceBuild>> {
  const found = new Map<string, WorkspaceBuild>();
  // all workers share one iterator: an idle worker takes the next workspace
  const queue = [...workspaces].entries();
  const work = async (): Promise<void> => {
    for (const [index, id] of queue) {
      if (index % WORKSPACES_A_LINE === 0)
        tell(
          `reading the builds of ${some(workspaces.size, 'workspace')}${index === 0 ? '' : `: ${index} done`}`,
        );
      for (const build of await buildsOf(http, id, since)) found.set(build.job.id, build);
    }
  };
  await Promise.all(Array.from({ length: WORKSPACES_AT_ONCE }, work));
  return found;
}

async function buildsOf(
  http: CoderdHttp,
  workspaceId: string,
  since: EpochMs,
): Promise<readonly WorkspaceBuild[]> {
  return orRefuse({ what: 'listing the builds of a workspace' }, async () => {
    try {
      return await readBuildsSince(http, workspaceId, since);
    } catch (cause) {
      if (cause instanceof CoderdError && cause.code === 'not-found') return [];
      throw cause;
    }
  });
}

/** Runs a request; throws InputError if it fails. */
async function orRefuse<T>(request: ReadingRequest, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof CoderdError || cause instanceof SecretError)) throw cause;
    throw new InputError(`${failure(request, cause).error}${adviceFor(cause)}`, { cause });
  }
}

/** A timeout and an answer that is too large look the same. */
function adviceFor(cause: CoderdError | SecretError): string {
  const mayBeTooMuch = cause instanceof CoderdError && cause.code === 'unreachable';
  return mayBeTooMuch
    ? '. If there is too much to read, give a later --from or fewer --days: coderd lists the newest jobs first'
    : '';
}

export type WorkspaceBuild = z.output<typeof buildReasonRows.row>;

/** coderd writes a build and its job one after another, so their times differ a little. */
const SLACK_MS = MINUTE_MS;

/**
 * Also of a deleted workspace. `since` has no limit (coderd/workspacebuilds.go). Throws CoderdError, `not-found`
 * if the token's user may not read the workspace.
 */
export async function readBuildsSince(
  http: CoderdHttp,
  workspaceId: string,
  since: EpochMs,
): Promise<readonly WorkspaceBuild[]> {
  const query = { since: new Date(since - SLACK_MS).toISOString() };
  return wholeList((await http.get(buildsPath(workspaceId), query, buildReasonRows)).value);
}
