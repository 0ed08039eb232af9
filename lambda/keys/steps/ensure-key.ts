/** Makes sure that tasks that start from now on get a key of the pool's organization and tags. */
import { ownValue } from '../../decision/model/collections.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { KEY_ID_TAG } from '../../decision/model/service-tags.ts';
import { KeysError } from '../model/keys-error.ts';
import { MADE_FOR_TAG, type ManagedPool, madeFor } from '../model/pool.ts';
import type { KeyFacts, KeyPorts, PoolSecret } from '../model/ports.ts';
import { chooseKey, type Held, type KeyChoice } from '../rules/choose-key.ts';
import { makeKey } from './make-key.ts';
import { CURRENT, PREVIOUS, readHeld, versionWith, wantedBy } from './read-keys.ts';

/** Keeps, takes back or makes the key, and tags its id. Never deletes one. Throws KeysError in any doubt. */
export async function ensureKey(
  ports: KeyPorts,
  pool: ManagedPool,
  secretId: string,
  tell = publish,
): Promise<KeyFacts> {
  const on = { ports, pool, secret: await ports.secrets.describe(secretId) };
  const choice = await choose(on);
  const facts = await carryOut(on, choice);
  if (choice.do !== 'keep')
    ports.log.info('the key of a pool has changed', {
      pool: pool.name,
      keyId: facts.id,
      keyName: facts.name,
      because: choice.do === 'make' ? choice.because : 'the previous key has the tags of the pool',
    });
  await tell(on, { id: facts.id, fits: true });
  return facts;
}

async function choose(on: PoolSecret): Promise<KeyChoice> {
  const current = await readHeld(on, versionWith(on.secret, CURRENT));
  const wanted = await wantedBy(on);
  const first = chooseKey(current, NOTHING, wanted);
  if (first.do === 'keep' || current.kind !== 'known') return first;
  return chooseKey(current, await readHeld(on, versionWith(on.secret, PREVIOUS)), wanted);
}

const NOTHING: Held = { kind: 'nothing' };

async function carryOut(on: PoolSecret, choice: KeyChoice): Promise<KeyFacts> {
  if (choice.do === 'take-back') await takeBack(on);
  if (choice.do !== 'make') return choice.facts;
  const made = await makeKey(on, { token: on.ports.random.token(), stage: CURRENT });
  if (made !== undefined) return made;
  throw new KeysError(
    'secret',
    `storing a key in secret ${on.secret.id}: the new version exists already; try again`,
  );
}

export async function takeBack({ ports, secret }: PoolSecret): Promise<void> {
  const [to, from] = [versionWith(secret, PREVIOUS), versionWith(secret, CURRENT)];
  await ports.secrets.move(secret.id, { stage: CURRENT, to: to?.id ?? '', from: from?.id });
}

/** `fits`: whether the key is one for the pool. */
type CurrentKey = { readonly id: string; readonly fits: boolean };

/** Tells the id of the current key in tags, only if they differ: each write changes changedAt. */
export async function publish({ ports, pool, secret }: PoolSecret, { id, fits }: CurrentKey): Promise<void> {
  const tags = { [KEY_ID_TAG]: id, [MADE_FOR_TAG]: fits ? madeFor(pool) : 'another-pool' };
  if (Object.entries(tags).every(([key, value]) => ownValue(secret.tags, key) === value)) return;
  await ports.secrets.tag(secret.id, tags);
}

/** Only warns: the key works, and the next sweep writes the tags. CloudFormation would roll back. */
export async function publishAtLeast(on: PoolSecret, key: CurrentKey): Promise<void> {
  try {
    await publish(on, key);
  } catch (cause) {
    const [pool, error] = [on.pool.name, messageOf(cause)];
    on.ports.log.warn('could not write the tags of a key; the next sweep does it', { pool, error });
  }
}
