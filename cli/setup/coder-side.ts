/** coderd with the session of a person: what setup reads, and the users and tokens that it makes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { describeAnswer } from '../../lambda/adapters/coderd/http/answer.ts';
import { CoderdHttp, type Question } from '../../lambda/adapters/coderd/http/http.ts';
import { namedMemberRows } from '../../lambda/adapters/coderd/http/lists.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { time } from '../../lambda/adapters/shared/time.ts';
import { coderUrlProblem } from '../../lambda/config/schema/coder-schema.ts';
import { systemClock } from '../../lambda/connect.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { needsServiceAccounts } from '../../lambda/decision/model/version.ts';
import { CoderdKeys } from '../../lambda/keys/adapters/coderd-keys.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { readJobsSince } from '../adapters/history.ts';
import { readAccount } from '../draft/survey.ts';
import { InputError } from '../shared/cli-environment.ts';
import { SHELL_TOKEN } from '../shared/credential-commands.ts';
import { shellLine } from '../shared/shell-words.ts';
import type { CoderSeen, Seen } from './situation.ts';

/** A person waits at the terminal. */
const ANSWER_MS = 10_000;
const HISTORY_DAYS = 7;
/** A shorter history says nothing about a month. */
const LEAST_DAYS = 2;
const NANOSECONDS = 1e9;
const YEAR_S = 365 * 24 * 3600;

const jobSchema = z.object({ created_at: time });
const tokenSchema = z.object({ key: z.string().min(1) });
const keySchema = z.object({ id: z.string().min(1), created_at: time });
/** A setup that has just made a token is about to store it. */
const FRESH_MS = 30_000;
/** Nanoseconds. */
const tokenConfigSchema = z.object({ max_token_lifetime: z.number().positive().nullish() });

export class CoderSide {
  readonly #http: CoderdHttp;
  readonly #url: string;
  readonly #from: string;
  readonly #buildsOf = new Map<string, readonly EpochMs[]>();
  readonly keys: CoderdKeys;

  constructor(
    { url, token, from }: Session,
    tls: { readonly proxy?: string | undefined; readonly caBundle?: string | undefined },
  ) {
    this.#from = from;
    this.#url = url;
    this.#http = new CoderdHttp({ url, ...tls, wholeMs: ANSWER_MS, token: { read: async () => token } });
    this.keys = new CoderdKeys((request) => this.#http.answer(request), systemClock);
  }

  /** Never throws: a coderd that does not answer is a problem to show. */
  async look(users: readonly string[], now: EpochMs): Promise<Seen<CoderSeen>> {
    try {
      const { version, user, organizations } = await readAccount(this.#http, {
        whose: 'your session',
        from: this.#from,
        renewal: `Run: ${shellLine(['coder', 'login', this.#url])}. And unset CODER_SESSION_TOKEN, or give it a new token`,
      });
      const [exist, roles, jobs] = await Promise.all([
        Promise.all(users.map((name) => this.#exists(name))),
        Promise.all(organizations.map((each) => this.#rolesIn(each, users))),
        Promise.all(organizations.map((each) => this.#builds(each, version, now))),
      ]);
      const value = {
        url: this.#url,
        version,
        user: user.name,
        isOwner: user.isOwner,
        organizations,
        users: new Set(users.filter((_, index) => exist[index])),
        roles: new Map(organizations.map(({ id }, index) => [id, roles[index] ?? new Map()])),
        buildsPerDay: buildsPerDay(jobs.flat(), now),
      };
      return { value };
    } catch (cause) {
      return { problem: messageOf(cause) };
    }
  }

  /** Creates a user that cannot sign in. `version`: of coderd; undefined: unknown. */
  async createUser(name: string, { id }: Organization, version: string | undefined): Promise<void> {
    const kind = needsServiceAccounts(version) ? { service_account: true } : { email: `${name}@example.com` };
    const body = { username: name, ...kind, login_type: 'none', organization_ids: [id] };
    await this.#change(`creating the user ${name}`, 'POST', '/users', body, [409]);
  }

  async addMember(name: string, { id, name: organization }: Organization): Promise<void> {
    const doing = `adding ${name} to the organization ${organization}`;
    await this.#change(doing, 'POST', `/organizations/${id}/members/${name}`, {});
  }

  async setRoles(
    name: string,
    { id, name: organization }: Organization,
    roles: readonly string[],
  ): Promise<void> {
    const doing = `giving ${name} its role in the organization ${organization}`;
    await this.#change(doing, 'PUT', `/organizations/${id}/members/${name}/roles`, { roles });
  }

  /**
   * Valid for a year, or as long as coderd allows. One of this name is what a killed setup left, or what
   * another one is about to store: then it throws InputError.
   */
  async createToken(user: string, token_name: string, now: EpochMs): Promise<Secret> {
    const left = await this.#http.answer({
      method: 'GET',
      path: `/api/v2/users/${user}/keys/tokens/${token_name}`,
    });
    if (left.statusCode === 200) {
      const { id, created_at } = keySchema.parse(parseQuietly(left.text));
      if (Math.abs(now - created_at) < FRESH_MS)
        throw new InputError(
          `creating a token of ${user}: a setup made one seconds ago. If another setup runs, let it end. Else run setup again in ${FRESH_MS / 1000} s`,
        );
      await this.#deleteToken(user, id);
    }
    const { max_token_lifetime: most } = await this.#tokenConfig(user);
    const seconds = Math.min(
      YEAR_S,
      Math.floor((most ?? Number.MAX_SAFE_INTEGER * NANOSECONDS) / NANOSECONDS),
    );
    const body = { token_name, lifetime: seconds * NANOSECONDS };
    const answer = await this.#change(
      `creating a token of ${user}`,
      'POST',
      `/users/${user}/keys/tokens`,
      body,
    );
    return new Secret(tokenSchema.parse(answer).key);
  }

  /** Deletes a token that could not be stored. Its id is the part before the hyphen. */
  async deleteToken(user: string, token: Secret): Promise<void> {
    const [id = ''] = token.reveal().split('-');
    await this.#deleteToken(user, id);
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  async #deleteToken(user: string, id: string): Promise<void> {
    await this.#change(`deleting a token of ${user}`, 'DELETE', `/users/${user}/keys/${id}`, undefined);
  }

  async #exists(name: string): Promise<boolean> {
    const { statusCode } = await this.#http.answer({ method: 'GET', path: `/api/v2/users/${name}` });
    return statusCode === 200;
  }

  /** Without the right to read members, coderd leaves them out. */
  async #rolesIn({ id }: Organization, users: readonly string[]) {
    const path = `/api/v2/organizations/${id}/members`;
    const { statusCode, text } = await this.#http.answer({ method: 'GET', path });
    const members = statusCode === 200 ? namedMemberRows.safeParse(parseQuietly(text)).data : undefined;
    const own = (members?.items ?? []).filter(({ username }) => users.includes(username));
    return new Map(own.map(({ username, roles }) => [username, (roles ?? []).map(({ name }) => name)]));
  }

  /** Read once, as setup looks again after each step. */
  async #builds(organization: Organization, version: string, now: EpochMs): Promise<readonly EpochMs[]> {
    const known = this.#buildsOf.get(organization.id);
    if (known !== undefined) return known;
    const since = plusMs(now, -HISTORY_DAYS * DAY_MS);
    const read = readJobsSince(this.#http, organization, { since, build: { version }, schema: jobSchema });
    const { jobs } = await read.catch(() => ({ jobs: [] }));
    const builds = jobs.map(({ created_at }) => created_at);
    this.#buildsOf.set(organization.id, builds);
    return builds;
  }

  async #tokenConfig(user: string) {
    const path = `/api/v2/users/${user}/keys/tokens/tokenconfig`;
    const { text } = await this.#http.answer({ method: 'GET', path });
    return tokenConfigSchema.safeParse(parseQuietly(text)).data ?? {};
  }

