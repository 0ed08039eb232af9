/** Checks a key that the stack manages: its secret, the tag with its id, and the key itself. */
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { EACH_TRY, endingWith } from '../../../lambda/adapters/shared/aws-calls.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG, tagOf } from '../../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { SecretsManagerKeys } from '../../../lambda/keys/adapters/secrets-manager.ts';
import type { SecretInfo } from '../../../lambda/keys/model/ports.ts';
import { type Check, fail, skip, warn } from '../base/check.ts';
import { type CredentialContext, nameOfKey } from './context.ts';
import { judgeKey, readKey } from './key.ts';

const CURRENT = 'AWSCURRENT';
/** A call without an answer must not block the command. */
const TIMEOUTS = { connectionTimeout: 5_000, requestTimeout: 10_000, throwOnRequestTimeout: true } as const;

export async function checkManagedKey(pool: PoolConfig, context: CredentialContext): Promise<Check> {
  const name = nameOfKey(pool);
  if (context.secretsBlocker !== undefined) return skip(name, context.secretsBlocker);
  const stack = stackOf(pool, context.services);
  if (stack === undefined) return skip(name, serviceCheckOf(pool, context.services));
  const found = await findSecret(pool, stack, context.until);
  return 'says' in found ? found : judge(pool, found, context);
}

async function judge(pool: PoolConfig, secret: SecretInfo, context: CredentialContext): Promise<Check> {
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
  const client = new SecretsManagerClient({ requestHandler: TIMEOUTS });
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
