/** Reads the active versions of coderd's templates. Changes nothing in coderd. */
import { CoderdAdapter, ROLE } from '../../lambda/adapters/coderd/coderd.ts';
import { readRefused } from '../../lambda/adapters/coderd/forecast/permissions.ts';
import { settleAll } from '../../lambda/adapters/coderd/forecast/settle-all.ts';
import {
  type ListedTemplate,
  listTemplates,
} from '../../lambda/adapters/coderd/forecast/template-versions.ts';
import { CoderdError, type CoderdHttp, wholeList } from '../../lambda/adapters/coderd/http/http.ts';
import { readFile, readVersion } from '../../lambda/adapters/coderd/templates.ts';
import { SecretError } from '../../lambda/adapters/secrets/secrets.ts';
import { by, partition } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { canRun } from '../../lambda/decision/model/tags.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { InputError } from '../shared/cli-environment.ts';
import { type Locks, lockFileInArchive, locksIn, type Template } from './template-files.ts';

/** Low, to leave coderd capacity for its users. An archive has up to 100 MB. */
const VERSIONS_AT_ONCE = 8;
const FILES_AT_ONCE = 2;

export type TemplateSurvey = {
  readonly templates: readonly Template[];
  /** Templates whose jobs none of the pools can run. Their files are not read. */
  readonly others: readonly string[];
};

type Pool = Pick<PoolConfig, 'organization' | 'tags'>;
type Version = Awaited<ReturnType<typeof readVersion>>;
type Listed = {
  readonly name: string;
  readonly organization: Organization;
  readonly version: PromiseSettledResult<Version>;
};

/** The templates whose jobs one of the pools can run. Throws InputError. */
export async function readTemplatesOfCoderd(
  http: CoderdHttp,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<TemplateSurvey> {
  const organizations = await organizationsOf(http, pools);
  await refuseHidden(http, organizations, signal);
  const all = await listVersions(http, organizations, signal);
  const [others, own] = partition(
    all,
    ({ organization, version }) =>
      version.status === 'fulfilled' &&
      !pools.some((pool) => isOf(pool, organization) && canRun(pool.tags, version.value.tags)),
  );
  const locks = await settleAll(own, FILES_AT_ONCE, async ({ version }): Promise<Locks> => {
    if (version.status === 'rejected') throw version.reason;
    return locksIn(await lockFileInArchive(await readFile(http, version.value.fileId, signal)));
  });
  return {
    templates: own.map(({ name }, index) => ({ name, locks: settled(locks[index]) })),
    others: others.map(({ name }) => name),
  };
}

/** The templates of the organizations, by name, with their active versions. */
async function listVersions(
  http: CoderdHttp,
  organizations: readonly Organization[],
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const listed = await list(http, signal);
  const templates = listed.flatMap((template) => {
    const organization = organizations.find(({ id }) => id === template.organization_id);
    if (organization === undefined) return [];
    const name = organizations.length === 1 ? template.name : `${organization.name}/${template.name}`;
    return [{ name, organization, id: template.active_version_id }];
  });
  templates.sort(by(({ name }) => name));
  const versions = await settleAll(templates, VERSIONS_AT_ONCE, ({ id }) => readVersion(http, id, signal));
  return versions.flatMap((version, index) => {
    const template = templates[index];
    return template === undefined ? [] : [{ ...template, version }];
  });
}

async function list(http: CoderdHttp, signal: AbortSignal): Promise<readonly ListedTemplate[]> {
  try {
    return wholeList((await listTemplates(http, signal)).value);
  } catch (cause) {
    if (cause instanceof SecretError) throw new InputError(cause.message, { cause });
    throw new InputError(`listing templates: ${messageOf(cause)}`, { cause });
  }
}

function settled(outcome: PromiseSettledResult<Locks> | undefined): Locks {
  if (outcome?.status === 'fulfilled') return outcome.value;
  return { kind: 'unreadable', why: whyUnread(outcome?.reason) };
}

/** coderd answers 404 where the right is missing (docs/internals/coder.md §6). */
function whyUnread(cause: unknown): string {
  const said = messageOf(cause);
  if (!(cause instanceof CoderdError) || cause.code !== 'not-found') return said;
  return `reading its files: ${said}. The token's user needs the permission template:update, as an organization template admin has it. Or read a folder of templates with --dir`;
}

const isOf = ({ organization }: Pool, { id, name }: Organization): boolean =>
  organization === name || organization === id;

async function organizationsOf(http: CoderdHttp, pools: readonly Pool[]): Promise<readonly Organization[]> {
  const { status, error, items } = await new CoderdAdapter(http).organizations();
  if (status !== 'ok') throw new InputError(withHint(error ?? `the list of organizations is ${status}`));
  const missing = pools.find((pool) => !items.some((each) => isOf(pool, each)));
  if (missing !== undefined)
    throw new InputError(
      `reading templates of organization "${missing.organization}": coderd does not list it for this token. Add the token's user to the organization, or name other pools with --pool`,
    );
  return items.filter((each) => pools.some((pool) => isOf(pool, each)));
}

/** A person may have a token of coderd, and no access to the secret with that of the autoscaler. */
function withHint(error: string): string {
  if (!error.includes('reading secret "')) return error;
  return `${error}. Or set CODER_SESSION_TOKEN to your own token, or read a folder of templates with --dir`;
}

/** coderd would leave out the templates and report no error. */
async function refuseHidden(
  http: CoderdHttp,
  organizations: readonly Organization[],
  signal: AbortSignal,
): Promise<void> {
  const refused = await readRefused(http, organizations, signal);
  const hidden = organizations.filter(({ id }) => refused('template', id)).map(({ name }) => `"${name}"`);
  if (hidden.length > 0)
    throw new InputError(
      `listing templates of ${hidden.join(', ')}: coderd does not let the token's user read them; ${ROLE}`,
    );
}
