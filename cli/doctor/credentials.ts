/** Checks the credential of each pool, and the pool's other secrets. */
import { readDefaultOrganization } from '../../lambda/adapters/coderd/account.ts';
import { CoderdError } from '../../lambda/adapters/coderd/http/http.ts';
import type { PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import { type Check, fail, ok, skip, warn } from './check.ts';
import { checkManagedKey, judgeKey, readKey } from './key.ts';
import { type CredentialContext, checkUserToken, READER, readSecret } from './token.ts';

export function checkCredentials(
  pools: readonly PoolConfig[],
  context: CredentialContext,
): Promise<readonly (readonly Check[])[]> {
  return Promise.all(
    pools.map(async (pool) => {
      const [own, others] = await Promise.all([
        checkCredential(pool, context),
        checkOtherSecrets(pool, context),
      ]);
      return [...own, ...others];
    }),
  );
}

async function checkCredential(pool: PoolConfig, context: CredentialContext): Promise<readonly Check[]> {
  const { auth } = pool;
  switch (auth.kind) {
    case 'key':
      return [judgeKey(pool, await readKey(auth.secret, context), await context.coder)];
    case 'managed':
      return [await checkManagedKey(pool, context)];
    case 'psk':
      return [await checkPsk(pool, auth.secret, context)];
    case 'token':
      return checkUserToken(pool, auth.secret, context);
  }
}

async function checkOtherSecrets(pool: PoolConfig, context: CredentialContext): Promise<readonly Check[]> {
  const { secrets, secretsBlocker } = context;
  const refs = Object.entries(pool.secrets);
  if (refs.length === 0) return [];
  if (secretsBlocker !== undefined) return [skip(`pool "${pool.name}": secrets`, secretsBlocker)];
  const readings = await Promise.all(
    refs.map(([variable, ref]) =>
      readSecret(secrets, ref, { name: `pool "${pool.name}": secret ${variable}`, reader: READER }),
    ),
  );
  const wrong = readings.flatMap((reading) => ('check' in reading ? [reading.check] : []));
  if (wrong.length > 0) return wrong;
  const variables = refs.map(([variable]) => variable).join(', ');
  return [ok(`pool "${pool.name}": secrets`, `${variables} readable`)];
}

/** As a session token: 10 characters, a hyphen, 22 (docs/internals/coder.md §9). */
const TOKEN = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{22}$/;
const UNTRIED = 'Only a daemon can try the key: read the log of the first task';

/** coderd shows only to a daemon whether it accepts a pre-shared key (docs/internals/coder.md §3). */
async function checkPsk(
  { name: pool, organization }: PoolConfig,
  ref: SecretRef,
  { coderd, secrets, secretsBlocker, readBlocker }: CredentialContext,
): Promise<Check> {
  const name = `pool "${pool}": psk`;
  if (secretsBlocker !== undefined) return skip(name, secretsBlocker);
  const reading = await readSecret(secrets, ref, { name, reader: READER });
  if ('check' in reading) return reading.check;
  if (reading.value.matches(TOKEN))
    return fail(name, `secret "${ref.secret}" holds a session token. Write token instead of psk`);
  const readable = `secret "${ref.secret}" is readable`;
  if (readBlocker !== undefined) return ok(name, `${readable} (organization not compared). ${UNTRIED}`);
  try {
    const accepted = await readDefaultOrganization(coderd);
    return accepted === undefined || [accepted.id, accepted.name].includes(organization)
      ? ok(name, `${readable}, and "${organization}" is the default organization. ${UNTRIED}`)
      : fail(
          name,
          `coderd accepts the pre-shared key for its default organization "${accepted.name}" only, but the pool is in "${organization}". Use a provisioner key`,
        );
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    return warn(name, `${readable}, but the default organization is unknown: ${cause.message}`);
  }
}
