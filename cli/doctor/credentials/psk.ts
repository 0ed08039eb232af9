/**
 * Checks what can be checked of a pre-shared key. coderd shows only to a daemon whether it accepts
 * the key (docs/internals/coder.md §3).
 */
import { readDefaultOrganization } from '../../../lambda/adapters/coderd/account.ts';
import { CoderdError } from '../../../lambda/adapters/coderd/http/http.ts';
import type { PoolConfig, SecretRef } from '../../../lambda/decision/model/config.ts';
import { type Check, fail, ok, skip, warn } from '../base/check.ts';
import { readSecret } from '../base/secret.ts';
import { type CredentialContext, READER } from './context.ts';

/** As a session token: 10 characters, a hyphen, 22 (docs/internals/coder.md §9). */
const TOKEN = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{22}$/;
const UNTRIED = 'Only a daemon can try the key: read the log of the first task';

export async function checkPsk(
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
