/** coderd shows a key once. The name of one that was never stored tells the sweep that it is ours. */
import { Secret } from '../../adapters/shared/secret.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { KeysError } from '../model/keys-error.ts';
import { keyName, madeFor, readState, type Wanted, writeStoredKey } from '../model/pool.ts';
import type { KeyFacts, KeyPorts, Organization, PoolSecret } from '../model/ports.ts';
import { flawOf, type Held } from '../rules/choose-key.ts';
import { findOrganization } from './read-keys.ts';

/** A name is taken by chance, or by the first try of a request whose answer was lost. */
const MOST_NAMES = 3;

type MadeKey = { readonly key: Secret; readonly facts: KeyFacts };
type NewVersion = { readonly token: string; readonly stage: string };

/** In a new version of the secret, with this label. Undefined: the version already has another value. */
export async function makeKey(on: PoolSecret, version: NewVersion): Promise<KeyFacts | undefined> {
  const organization = await findOrganization(on);
  const made = await createKey(on, organization);
  const { facts } = made;
  try {
    if (await isStored(on, { ...version, ...made })) return facts;
  } catch (cause) {
    // Without an answer the value may be stored, even later. A key that was not is an orphan then.
    if (cause instanceof KeysError && cause.code !== 'unanswered')
      await discard(on.ports, organization, facts.name);
    throw cause;
  }
  await discard(on.ports, organization, facts.name);
  return undefined;
}

async function isStored(
  { ports: { secrets }, pool, secret: { id } }: PoolSecret,
  { token, stage, key, facts }: NewVersion & MadeKey,
): Promise<boolean> {
  // CloudFormation may have deleted the resource meanwhile.
  if (readState((await secrets.describe(id)).tags)?.is === 'deleted')
    throw new KeysError(
      'resource-deleted',
      `storing a key in secret ${id}: the resource was deleted meanwhile`,
    );
  const value = writeStoredKey({ key, id: facts.id, name: facts.name, madeFor: madeFor(pool) });
  return (await secrets.put(id, { token, stage, value })) === 'stored';
}

async function createKey({ ports, pool }: PoolSecret, organization: Organization): Promise<MadeKey> {
  const wanted = { organization: organization.id, tags: pool.tags };
  for (let tries = 1; tries <= MOST_NAMES; tries += 1) {
    const name = keyName(ports.deployment, pool.name, ports.random.suffix());
    // If this process dies, the log has the name of the key that nobody stored.
    ports.log.info('creating a provisioner key', { pool: pool.name, keyName: name });
    try {
      const key = await ports.keys.create(organization, { name, tags: pool.tags });
      if (key instanceof Secret) return { key, facts: await confirm(ports, key, { name, ...wanted }) };
      ports.log.warn('the name of a new key is taken; trying another one', { pool: pool.name, name });
    } catch (cause) {
      await discard(ports, organization, name);
      throw cause;
    }
  }
  throw new KeysError(
    'refused',
    `creating a provisioner key for pool "${pool.name}": coderd has keys of ${MOST_NAMES} random names already; look at the keys of organization "${organization.name}"`,
  );
}

/** A key that does not fit would be replaced by every sweep, without end. */
async function confirm(
  { keys }: KeyPorts,
  key: Secret,
  { name, ...wanted }: Wanted & { readonly name: string },
): Promise<KeyFacts> {
  const facts = await keys.inspect(key);
  const held: Held = facts === undefined ? { kind: 'refused' } : { kind: 'known', facts };
  const flaw = flawOf(held, wanted);
  if (facts !== undefined && flaw === undefined) return facts;
  throw new KeysError(
    'refused',
    `creating the provisioner key "${name}": coderd says of the new key: ${flaw}; check its version and the tags of the pool`,
  );
}

/** Deletes a key that nobody has ever had. If that fails, the sweep does it later. */
async function discard({ keys, log }: KeyPorts, organization: Organization, name: string): Promise<void> {
  try {
    await keys.delete(organization, name);
  } catch (cause) {
    log.warn('a new key was not stored and could not be deleted; the sweep deletes it after 24 h', {
      name,
      error: messageOf(cause),
    });
  }
}
