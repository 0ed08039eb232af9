/**
 * The custom resource of a pool's key, as CDK's Provider framework calls it. Events may come twice,
 * late, or in another order.
 */
import * as z from 'zod';
import { parseQuietly } from '../../adapters/shared/parse-quietly.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { KEY_ID_TAG } from '../../decision/model/service-tags.ts';
import type { ResourceAnswer } from '../events/answers.ts';
import type { ResourceEvent } from '../events/events.ts';
import { isDoubt, KeysError } from '../model/keys-error.ts';
import {
  MADE_FOR_TAG,
  type ManagedPool,
  madeFor,
  NO_REQUEST,
  RESOURCE_TAG,
  type ResourceState,
  readState,
  writeState,
} from '../model/pool.ts';
import type { KeyFacts, KeyPorts, SecretInfo } from '../model/ports.ts';
import { parseStoredKey } from '../model/stored-key.ts';
import { ensureKeyAtLeast } from './ensure-key.ts';
import { CURRENT, versionWith } from './read-keys.ts';
import { removeKeys, removeKeysOnce } from './remove-keys.ts';

/** Serves a create, update or delete event. A deletion always succeeds. */
export async function serveResource(ports: KeyPorts, event: ResourceEvent): Promise<ResourceAnswer> {
  const { Pool, SecretArn } = event.ResourceProperties;
  const PhysicalResourceId = `key-of-${Pool}`;
  if (event.RequestType === 'Delete') {
    await removeKeys(ports, event);
    return { PhysicalResourceId: event.PhysicalResourceId ?? PhysicalResourceId };
  }
  const pool = poolOf(event);
  await markCreated(ports, event);
  const { id, name } =
    event.RequestType === 'Create'
      ? await createKey(ports, pool, SecretArn)
      : await updateKey(ports, pool, SecretArn);
  return { PhysicalResourceId, Data: { KeyId: id, KeyName: name } };
}

const tagsSchema = z.record(z.string(), z.string());

function poolOf({ ResourceProperties: { Pool, Organization, Tags } }: ResourceEvent): ManagedPool {
  const tags = tagsSchema.safeParse(parseQuietly(Tags));
  if (tags.success) return { name: Pool, organization: Organization, tags: tags.data };
  throw new KeysError(
    'payload',
    `reading the tags of pool "${Pool}": saw ${Tags}; send a JSON object of strings`,
  );
}

/** Refuses events that come after the deletion of the resource: nobody would delete their key. */
async function markCreated({ secrets }: KeyPorts, event: ResourceEvent): Promise<void> {
  const { Pool, SecretArn } = event.ResourceProperties;
  const state = readState((await secrets.describe(SecretArn)).tags);
  const request = event.RequestId ?? NO_REQUEST;
  if (state?.is === 'deleted' && isLate(event, state))
    throw new KeysError(
      'resource-deleted',
      `${event.RequestType} of the key of pool "${Pool}": the resource is deleted already; this event is late`,
    );
  if (state?.is === 'created') return;
  const created = writeState({ is: 'created', request, ended: state?.ended ?? NO_REQUEST });
  await secrets.tag(SecretArn, { [RESOURCE_TAG]: created });
}

/** After a failed creation CloudFormation may create the resource again, with another request. */
function isLate({ RequestType, RequestId }: ResourceEvent, { request }: ResourceState): boolean {
  return RequestType === 'Update' || (RequestId !== undefined && request === RequestId);
}

/**
 * After a creation that failed, CDK's framework never asks for a deletion (docs/aws.md §7). While the
 * secret has no current version, no task can have a key of the pool.
 */
async function createKey(ports: KeyPorts, pool: ManagedPool, secretId: string): Promise<KeyFacts> {
  try {
    return await ensureKeyAtLeast(ports, pool, secretId);
  } catch (cause) {
    if (await hasNoKey(ports, secretId)) await removeKeysOnce(ports, pool);
    else if (isUnanswered(cause)) return ensureKeyAtLeast(ports, pool, secretId);
    throw cause;
  }
}

/** Perhaps the key is stored, and only the answer was lost. The creation can then succeed. */
function isUnanswered(cause: unknown): boolean {
  return cause instanceof KeysError && cause.code === 'unanswered';
}

async function hasNoKey({ secrets }: KeyPorts, secretId: string): Promise<boolean> {
  try {
    return versionWith(await secrets.describe(secretId), CURRENT) === undefined;
  } catch (cause) {
    return cause instanceof KeysError && cause.code === 'secret-gone';
  }
}

/**
 * An update that changes nothing, as in a rollback, must not fail because coderd does not answer:
 * the stack could then not be rolled back.
 */
async function updateKey(
  ports: KeyPorts,
  pool: ManagedPool,
  secretId: string,
): Promise<Pick<KeyFacts, 'id' | 'name'>> {
  try {
    return await ensureKeyAtLeast(ports, pool, secretId);
  } catch (cause) {
    const known = isDoubt(cause)
      ? await keyMadeFor(ports, pool, await ports.secrets.describe(secretId))
      : undefined;
    if (known === undefined) throw cause;
    ports.log.warn('kept the key of a pool without asking coderd, as its tags have not changed', {
      pool: pool.name,
      error: messageOf(cause),
    });
    return known;
  }
}

async function keyMadeFor(
  { secrets }: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
): Promise<Pick<KeyFacts, 'id' | 'name'> | undefined> {
  const version = versionWith(secret, CURRENT);
  const value = version && (await secrets.value(secret.id, version.id));
  const { id, name = '' } = (value && parseStoredKey(value)) ?? {};
  const isFor = secret.tags[MADE_FOR_TAG] === madeFor(pool) && secret.tags[KEY_ID_TAG] === id;
  return id !== undefined && isFor ? { id, name } : undefined;
}
