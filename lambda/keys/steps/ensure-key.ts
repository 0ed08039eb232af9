/** Makes sure that tasks that start from now on get a key of the pool's organization and tags. */
import { messageOf } from '../../decision/model/message-of.ts';
import { KEY_ID_TAG } from '../../decision/model/service-tags.ts';
import { KeysError } from '../model/keys-error.ts';
import { MADE_FOR_TAG, type ManagedPool, madeFor } from '../model/pool.ts';
import type { KeyFacts, KeyPorts, SecretInfo } from '../model/ports.ts';
import { chooseKey, type Held, type KeyChoice } from '../rules/choose-key.ts';
import { makeKey } from './make-key.ts';
import { CURRENT, findOrganization, PREVIOUS, readHeld, versionWith } from './read-keys.ts';

/**
 * Keeps, takes back or makes the key, and tells its id in tags. Never deletes one. Throws KeysError in
 * any doubt.
 */
export async function ensureKey(ports: KeyPorts, pool: ManagedPool, secretId: string): Promise<KeyFacts> {
  const { secret, facts } = await settleKey(ports, pool, secretId);
  await publish(ports, pool, secret, { id: facts.id, fits: true });
  return facts;
}

/**
 * As `ensureKey`, but only warns if the tags cannot be written: the key works, and the next sweep
 * writes them. CloudFormation would roll back, and never ask to delete the key of a failed creation.
 */
export async function ensureKeyAtLeast(
  ports: KeyPorts,
  pool: ManagedPool,
  secretId: string,
): Promise<KeyFacts> {
  const { secret, facts } = await settleKey(ports, pool, secretId);
  await publishAtLeast(ports, pool, secret, facts.id);
  return facts;
}

/** As `publish` of a key that fits, but only warns if the tags cannot be written. */
export async function publishAtLeast(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  id: string,
): Promise<void> {
  try {
    await publish(ports, pool, secret, { id, fits: true });
  } catch (cause) {
    const error = messageOf(cause);
    ports.log.warn('could not write the tags of a key; the next sweep does it', { pool: pool.name, error });
  }
}

async function settleKey(
  ports: KeyPorts,
  pool: ManagedPool,
  secretId: string,
): Promise<{ readonly secret: SecretInfo; readonly facts: KeyFacts }> {
  const secret = await ports.secrets.describe(secretId);
  const choice = await choose(ports, pool, secret);
  const facts = await carryOut(ports, pool, secret, choice);
  if (choice.do !== 'keep')
    ports.log.info('the key of a pool has changed', {
      pool: pool.name,
      keyId: facts.id,
      keyName: facts.name,
      because: choice.do === 'make' ? choice.because : 'the previous key has the tags of the pool',
    });
  return { secret, facts };
}

async function choose(ports: KeyPorts, pool: ManagedPool, secret: SecretInfo): Promise<KeyChoice> {
  const current = await readHeld(ports, secret, versionWith(secret, CURRENT));
  const wanted = { organization: (await findOrganization(ports, pool)).id, tags: pool.tags };
  const first = chooseKey(current, NOTHING, wanted);
  if (first.do === 'keep' || current.kind !== 'known') return first;
  return chooseKey(current, await readHeld(ports, secret, versionWith(secret, PREVIOUS)), wanted);
}

const NOTHING: Held = { kind: 'nothing' };

async function carryOut(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  choice: KeyChoice,
): Promise<KeyFacts> {
  if (choice.do === 'keep') return choice.facts;
  if (choice.do === 'take-back') {
    await takeBack(ports, secret);
    return choice.facts;
  }
  const made = await makeKey(ports, pool, secret, { token: ports.random.token(), stage: CURRENT });
  if (made.stored) return made.facts;
  throw new KeysError(
    'secret',
    `storing a key in secret ${secret.id}: the new version exists already; try again`,
  );
}

/** Makes the previous version the current one again. */
export async function takeBack({ secrets }: KeyPorts, secret: SecretInfo): Promise<void> {
  const [to, from] = [versionWith(secret, PREVIOUS), versionWith(secret, CURRENT)];
  await secrets.move(secret.id, { stage: CURRENT, to: to?.id ?? '', from: from?.id });
}

/**
 * Tells the id of the current key in tags, only if they differ: each write changes changedAt.
 * `fits`: whether the key is one for the pool.
 */
export async function publish(
  { secrets }: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  { id, fits }: { readonly id: string; readonly fits: boolean },
): Promise<void> {
  const tags = { [KEY_ID_TAG]: id, [MADE_FOR_TAG]: fits ? madeFor(pool) : 'another-pool' };
  if (Object.entries(tags).every(([key, value]) => secret.tags[key] === value)) return;
  await secrets.tag(secret.id, tags);
}
