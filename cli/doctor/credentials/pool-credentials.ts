/** Checks the credential of each pool, and the pool's other secrets. */
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import { type Check, ok, skip } from '../base/check.ts';
import { readSecret } from '../base/secret.ts';
import { type CredentialContext, READER } from './context.ts';
import { judgeKey, readKey } from './key.ts';
import { checkManagedKey } from './managed-key.ts';
import { checkPsk } from './psk.ts';
import { checkUserToken } from './user-token.ts';

/** The checks of each pool, in the order of the pools. */
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
