/** The custom resource of a pool's key. Events may come twice, late, or in another order. */
import * as z from 'zod';
import { messageOf } from '../../decision/model/message-of.ts';
import { parseQuietly } from '../../decision/model/parse-quietly.ts';
import { KEY_ID_TAG } from '../../decision/model/service-tags.ts';
import { mapping } from '../../shared/mapping.ts';
import type { ResourceAnswer, ResourceEvent } from '../model/events.ts';
import { isDoubt, KeysError } from '../model/keys-error.ts';
import {
  MADE_FOR_TAG,
  type ManagedPool,
  madeFor,
  madeForAnyUrl,
  NO_REQUEST,
  originOf,
  parseStoredKey,
  RESOURCE_TAG,
  type ResourceState,
  readState,
  type StoredKey,
  writeState,
} from '../model/pool.ts';
import type { KeyFacts, KeyPorts, PoolSecret } from '../model/ports.ts';
import { ensureKey, publishAtLeast, takeBack } from './ensure-key.ts';
import { CURRENT, PREVIOUS, versionWith } from './read-keys.ts';
import { removeKeys, removeKeysOnce } from './remove-keys.ts';

/** Serves a create, update or delete event. A deletion always succeeds. */
export async function serveResource(ports: KeyPorts, event: ResourceEvent): Promise<ResourceAnswer> {
  const { Pool } = event.ResourceProperties;
  const PhysicalResourceId = `key-of-${Pool}`;
  if (event.RequestType === 'Delete') {
    await removeKeys(ports, event);
    return { PhysicalResourceId: event.PhysicalResourceId ?? PhysicalResourceId };
  }
  const pool = poolOf(event);
  const isCreation = event.RequestType === 'Create';
  try {
    await markCreated(ports, event);
  } catch (cause) {
    if (isCreation || !hasCode(cause, 'secret-gone')) throw cause;
    ports.log.warn(NO_SECRET, { pool: Pool, error: messageOf(cause) });
    return { PhysicalResourceId };
  }
  const { id, name } = await (isCreation ? createKey : updateKey)(ports, pool, event);
  return { PhysicalResourceId, Data: { KeyId: id, KeyName: name } };
}

/** An update that failed could not be rolled back. The sweep fails until the secret is back. */
const NO_SECRET =
  'the secret of a managed key is deleted; restore it with `aws secretsmanager restore-secret`: without it no task of the pool starts';

const tagsSchema = mapping(z.string(), z.string());

function poolOf({ ResourceProperties }: ResourceEvent): ManagedPool {
  const { Pool: name, Organization: organization, Tags, CoderUrl: coderUrl } = ResourceProperties;
  const tags = tagsSchema.safeParse(parseQuietly(Tags));
  if (tags.success) return { name, coderUrl, organization, tags: tags.data };
  throw new KeysError(
    'payload',
    `reading the tags of pool "${name}": saw ${Tags}; send a JSON object of strings`,
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

/** CDK's framework never asks to delete it (docs/internals/aws.md §7). No task can have a key yet. */
async function createKey(ports: KeyPorts, pool: ManagedPool, event: ResourceEvent): Promise<KnownKey> {
  const { SecretArn } = event.ResourceProperties;
  try {
    return await ensureKey(ports, pool, SecretArn, publishAtLeast);
  } catch (cause) {
    if (await hasNoKey(ports, SecretArn)) await removeKeysOnce(ports, pool);
    // Perhaps the key is stored, and only the answer was lost. The creation can then succeed.
    else if (hasCode(cause, 'unanswered')) return updateKey(ports, pool, event);
    throw cause;
  }
}

async function hasNoKey({ secrets }: KeyPorts, secretId: string): Promise<boolean> {
  try {
    return versionWith(await secrets.describe(secretId), CURRENT) === undefined;
  } catch (cause) {
    return hasCode(cause, 'secret-gone');
  }
}

function hasCode(cause: unknown, code: KeysError['code']): boolean {
  return cause instanceof KeysError && cause.code === code;
}

/** A rollback must succeed without coderd: so a key is trusted that was made for this pool. */
async function updateKey(ports: KeyPorts, pool: ManagedPool, event: ResourceEvent): Promise<KnownKey> {
  const { SecretArn } = event.ResourceProperties;
  try {
    return await ensureKey(ports, pool, SecretArn, publishAtLeast);
  } catch (cause) {
    if (!isDoubt(cause)) throw cause;
    const on = { ports, pool, secret: await ports.secrets.describe(SecretArn) };
    const known = await keyMadeFor(on, isSameUrl(event));
    if (known === undefined) throw unproved(pool, cause);
    ports.log.warn('chose the key of a pool without asking coderd, by what the key was made for', {
      pool: pool.name,
      keyName: known.name,
      error: messageOf(cause),
    });
    return known;
  }
}

function unproved({ name, coderUrl }: ManagedPool, cause: unknown): KeysError {
  const doing = `updating the key of pool "${name}" for coderd at ${coderUrl}`;
  const code = cause instanceof KeysError ? cause.code : 'unanswered';
  return new KeysError(code, `${doing}: ${messageOf(cause)}; correct coder.url if it is wrong`, { cause });
}

function isSameUrl({ ResourceProperties, OldResourceProperties }: ResourceEvent): boolean {
  return originOf(OldResourceProperties?.CoderUrl ?? '') === originOf(ResourceProperties.CoderUrl);
}

type KnownKey = Pick<KeyFacts, 'id' | 'name'>;

/** The current key, or the previous one, which it then takes back. Undefined if neither fits. */
async function keyMadeFor(on: PoolSecret, isForSameUrl: boolean): Promise<KnownKey | undefined> {
  const wanted = [madeFor(on.pool), ...(isForSameUrl ? [madeForAnyUrl(on.pool)] : [])];
  const current = await readNoted(on, CURRENT);
  if (current === undefined || wanted.includes(current.madeFor)) return current;
  const previous = await readNoted(on, PREVIOUS);
  if (previous === undefined || !wanted.includes(previous.madeFor)) return undefined;
  await takeBack(on);
  await publishAtLeast(on, { id: previous.id, fits: true });
  return previous;
}

/** Undefined for a key of which nothing tells what it was made for, such as one of a person. */
async function readNoted(
  { ports, secret }: PoolSecret,
  stage: string,
): Promise<(KnownKey & { readonly madeFor: string }) | undefined> {
  const version = versionWith(secret, stage);
  const value = version && (await ports.secrets.value(secret.id, version.id));
  const stored: Partial<StoredKey> | undefined = value && parseStoredKey(value);
  const { id, name = '', madeFor: first } = stored ?? {};
  const noted = id !== undefined && secret.tags[KEY_ID_TAG] === id ? secret.tags[MADE_FOR_TAG] : first;
  return id === undefined || noted === undefined ? undefined : { id, name, madeFor: noted };
}
