/** Reads secrets with the person's permissions, and checks tokens: of the autoscaler, pools, key function. */
import { readMayRunDaemons, readUser, type User } from '../../lambda/adapters/coderd/account.ts';
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { readExpiry, tokenId } from '../../lambda/adapters/coderd/token-expiry.ts';
import { SecretError, type Secrets } from '../../lambda/adapters/secrets/secrets.ts';
import type { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { Clients } from '../../lambda/connect.ts';
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { some, timeText } from '../../lambda/explain/format.ts';
import { type Check, type Checked, fail, ok, skip, warn } from './check/check.ts';
import { organizationOf } from './coderd.ts';
import { flawOfCredential, flawOfVariable } from './injected.ts';

/** Who reads a pool's credential in production. */
export const READER = "the tasks' execution role";

export type CredentialContext = Pick<Clients, 'coderd' | 'secrets'> & {
  /** Undefined if coderd could not be read. */
  readonly coder: Promise<Snapshot['coder'] | undefined>;
  readonly now: EpochMs;
  /** The failed check without which no credential can be tried. */
  readonly blocker: string | undefined;
  /** The failed check without which coderd cannot be read with the autoscaler's own token. */
  readonly readBlocker: string | undefined;
  /** The failed check without which no secret can be read. */
  readonly secretsBlocker: string | undefined;
};

/** The value, or the check that says why there is none. */
type SecretReading =
  | { readonly value: Secret }
  | {
      readonly check: Check;
      /** This machine cannot read any secret: its Region, credentials or network are missing. */
      readonly isEverywhere: boolean;
    };

type Wanted = {
  readonly name: string;
  /** The role that reads it in production. With `READER` the value is judged as a container gets it. */
  readonly reader: string;
  /** @default a credential that a daemon sends to coderd */
  readonly holds?: 'variable';
};

/** Reads a secret. */
export async function readSecret(
  secrets: Secrets,
  ref: SecretRef,
  { name, reader, holds }: Wanted,
): Promise<SecretReading> {
  try {
    const value = await secrets.read(ref);
    if (reader !== READER) return { value };
    const raw = await secrets.readAsStored(ref);
    const flaw = holds === undefined ? flawOfCredential(raw, ref) : flawOfVariable(raw, ref);
    if (flaw === undefined) return { value };
    return { check: holds === undefined ? fail(name, flaw) : warn(name, flaw), isEverywhere: false };
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    if (cause.code !== 'denied')
      return { check: fail(name, cause.message), isEverywhere: cause.code === 'unreachable' };
    return {
      isEverywhere: false,
      check: warn(
        name,
        `not checked: you have no permission to read secret "${ref.secret}". In production ${reader} reads it. For this check you need secretsmanager:GetSecretValue, and kms:Decrypt if the secret has its own key`,
      ),
    };
  }
}

/** Reads a session token: its id and value, or the check that says why there is none. */
export async function readToken(...given: Parameters<typeof readSecret>) {
  const [, { secret }, { name }] = given;
  const reading = await readSecret(...given);
  if ('check' in reading) return reading;
  const id = tokenId(reading.value);
  if (id !== undefined) return { id, value: reading.value };
  const says = `"${secret}" holds no session token of the form <id>-<secret>. ${RENEW}`;
  return { check: fail(name, says), isEverywhere: false };
}

export const SECRET = 'token secret';
const VALID = 'token valid';
const EXPIRY = 'token expiry';

const SOON_DAYS = 14;
export const RENEW = 'Create a new token (coder tokens create --lifetime 8760h) and put it into the secret';

/** The token's secret. The value is the token's id. */
export type TokenSecret = Checked<string> & {
  /** What makes all secrets unreadable on this machine, if anything does. */
  readonly everywhere?: string;
};

export async function checkTokenSecret(secrets: Secrets, ref: SecretRef): Promise<TokenSecret> {
  const reading = await readToken(secrets, ref, { name: SECRET, reader: "the function's role" });
  if ('id' in reading)
    return { checks: [ok(SECRET, `"${ref.secret}" is readable with your permissions`)], value: reading.id };
  const { check, isEverywhere } = reading;
  return { checks: [check], blocker: SECRET, ...(isEverywhere ? { everywhere: check.says } : {}) };
}

export async function checkToken(
  http: CoderdHttp,
  server: Checked<{ readonly now: EpochMs }>,
  secret: Checked<string>,
): Promise<Checked<true>> {
  if ('blocker' in server) return blocked(server.blocker);
  if ('blocker' in secret) return blocked(secret.blocker);
  try {
    const { name, isOwner } = await readUser(http);
    const user = isOwner ? warn(VALID, owner(name)) : ok(VALID, `coderd accepts it; its user is "${name}"`);
    return {
      checks: [user, await checkExpiry(http, { id: secret.value, now: server.value.now })],
      value: true,
    };
  } catch (cause) {
    const message = messageOf(cause);
    const expired = /expired at "([^"]*)"/.exec(message)?.[1];
    const expiry =
      expired === undefined ? skip(EXPIRY, VALID) : fail(EXPIRY, `expired at ${timeText(expired)}. ${RENEW}`);
    return { checks: [fail(VALID, message), expiry], blocker: VALID };
  }
}

