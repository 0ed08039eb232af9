/** Checks the user's token of a pool: its user, what that user may do, and when it expires. */
import { readMayRunDaemons, readUser, type User } from '../../../lambda/adapters/coderd/account.ts';
import { CoderdError, type CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import { tokenId } from '../../../lambda/adapters/coderd/token-expiry.ts';
import type { PoolConfig, SecretRef } from '../../../lambda/decision/model/config.ts';
import { type Check, fail, ok, skip, warn } from '../base/check.ts';
import { organizationOf } from '../base/organizations.ts';
import { readSecret } from '../base/secret.ts';
import { type CredentialContext, READER } from './context.ts';
import { checkExpiry, RENEW } from './token.ts';

export async function checkUserToken(
  pool: PoolConfig,
  ref: SecretRef,
  context: CredentialContext,
): Promise<readonly Check[]> {
  const name = `pool "${pool.name}": token`;
  const expiry = `${name} expiry`;
  const { secrets, secretsBlocker, blocker } = context;
  const failed = (check: Check) => [check, skip(expiry, name)];
  if (secretsBlocker !== undefined) return failed(skip(name, secretsBlocker));
  const reading = await readSecret(secrets, ref, { name, reader: READER });
  if ('check' in reading) return failed(reading.check);
  const id = tokenId(reading.value);
  if (id === undefined)
    return failed(fail(name, `"${ref.secret}" holds no session token of the form <id>-<secret>. ${RENEW}`));
  if (blocker !== undefined) return failed(skip(name, blocker));
  const http = context.coderd.withToken(reading.value);
  const user = await tryUser(http, name);
  if ('status' in user) return failed(user);
  return Promise.all([
    judge(pool, user, { name, http, coder: await context.coder }),
    checkExpiry(http, { id, now: context.now, name: expiry }),
  ]);
}

async function tryUser(http: CoderdHttp, name: string): Promise<User | Check> {
  try {
    return await readUser(http);
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    return cause.code === 'unauthorized'
      ? fail(name, `${cause.message}. ${RENEW}`)
      : warn(name, `the token could not be tried: ${cause.message}`);
  }
}

type Asked = {
  readonly name: string;
  readonly http: CoderdHttp;
  readonly coder: Awaited<CredentialContext['coder']>;
};

async function judge(pool: PoolConfig, user: User, asked: Asked): Promise<Check> {
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
