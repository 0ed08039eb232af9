/** Reads the active versions of coderd's templates. Changes nothing in coderd. */
import { CoderdAdapter, ROLE } from '../../../lambda/adapters/coderd/coderd.ts';
import { readRefused } from '../../../lambda/adapters/coderd/forecast/permissions.ts';
import { settleAll } from '../../../lambda/adapters/coderd/forecast/settle-all.ts';
import {
  type ListedTemplate,
  listTemplates,
} from '../../../lambda/adapters/coderd/forecast/template-list.ts';
import { CoderdError, type CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import { readFile, readVersion } from '../../../lambda/adapters/coderd/template-files.ts';
import { SecretError } from '../../../lambda/adapters/secrets/secrets.ts';
import { by } from '../../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { canRun } from '../../../lambda/decision/model/tags.ts';
import type { Organization } from '../../../lambda/look/ports.ts';
import { InputError } from '../../shared/cli-environment.ts';
import { lockFileInArchive } from './archive.ts';
import { type Locks, locksIn, type Template } from './template.ts';

/** Low, to leave coderd capacity for its users. An archive has up to 100 MB. */
const VERSIONS_AT_ONCE = 8;
const FILES_AT_ONCE = 2;

export type TemplateSurvey = {
  readonly templates: readonly Template[];
  /** Templates whose jobs none of the pools can run. Their files are not read. */
  readonly others: readonly string[];
};

type Pool = Pick<PoolConfig, 'organization' | 'tags'>;

/** The templates whose jobs one of the pools can run. Throws InputError. */
export async function readTemplatesOfCoderd(
  http: CoderdHttp,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<TemplateSurvey> {
  const organizations = await organizationsOf(http, pools);
  await refuseHidden(http, organizations, signal);
  const { value: listed } = await told('listing templates', () => listTemplates(http, signal));
  const ofPools = listed.filter(({ organization_id: id }) => organizations.some((each) => each.id === id));
  const sorted = ofPools.map((template) => ({ template, name: nameOf(template, organizations) }));
  sorted.sort(by(({ name }) => name));
  return readAll({ http, pools, organizations, signal }, sorted);
}

type TemplateReading = {
  readonly http: CoderdHttp;
  readonly pools: readonly Pool[];
  readonly organizations: readonly Organization[];
  readonly signal: AbortSignal;
};
type Named = { readonly template: ListedTemplate; readonly name: string };

async function readAll(reading: TemplateReading, named: readonly Named[]): Promise<TemplateSurvey> {
  const { http, signal } = reading;
  const versions = await settleAll(named, VERSIONS_AT_ONCE, ({ template }) =>
    readVersion(http, template.active_version_id, signal),
  );
  const wanted = named.map((each, index) => ({ ...each, version: versions[index] }));
  const isOther = ({ template, version }: (typeof wanted)[number]): boolean =>
    version?.status === 'fulfilled' && !isRunnable(reading, template, version.value.tags);
  const rest = wanted.filter((each) => !isOther(each));
  const locks = await settleAll(rest, FILES_AT_ONCE, async ({ version }): Promise<Locks> => {
    if (version?.status !== 'fulfilled') throw version?.reason;
    return locksIn(await lockFileInArchive(await readFile(http, version.value.fileId, signal)));
  });
  return {
    templates: rest.map(({ name }, index) => ({ name, locks: settled(locks[index]) })),
    others: wanted.filter(isOther).map(({ name }) => name),
  };
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

function isRunnable(
  { pools, organizations }: TemplateReading,
  template: ListedTemplate,
  tags: Readonly<Record<string, string>>,
): boolean {
  const organization = organizations.find(({ id }) => id === template.organization_id);
  return pools.some((pool) => isOf(pool, organization) && canRun(pool.tags, tags));
}

function isOf({ organization: named }: Pool, organization: Organization | undefined): boolean {
  return organization !== undefined && (named === organization.name || named === organization.id);
}

function nameOf({ name, organization_id: id }: ListedTemplate, organizations: readonly Organization[]) {
  const organization = organizations.find((each) => each.id === id)?.name ?? id;
  return organizations.length === 1 ? name : `${organization}/${name}`;
}

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

async function told<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof SecretError) throw new InputError(cause.message, { cause });
    throw new InputError(`${what}: ${messageOf(cause)}`, { cause });
  }
}
