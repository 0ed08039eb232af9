/**
 * Deletes the keys of a pool whose resource is deleted. It gives up after a minute and reports the
 * names that are left: a stack that cannot be deleted would be worse.
 */
import { messageOf } from '../../decision/model/message-of.ts';
import type { ResourceEvent } from '../events/events.ts';
import { poolOfKey } from '../model/key-names.ts';
import { RESOURCE_TAG, readState, writeState } from '../model/pool.ts';
import type { KeyPorts, Organization } from '../model/ports.ts';
import { parseStoredKey } from '../model/stored-key.ts';
import { isOfNoConcern } from './read-keys.ts';

const GIVE_UP_MS = 60_000;
const PAUSE_MS = 5_000;
/** coderd writes `last_seen_at` once a minute, and calls a daemon offline after 90 s. */
const ALIVE_MS = 90_000;

type RemovedPool = Pick<ResourceEvent['ResourceProperties'], 'Pool' | 'Organization' | 'SecretArn'>;

type Left = { readonly names: readonly string[]; readonly because: string };

/** Never throws. */
export async function removeKeys(ports: KeyPorts, removed: RemovedPool): Promise<void> {
  const { clock, log } = ports;
  const pool = removed.Pool;
  const giveUpAt = clock.now() + GIVE_UP_MS;
  const stored = await markDeleted(ports, removed.SecretArn);
  let left = await tryRemoving(ports, removed, stored);
  while (left !== undefined && clock.now() + PAUSE_MS < giveUpAt) {
    await clock.sleep(PAUSE_MS);
    left = await tryRemoving(ports, removed, stored);
  }
  if (left === undefined) log.info('deleted the keys of a pool', { pool });
  else
    log.warn('gave up deleting keys of a pool; delete them with `coder provisioner keys delete`', {
      pool,
      keys: left.names,
      because: left.because,
    });
}

/**
 * From now on nothing makes a key for this secret. Returns the names of the keys in it, for the case
 * that coderd does not list them.
 */
async function markDeleted({ secrets, log }: KeyPorts, secretId: string): Promise<readonly string[]> {
  try {
    const { id, tags, versions } = await secrets.describe(secretId);
    const request = readState(tags)?.request ?? 'unknown';
    await secrets.tag(id, { [RESOURCE_TAG]: writeState({ is: 'deleted', request }) });
    const values = await Promise.all(versions.map((version) => secrets.value(id, version.id)));
    return values.flatMap((value) => (value && parseStoredKey(value)?.name) ?? []);
  } catch (cause) {
    log.warn('could not read the secret of a deleted key', { secret: secretId, error: messageOf(cause) });
    return [];
  }
}

/** Undefined if coderd lists no key of the pool any more. */
async function tryRemoving(
  ports: KeyPorts,
  { Pool, Organization }: RemovedPool,
  stored: readonly string[],
): Promise<Left | undefined> {
  try {
    const left: Left[] = [];
    for (const organization of await ports.keys.organizations())
      try {
        left.push(...(await removeIn(ports, Pool, organization)));
      } catch (cause) {
        if (!isOfNoConcern(cause, organization, Organization)) throw cause;
      }
    const [first] = left;
    return first && { names: left.flatMap(({ names }) => names), because: first.because };
  } catch (cause) {
    return { names: stored, because: messageOf(cause) };
  }
}

async function removeIn(ports: KeyPorts, pool: string, organization: Organization): Promise<readonly Left[]> {
  const { keys } = ports;
  const before = await ownKeys(ports, pool, organization);
  if (before.length === 0) return [];
  const busy = await idsInUse(ports, pool, organization);
  const free = before.filter(({ id }) => !busy.has(id));
  for (const { name } of free) await keys.delete(organization, name);
  const after = free.length === 0 ? before : await ownKeys(ports, pool, organization);
  if (after.length === 0) return [];
  const because = 'daemons of running tasks still use them, or coderd refused';
  return [{ names: after.map(({ name }) => name), because }];
}

async function ownKeys({ keys, deployment }: KeyPorts, pool: string, organization: Organization) {
  const { items } = await keys.list(organization);
  return items.filter(({ name }) => poolOfKey(deployment, name) === pool);
}

/**
 * When a stack is deleted, its services are gone first. When a pool gets another way to
 * authenticate, its old tasks still have the key, and their builds may need it to reconnect.
 */
async function idsInUse(
  { keys, tasks }: KeyPorts,
  pool: string,
  organization: Organization,
): Promise<ReadonlySet<string>> {
  const running = (await tasks.running()).get(pool) ?? [];
  if (running.length === 0) return new Set();
  const { items, now } = await keys.daemons(organization);
  const alive = items.filter(({ lastSeenAt }) => lastSeenAt >= now - ALIVE_MS);
  return new Set(alive.flatMap(({ keyId }) => keyId ?? []));
}
