/** Reads from coderd what a configuration is made of. Changes nothing in coderd. */
import { readUser, type User } from '../../lambda/adapters/coderd/account.ts';
import { CoderdAdapter, ROLE, refuseOldServer } from '../../lambda/adapters/coderd/coderd.ts';
import { readRefused } from '../../lambda/adapters/coderd/forecast/permissions.ts';
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { buildInfoSchema } from '../../lambda/adapters/coderd/http/schemas.ts';
import { SecretError } from '../../lambda/adapters/secrets/secrets.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { plainLine } from '../../lambda/explain/format.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { readTemplateTags, type TemplateTags } from '../adapters/templates.ts';
import { InputError } from '../shared/cli-environment.ts';

/** Limits the reading of all templates: each has one request. */
const TEMPLATES_MS = MINUTE_MS;

export type Account = {
  readonly version: string;
  readonly user: User;
  readonly organizations: readonly Organization[];
};

/** `whose`: where the token is from. Throws InputError. */
export async function readAccount(
  http: CoderdHttp,
  { whose, ...asked }: Asked & { readonly whose: string },
): Promise<Account> {
  const readVersion = async (): Promise<string> => {
    // without the token: an unreadable token must not hide an unreachable coderd
    const { value } = await http.getAs('/api/v2/buildinfo', {}, buildInfoSchema);
    refuseOldServer(value);
    return plainLine(value.version);
  };
  const version = await told('reading the version of coderd', readVersion, asked);
  const user = await told(`reading the user of ${whose}`, () => readUser(http), asked);
  const { status, error, items } = await new CoderdAdapter(http).organizations();
  if (status === 'ok') return { version, user, organizations: items };
  throw new InputError(error ?? `the list of organizations is ${status}`);
}

/** The release in coderd's version, such as `v2.34.0`; undefined for development builds. */
export const releaseOf = (version: string): string | undefined =>
  /^v\d+\.\d+\.\d+(?=$|\+)/.exec(version)?.[0];

/** The organizations with these names, or all. Throws InputError if coderd does not list one. */
export function chooseOrganizations(
  { organizations }: Account,
  names: readonly string[],
): readonly Organization[] {
  const listed = organizations.map(({ name }) => name).sort();
  const missing = names.find((name) => !listed.includes(name));
  if (missing !== undefined || listed.length === 0)
    throw new InputError(
      `choosing organizations: coderd lists ${missing === undefined ? 'none' : `no "${missing}"`} for this token; it lists ${listed.join(', ') || 'nothing'}. Add the token's user to the organization, or name another one`,
    );
  return organizations.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** An organization with the templates whose tags could be read, and those that could not. */
export type OrganizationTemplates = {
  readonly organization: Organization;
  readonly templates: readonly TemplateTags[];
};

/** Throws InputError if a role is missing: coderd would leave out the templates and report no error. */
export async function readTemplates(
  http: CoderdHttp,
  organizations: readonly Organization[],
): Promise<readonly OrganizationTemplates[]> {
  const signal = AbortSignal.timeout(TEMPLATES_MS);
  const refused = await readRefused(http, organizations, signal);
  const hidden = organizations.filter(({ id }) => refused('template', id)).map(({ name }) => `"${name}"`);
  if (hidden.length > 0)
    throw new InputError(
      `listing templates of ${hidden.join(', ')}: coderd does not let the token's user read them; ${ROLE}. Or leave the organization out: name the others with --organization`,
    );
  const all = await told('listing templates', () => readTemplateTags(http, signal));
  return organizations.map((organization) => ({
    organization,
    templates: all.filter((template) => template.organization === organization.id),
  }));
}

/** Turns an error of coderd or Secrets Manager into an InputError that begins with `what`. */
async function told<T>(what: string, read: () => Promise<T>, asked: Asked = {}): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof SecretError) throw new InputError(`${cause.message}. ${ADVICE}`, { cause });
    if (cause instanceof CoderdError)
      throw new InputError(`${what}: ${meant(cause, asked).replace(/\.$/, '')}${adviceFor(cause, asked)}`, {
        cause,
      });
    throw new InputError(`${what}: ${messageOf(cause)}`, { cause });
  }
}

const FLAG = '--url';
const RENEWAL = 'Create a new token (docs/deploy.md)';

type Asked = {
  /** What to do if coderd refuses the token. @default to create another one */
  readonly renewal?: string;
  /** What gave coderd's URL: `coder.url` of the configuration, or another. @default '--url' */
  readonly from?: string;
};

function adviceFor({ code }: CoderdError, { renewal = RENEWAL, from = FLAG }: Asked): string {
  if (code === 'unauthorized') return `. ${renewal}`;
  return code === 'not-found' ? `; check that ${from} is the URL of coderd` : '';
}

const ADVICE = 'Store the token there, or set CODER_SESSION_TOKEN to it for this command (docs/deploy.md)';

/** Without a configuration settings are flags; and the token may come from the shell. */
function meant({ said }: CoderdError, { from = FLAG }: Asked): string {
  return from === 'coder.url'
    ? said
    : said.replaceAll('coder.url', from).replaceAll('coder.proxy', '--proxy');
}
