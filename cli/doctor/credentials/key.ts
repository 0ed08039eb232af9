/** Checks a provisioner key: that coderd accepts it, its organization and its tags. */
import { type ProvisionerKey, readProvisionerKey } from '../../../lambda/adapters/coderd/account.ts';
import { CoderdError } from '../../../lambda/adapters/coderd/http/http.ts';
import type { PoolConfig, SecretRef } from '../../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { displayTags, tagKey, withoutEmpty } from '../../../lambda/decision/model/tags.ts';
import { tagText } from '../../../lambda/explain/format.ts';
import { createKeyCommand } from '../../shared/credential-commands.ts';
import { type Check, fail, ok, skip } from '../base/check.ts';
import { isOpenSource, LICENCE } from '../base/licence.ts';
import { organizationOf } from '../base/organizations.ts';
import { readSecret } from '../base/secret.ts';
import { type CredentialContext, nameOfKey, READER } from './context.ts';

export type KeyReading =
  | { readonly key: ProvisionerKey }
  | { readonly needs: string }
  | {
      readonly status: Exclude<Check['status'], 'ok'>;
      readonly says: string;
      /** The pool needs another key. */
      readonly isRefused?: boolean;
    };

export async function readKey(
  ref: SecretRef,
  context: Pick<CredentialContext, 'coderd' | 'secrets' | 'blocker' | 'secretsBlocker'>,
): Promise<KeyReading> {
  const { coderd, secrets, blocker, secretsBlocker } = context;
  if (secretsBlocker !== undefined) return { needs: secretsBlocker };
  const reading = await readSecret(secrets, ref, { name: '', reader: READER });
  if ('check' in reading)
    return { status: reading.check.status === 'warn' ? 'warn' : 'FAIL', says: reading.check.says };
  if (blocker !== undefined) return { needs: blocker };
  try {
    return { key: await readProvisionerKey(coderd, reading.value) };
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    if (isOpenSource(cause)) return { needs: LICENCE };
    const { message } = cause;
    if (cause.code === 'unreachable' || cause.code === 'rate-limited')
      return { status: 'warn', says: `the key in secret "${ref.secret}" could not be tried: ${message}` };
    const says = `the key in secret "${ref.secret}" is not accepted: ${message}`;
    // coderd's text for an unknown key: other errors may be temporary
    return { status: 'FAIL', says, isRefused: message.includes('provisioner daemon key invalid') };
  }
}

export function judgeKey(pool: PoolConfig, reading: KeyReading, coder: Snapshot['coder'] | undefined): Check {
  const name = nameOfKey(pool);
  if ('needs' in reading) return skip(name, reading.needs);
  if (!('key' in reading))
    return {
      name,
      status: reading.status,
      says: reading.isRefused ? `${reading.says}. ${renewalAdvice(pool)}` : reading.says,
    };
  const { key } = reading;
  const organization = coder === undefined ? undefined : organizationOf(coder, pool.organization);
  if (key.tags?.scope === 'user')
    return fail(
      name,
      `key "${key.name}" has the tag scope=user, so its daemons run no jobs of the organization. ${renewalAdvice(pool)}`,
    );
  if (organization !== undefined && key.organization !== organization.id)
    return fail(
      name,
      `key "${key.name}" belongs to organization ${nameOf(key, coder)}, but the pool to "${pool.organization}". ${renewalAdvice(pool)}`,
    );
  if (tagKey(withoutEmpty(key.tags ?? {})) !== tagKey(pool.tags))
    return fail(
      name,
      `key "${key.name}" has ${shown(key.tags ?? {})}, but the pool ${shown(pool.tags)}. ${renewalAdvice(pool)}, or correct the pool's tags`,
    );
  // the check of the organization reports that it could not be read
  const compared = organization === undefined ? 'tags (organization not compared)' : 'organization and tags';
  return ok(name, `key "${key.name}" has the pool's ${compared}`);
}

function nameOf({ organization }: ProvisionerKey, coder: Snapshot['coder'] | undefined): string {
  const known = coder === undefined ? undefined : organizationOf(coder, organization);
  return known === undefined ? organization : `"${known.name}"`;
}

const shown = (tags: PoolConfig['tags']): string => `tags ${tagText(displayTags(tags))}`;

/** docs/internals/coder.md §3: a key's tags can't be changed. */
export function renewalAdvice({ name, organization, tags, auth }: PoolConfig): string {
  if (auth.kind === 'psk' || auth.kind === 'token')
    return `Correct the credential in secret "${auth.secret.secret}"`;
  if (auth.kind === 'managed')
    return `Replace it: autoscaler keys rotate ${name}. If that does not help, deploy the stack again`;
  return `Create a key (${createKeyCommand({ name, organization, tags })}) and put it into secret "${auth.secret.secret}"`;
}
