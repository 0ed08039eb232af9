/** Checks the credential of each pool, and the pool's other secrets. */
import {
  type ProvisionerKey,
  readDefaultOrganization,
  readProvisionerKey,
} from '../../lambda/adapters/coderd/account.ts';
import { CoderdError } from '../../lambda/adapters/coderd/http/http.ts';
import type { PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { displayTags, tagKey, withoutEmpty } from '../../lambda/decision/model/tags.ts';
import { tagText } from '../../lambda/explain/format.ts';
import { createKeyCommand } from '../shared/credential-commands.ts';
import { type Check, fail, ok, skip, warn } from './check/check.ts';
import { isOpenSource, LICENCE, organizationOf } from './coderd.ts';
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
      // the key function's own check tries it
      return [];
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
      readSecret(secrets, ref, {
        ...{ name: `pool "${pool.name}": secret ${variable}`, reader: READER, holds: 'variable' as const },
      }),
    ),
  );
  const wrong = readings.flatMap((reading) => ('check' in reading ? [reading.check] : []));
  if (wrong.length > 0) return wrong;
  const variables = refs.map(([variable]) => variable).join(', ');
  return [ok(`pool "${pool.name}": secrets`, `${variables} readable with your permissions`)];
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
  const readable = `secret "${ref.secret}" is readable with your permissions`;
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

const nameOfKey = ({ name }: PoolConfig): string => `pool "${name}": key`;

type KeyReading =
  | { readonly key: ProvisionerKey }
  | { readonly needs: string }
  | {
      readonly status: Exclude<Check['status'], 'ok'>;
      readonly says: string;
      /** The pool needs another key. */
      readonly isRefused?: boolean;
    };

async function readKey(
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

function judgeKey(pool: PoolConfig, reading: KeyReading, coder: Snapshot['coder'] | undefined): Check {
  const name = nameOfKey(pool);
  if ('needs' in reading) return skip(name, reading.needs);
  if (!('key' in reading)) {
    const { status, says, isRefused } = reading;
    return { name, status, says: isRefused ? `${says}. ${renewalAdvice(pool)}` : says };
  }
  const { key } = reading;
  const organization = coder === undefined ? undefined : organizationOf(coder, pool.organization);
  const refuse = (says: string, or = ''): Check =>
    fail(name, `key "${key.name}" ${says}. ${renewalAdvice(pool)}${or}`);
  if (key.tags?.scope === 'user')
    return refuse('has the tag scope=user, so its daemons run no jobs of the organization');
  if (organization !== undefined && key.organization !== organization.id)
    return refuse(`belongs to organization ${nameOf(key, coder)}, but the pool to "${pool.organization}"`);
  if (tagKey(withoutEmpty(key.tags ?? {})) !== tagKey(pool.tags))
    return refuse(
      `has ${shown(key.tags ?? {})}, but the pool ${shown(pool.tags)}`,
      ", or correct the pool's tags",
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
