/** Checks a provisioner key and, if the stack manages it, its secret and the tag with its id. */
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type ProvisionerKey, readProvisionerKey } from '../../lambda/adapters/coderd/account.ts';
import { CoderdError } from '../../lambda/adapters/coderd/http/http.ts';
import { EACH_TRY, endingWith } from '../../lambda/adapters/shared/aws-calls.ts';
import type { PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { displayTags, tagKey, withoutEmpty } from '../../lambda/decision/model/tags.ts';
import { tagText } from '../../lambda/explain/format.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import type { SecretInfo } from '../../lambda/keys/model/ports.ts';
import { PATIENT } from '../shared/aws-advice.ts';
import { createKeyCommand } from '../shared/credential-commands.ts';
import { type Check, fail, ok, skip, warn } from './check.ts';
import { isOpenSource, LICENCE, organizationOf } from './coderd.ts';
import { type CredentialContext, READER, readSecret } from './token.ts';

const nameOfKey = ({ name }: PoolConfig): string => `pool "${name}": key`;

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

const CURRENT = 'AWSCURRENT';

export async function checkManagedKey(pool: PoolConfig, context: CredentialContext): Promise<Check> {
  const name = nameOfKey(pool);
  if (context.secretsBlocker !== undefined) return skip(name, context.secretsBlocker);
  const stack = stackOf(pool, context.services);
  if (stack === undefined) return skip(name, serviceCheckOf(pool, context.services));
  const found = await findSecret(pool, stack, context.until);
  return 'says' in found ? found : judgeManaged(pool, found, context);
}

async function judgeManaged(
  pool: PoolConfig,
  secret: SecretInfo,
  context: CredentialContext,
): Promise<Check> {
  const name = nameOfKey(pool);
  if (!secret.versions.some(({ stages }) => stages.includes(CURRENT)))
    return fail(
      name,
      `secret "${secret.name}" has no value: the key function has not created the key. Run autoscaler keys check, and read the log of the key function`,
    );
  const reading = await readKey({ secret: secret.id, jsonKey: 'key' }, context);
  const check = judgeKey(pool, reading, await context.coder);
  const published = secret.tags[KEY_ID_TAG];
  if (check.status !== 'ok' || !('key' in reading) || reading.key.id === published) return check;
  return warn(
    name,
    `${check.says}, but the tag ${KEY_ID_TAG} of secret "${secret.name}" is ${published ?? 'missing'}, not ${reading.key.id}. The key function corrects it within 15 minutes. If it does not, read its log`,
  );
}

/** The stack's name is a tag of the pool's service. */
function stackOf({ name }: PoolConfig, services: Snapshot['ecs']['services']): string | undefined {
  const service = services.items.find((item) => tagOf(item, POOL_TAG) === name);
  return service === undefined ? undefined : tagOf(service, STACK_TAG);
}

/** The check without which the stack is unknown. */
function serviceCheckOf({ name }: PoolConfig, { status }: Snapshot['ecs']['services']): string {
  return status === 'ok' ? `pool "${name}": service` : 'cluster';
}

async function findSecret(pool: PoolConfig, stack: string, until: AbortSignal): Promise<SecretInfo | Check> {
  const client = new SecretsManagerClient({ requestHandler: PATIENT });
  client.middlewareStack.add(endingWith(until), EACH_TRY);
  try {
    const secrets = await new SecretsManagerKeys(client).ofStack(stack);
    const [found] = secrets.filter(({ tags }) => tags[POOL_TAG] === pool.name);
    const says = `no secret of stack "${stack}" has the tag ${POOL_TAG}=${pool.name}. Deploy the stack`;
    return found ?? fail(nameOfKey(pool), says);
  } catch (cause) {
    const says = `not checked: ${messageOf(cause)}. For this check you need secretsmanager:ListSecrets`;
    return warn(nameOfKey(pool), says);
  } finally {
    client.destroy();
  }
}