  /** Sends one change, once. Throws InputError if coderd refuses it. */
  async #change(
    doing: string,
    method: Question['method'],
    path: string,
    body: object | undefined,
    fine: readonly number[] = [],
  ): Promise<unknown> {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await this.#http.answer({ method, path: `/api/v2${path}`, once: true, ...content });
    if (answer.statusCode < 300 || fine.includes(answer.statusCode)) return parseQuietly(answer.text);
    throw new InputError(`${doing}: ${describeAnswer(answer)}`);
  }
}

/** Builds on a working day, five of which are in a week. */
function buildsPerDay(createdAt: readonly EpochMs[], now: EpochMs): number | undefined {
  const days = (now - Math.min(now, ...createdAt)) / DAY_MS;
  return days < LEAST_DAYS ? undefined : Math.round((createdAt.length / days) * (7 / 5));
}

/** `from`: what gave the URL, such as `CODER_URL`. */
export type Session = { readonly url: string; readonly token: Secret; readonly from: string };

type Variables = Readonly<Record<string, string | undefined>>;

/** `url`: the coderd that is meant. A token from the file of `coder login` is for the URL beside it only. */
export function findSession(url: string | undefined, environment: Variables): Seen<Session> {
  const folder = configFolder(environment);
  const login = { url: textOf(folder, 'url'), token: textOf(folder, 'session') };
  const meant = withoutSlash(url ?? environment.CODER_URL?.trim() ?? login.url ?? '');
  if (meant === '')
    return {
      problem:
        'no URL of coderd is known. Run: coder login https://coder.example.com. Or set CODER_URL and CODER_SESSION_TOKEN',
    };
  const from = url !== undefined ? '--url' : environment.CODER_URL ? 'CODER_URL' : 'the URL of coder login';
  // before the token travels, and before a configuration has it
  const wrong = coderUrlProblem(meant);
  if (wrong !== undefined) return { problem: `${from} ${wrong}` };
  const isOwn = withoutSlash(login.url ?? '') === meant;
  const token = environment.CODER_SESSION_TOKEN?.trim() || (isOwn ? login.token : undefined);
  if (token !== undefined) return { value: { url: meant, token: new Secret(token), from } };
  return {
    problem: `nobody is signed in to ${meant}. Run: ${shellLine(['coder', 'login', meant])}. If coder keeps its token in the keyring, run: export CODER_SESSION_TOKEN=${SHELL_TOKEN}`,
  };
}

/** Where the command `coder` keeps its files. */
function configFolder({ CODER_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA, HOME = '' }: Variables): string {
  if (CODER_CONFIG_DIR) return CODER_CONFIG_DIR;
  if (process.platform === 'darwin') return join(HOME, 'Library', 'Application Support', 'coderv2');
  if (process.platform === 'win32') return join(APPDATA ?? '', 'coderv2');
  return join(XDG_CONFIG_HOME || join(HOME, '.config'), 'coderv2');
}

function textOf(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