const blocked = (blocker: string): Checked<never> => ({
  checks: [skip(VALID, blocker), skip(EXPIRY, blocker)],
  blocker,
});

const owner = (name: string): string =>
  `user "${name}" is an owner. An owner's token may do everything and expires after 7 days by default. Create the token for a user with the organization template admin role`;

/** `name`: of the check. @default that of the autoscaler's own token */
export async function checkExpiry(
  http: CoderdHttp,
  { id, now, name = EXPIRY }: { readonly id: string; readonly now: EpochMs; readonly name?: string },
): Promise<Check> {
  try {
    const expiresAt = await readExpiry(http, { id, now });
    if (expiresAt === undefined) return ok(name, 'coderd extends it with each use');
    const days = Math.floor((expiresAt - now) / DAY_MS);
    const says = `expires at ${timeText(isoTime(expiresAt))}, in ${some(days, 'day')}`;
    return days < SOON_DAYS ? warn(name, `${says}. ${RENEW}`) : ok(name, says);
  } catch (cause) {
    return warn(name, `unknown: ${messageOf(cause)}. Check it in coderd, in the tokens of its user`);
  }
}

export async function checkUserToken(
  pool: PoolConfig,
  ref: SecretRef,
  context: CredentialContext,
): Promise<readonly Check[]> {
  const name = `pool "${pool.name}": token`;
  const expiry = `${name} expiry`;
  const { secrets, secretsBlocker, blocker, now } = context;
  const failed = (check: Check) => [check, skip(expiry, name)];
  if (secretsBlocker !== undefined) return failed(skip(name, secretsBlocker));
  const reading = await readToken(secrets, ref, { name, reader: READER });
  if ('check' in reading) return failed(reading.check);
  if (blocker !== undefined) return failed(skip(name, blocker));
  const http = context.coderd.withToken(reading.value);
  const user = await tryUser(http, name);
  if ('status' in user) return failed(user);
  return Promise.all([
    judgeUser(pool, user, { name, http, coder: await context.coder }),
    checkExpiry(http, { id: reading.id, now, name: expiry }),
  ]);
}

async function tryUser(http: CoderdHttp, name: string): Promise<User | Check> {
  try {
    return await readUser(http);
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    return cause.code === 'unauthorized'
      ? fail(name, `${cause.said}. ${RENEW}`)
      : warn(name, `the token could not be tried: ${cause.message}`);
  }
}

type Asked = {
  readonly name: string;
  readonly http: CoderdHttp;
  readonly coder: Awaited<CredentialContext['coder']>;
};

async function judgeUser(pool: PoolConfig, user: User, asked: Asked): Promise<Check> {
  const { name } = asked;
  const { scope, owner } = pool.tags;
  const wrong =
    scope === 'user' ? wrongOwner(user, owner) : await wrongRights(pool.organization, user, asked);
  if (wrong !== undefined) return wrong.isKnown ? fail(name, wrong.says) : warn(name, wrong.says);
  if (user.roles.length > 0) return warn(name, tooMuch(user));
  const may = scope === 'user' ? 'owns the jobs of the pool' : 'may run daemons of the organization';
  return ok(name, `coderd accepts it; its user "${user.name}" ${may}`);
}

type Wrong = { readonly says: string; readonly isKnown: boolean };

/** docs/internals/coder.md §3: coderd takes the owner from the token. */
function wrongOwner({ id, name }: User, owner: string | undefined): Wrong | undefined {
  if (id === owner) return undefined;
  const says = `its user is "${name}", so coderd gives its daemons the owner ${id}, but tags.owner is ${owner}. Write owner: ${id}, or use a token of the other user`;
  return { says, isKnown: true };
}

async function wrongRights(
  organization: string,
  { name }: User,
  { http, coder }: Asked,
): Promise<Wrong | undefined> {
  const known = coder === undefined ? undefined : organizationOf(coder, organization);
  if (known === undefined)
    return { says: `coderd accepts it, but organization "${organization}" is unknown`, isKnown: false };
  try {
    if (await readMayRunDaemons(http, known.id)) return undefined;
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    return { says: `the rights of user "${name}" are unknown: ${cause.message}`, isKnown: false };
  }
  const says = `user "${name}" may not run daemons of organization "${organization}", so coderd refuses them with 403. Give the user the role organization template admin there, or use a provisioner key`;
  return { says, isKnown: true };
}

function tooMuch({ name, roles }: User): string {
  return `user "${name}" has the role ${roles.join(', ')}, and templates of this pool can read the token. Use the token of a user without such roles`;
}
