/**
 * Makes a key and stores it. coderd shows a key once, so a crash between the two leaves a key that
 * nobody has. Its name tells the sweep that it is ours.
 */

import { Secret } from '../../adapters/shared/secret.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { keyName } from '../model/key-names.ts';
import { KeysError } from '../model/keys-error.ts';
import { type ManagedPool, madeFor, readState } from '../model/pool.ts';
import type { KeyFacts, KeyPorts, Organization, SecretInfo } from '../model/ports.ts';
import { writeStoredKey } from '../model/stored-key.ts';
import { flawOf, type Held } from '../rules/choose-key.ts';
import { findOrganization } from './read-keys.ts';

/** A name is taken by chance, or by the first try of a request whose answer was lost. */
const MOST_NAMES = 3;

type MadeKey = { readonly key: Secret; readonly facts: KeyFacts };

export type StoredVersion =
  | { readonly stored: true; readonly version: string; readonly facts: KeyFacts }
  /** The version already has another value, which no one can change. */
  | { readonly stored: false };

type NewVersion = { readonly token: string; readonly stage: string };

/** Creates a key for the pool and stores it in a new version of the secret, with this label. */
export async function makeKey(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  version: NewVersion,
): Promise<StoredVersion> {
  const organization = await findOrganization(ports, pool);
  const made = await createKey(ports, pool, organization);
  const { facts } = made;
  try {
    if (await store(ports, pool, secret, { ...version, ...made }))
      return { stored: true, version: version.token, facts };
  } catch (cause) {
    if (isSurelyNotStored(cause)) await discard(ports, organization, facts.name);
    throw cause;
  }
  await discard(ports, organization, facts.name);
  return { stored: false };
}

async function store(
  { secrets }: KeyPorts,
  pool: ManagedPool,
  { id }: SecretInfo,
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

/** Without an answer the value may be stored, even later. A key that was not is an orphan then. */
function isSurelyNotStored(cause: unknown): boolean {
  return cause instanceof KeysError && cause.code !== 'unanswered';
}

async function createKey(ports: KeyPorts, pool: ManagedPool, organization: Organization): Promise<MadeKey> {
  for (let tries = 1; tries <= MOST_NAMES; tries += 1) {
    const name = keyName(ports.deployment, pool.name, ports.random.suffix());
    // If this process dies, the log has the name of the key that nobody stored.
    ports.log.info('creating a provisioner key', { pool: pool.name, keyName: name });
    try {
      const key = await ports.keys.create(organization, { name, tags: pool.tags });
      if (key instanceof Secret)
        return { key, facts: await confirm(ports, pool, organization, { key, name }) };
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
  { tags }: ManagedPool,
  organization: Organization,
  { key, name }: { readonly key: Secret; readonly name: string },
): Promise<KeyFacts> {
  const facts = await keys.inspect(key);
  const held: Held = facts === undefined ? { kind: 'refused' } : { kind: 'known', facts };
  const flaw = flawOf(held, { organization: organization.id, tags });
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
