/** Gives up after a minute and reports the names that are left: a stack that stays would be worse. */
import { messageOf } from '../../decision/model/message-of.ts';
import { MINUTE_MS } from '../../decision/model/units.ts';
import type { ResourceEvent } from '../model/events.ts';
import { KeysError } from '../model/keys-error.ts';
import {
  NO_REQUEST,
  parseStoredKey,
  poolOfKey,
  RESOURCE_TAG,
  type ResourceState,
  readState,
  writeState,
} from '../model/pool.ts';
import type { KeyPorts, Organization } from '../model/ports.ts';
import { isOfNoConcern } from './read-keys.ts';

const GIVE_UP_MS = MINUTE_MS;
const PAUSE_MS = 5_000;

type Removed = {
  readonly name: string;
  readonly organization: string;
  /** The time after which no further request is sent. */
  readonly giveUpAt: number;
};

type Left = { readonly names: readonly string[]; readonly because: string };

/** Serves a delete event. Never throws. */
export async function removeKeys(ports: KeyPorts, event: ResourceEvent): Promise<void> {
  const { clock, log } = ports;
  const { Pool: name, Organization: organization } = event.ResourceProperties;
  const giveUpAt = clock.now() + GIVE_UP_MS;
  const stored = await markDeleted(ports, event);
  if (stored === 'late') return;
  const removed = { name, organization, giveUpAt };
  let left = await tryRemoving(ports, removed, stored);
  while (left !== undefined && clock.now() + PAUSE_MS < giveUpAt) {
    await clock.sleep(PAUSE_MS);
    left = await tryRemoving(ports, removed, stored);
  }
  if (left === undefined) log.info('deleted the keys of a pool', { pool: name });
  else warnOf(ports, name, left);
}

/** Tries once, after a creation that failed. Never throws. */
export async function removeKeysOnce(ports: KeyPorts, pool: Omit<Removed, 'giveUpAt'>): Promise<void> {
  const giveUpAt = ports.clock.now() + GIVE_UP_MS;
  const left = await tryRemoving(ports, { ...pool, giveUpAt }, []);
  if (left !== undefined) warnOf(ports, pool.name, left);
}

function warnOf({ log }: KeyPorts, pool: string, { names, because }: Left): void {
  log.warn('gave up deleting keys of a pool; delete them with `coder provisioner keys delete`', {
    pool,
    keys: names,
    because,
  });
}

/**
 * From now on nothing makes a key for this secret. Returns the names of the keys in it, in case coderd does not
 * list them. `late`: the resource was deleted by this request, and created again since.
 */
async function markDeleted(
  { secrets, log }: KeyPorts,
  { RequestId: ended = NO_REQUEST, ResourceProperties: { SecretArn } }: ResourceEvent,
): Promise<readonly string[] | 'late'> {
  try {
    const { id, tags, versions } = await secrets.describe(SecretArn);
    const { is, request, ended: before } = readState(tags) ?? NO_STATE;
    if (is === 'created' && ended !== NO_REQUEST && ended === before) return 'late';
    await secrets.tag(id, { [RESOURCE_TAG]: writeState({ is: 'deleted', request, ended }) });
    const values = await Promise.all(versions.map((version) => secrets.value(id, version.id)));
    return values.flatMap((value) => (value && parseStoredKey(value)?.name) ?? []);
  } catch (cause) {
    log.warn('could not read the secret of a deleted key', { secret: SecretArn, error: messageOf(cause) });
    return [];
  }
}

const NO_STATE: ResourceState = { is: 'deleted', request: NO_REQUEST, ended: NO_REQUEST };

/** Undefined if coderd lists no key of the pool any more. */
async function tryRemoving(
  ports: KeyPorts,
  pool: Removed,
  stored: readonly string[],
): Promise<Left | undefined> {
  try {
    const names: string[] = [];
    // When a stack is deleted, its services are gone first. When a pool gets another way to
    // authenticate, builds of its old tasks may need their key to connect again.
    const running = (await ports.tasks.running()).get(pool.name) ?? [];
    for (const organization of await ports.keys.organizations())
      names.push(...(await removeIn(ports, pool, organization, running.length === 0)));
    return names.length === 0 ? undefined : { names, because: becauseOf(running.length) };
  } catch (cause) {
    return { names: stored, because: messageOf(cause) };
  }
}

function becauseOf(tasks: number): string {
  return tasks === 0
    ? 'coderd still lists them'
    : `${tasks} tasks of the pool run and may need them; the sweep deletes the keys a day after their last daemon`;
}

/** Returns the names of the keys that are left in one organization. */
async function removeIn(
  ports: KeyPorts,
  pool: Removed,
  organization: Organization,
  isFree: boolean,
): Promise<readonly string[]> {
  try {
    const before = await ownKeys(ports, pool, organization);
    if (!isFree || before.length === 0) return before;
    for (const name of before) {
      mustHaveTime(ports, pool);
      await ports.keys.delete(organization, name);
    }
    return await ownKeys(ports, pool, organization);
  } catch (cause) {
    if (isOfNoConcern(cause, organization, pool.organization)) return [];
    throw cause;
  }
}

async function ownKeys(
  ports: KeyPorts,
  pool: Removed,
  organization: Organization,
): Promise<readonly string[]> {
  mustHaveTime(ports, pool);
  const { items } = await ports.keys.list(organization);
  return items.map(({ name }) => name).filter((name) => poolOfKey(ports.deployment, name) === pool.name);
}

/** The function must not time out: CloudFormation would take that for a failed deletion. */
function mustHaveTime({ clock }: KeyPorts, { name, giveUpAt }: Removed): void {
  if (clock.now() < giveUpAt) return;
  throw new KeysError(
    'unanswered',
    `deleting the keys of pool "${name}": coderd answers too slowly; check coderd's log`,
  );
}
