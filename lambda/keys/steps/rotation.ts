/**
 * Rotation in the four steps of Secrets Manager (docs/internals/aws.md §4), which may come twice, late or with an
 * old token. All work on the version with AWSPENDING, whatever the token: a version never changes, so a
 * pending key that coderd refuses can only be replaced by one in a new version.
 */
import { POOL_TAG } from '../../decision/model/service-tags.ts';
import type { RotationEvent } from '../model/events.ts';
import { KeysError } from '../model/keys-error.ts';
import { type ManagedPool, readState } from '../model/pool.ts';
import type { KeyFacts, KeyPorts, PoolSecret, SecretInfo, VersionInfo } from '../model/ports.ts';
import { type Flaw, flawOf } from '../rules/choose-key.ts';
import { publish } from './ensure-key.ts';
import { makeKey } from './make-key.ts';
import { CURRENT, PENDING, pendingVersion, readHeld, versionWith, wantedBy } from './read-keys.ts';

/** A version with a key that coderd knows, with the pool's organization and tags. */
type GoodVersion = { readonly version: string; readonly facts: KeyFacts };

/** Serves one step. Throws KeysError in any doubt; Secrets Manager then tries again. */
export async function serveRotation(
  ports: KeyPorts,
  event: RotationEvent,
  pools: readonly ManagedPool[],
): Promise<void> {
  const secret = await ports.secrets.describe(event.SecretId);
  const pool = poolOf(secret, pools);
  mustBeLive(secret, pool);
  const on = { ports, pool, secret };
  const pending = pendingVersion(secret);
  if (pending === undefined) await endRotation(on, event);
  else if (event.Step === 'createSecret') await ensurePending(on, pending);
  else if (event.Step === 'testSecret') await testPending(on, pending);
  else if (event.Step === 'finishSecret') await finish(on, await ensurePending(on, pending));
  // The new key is in coderd since it was made, so setSecret has nothing to do.
}

function poolOf({ id, tags }: SecretInfo, pools: readonly ManagedPool[]): ManagedPool {
  const name = tags[POOL_TAG];
  const found = pools.find((pool) => pool.name === name);
  if (found !== undefined) return found;
  const seen =
    name === undefined
      ? `it has no tag ${POOL_TAG}`
      : `the configuration has no pool "${name}" with key: managed`;
  throw new KeysError(
    'payload',
    `rotating secret ${id}: ${seen}; this function rotates only the secrets of its stack`,
  );
}

function mustBeLive({ id, tags }: SecretInfo, { name }: ManagedPool): void {
  if (readState(tags)?.is !== 'deleted') return;
  throw new KeysError(
    'resource-deleted',
    `rotating secret ${id}: the key of pool "${name}" is deleted; nothing is to rotate`,
  );
}

/**
 * When a schedule is stored, Secrets Manager runs this step alone, with a version that it removes afterwards
 * (docs/internals/aws.md §4). A key for a version without a value would never be used.
 */
async function testPending(on: PoolSecret, pending: VersionInfo): Promise<void> {
  const { flaw } = await readVersion(on, pending);
  if (flaw !== 'nothing') await ensurePending(on, pending);
}

async function finish(on: PoolSecret, { version, facts }: GoodVersion): Promise<void> {
  const { ports, pool, secret } = on;
  // A secret without a value makes its first version the current one by itself.
  const current = versionWith(await ports.secrets.describe(secret.id), CURRENT);
  if (current?.id !== version)
    await ports.secrets.move(secret.id, { stage: CURRENT, to: version, from: current?.id });
  await publish(on, { id: facts.id, fits: true });
  ports.log.info('rotated the key of a pool', { pool: pool.name, keyId: facts.id, keyName: facts.name });
}

/** Keeps the pending key if it is good. Otherwise makes another one, once an invocation. */
async function ensurePending(on: PoolSecret, pending: VersionInfo): Promise<GoodVersion> {
  const { ports, pool } = on;
  const { good, flaw } = await readVersion(on, pending);
  if (good !== undefined) return good;
  if (flaw !== 'nothing')
    ports.log.warn('coderd or the pool has no use for the new key of a rotation; making another one', {
      pool: pool.name,
      because: flaw,
    });
  const token = flaw === 'nothing' ? pending.id : ports.random.token();
  const made = await makeKey(on, { token, stage: PENDING });
  if (made !== undefined) return { version: token, facts: made };
  // Another invocation has stored its key first.
  const stored = await readVersion(on, pending);
  if (stored.good !== undefined) return stored.good;
  throw new KeysError(
    'unanswered',
    `rotating the key of pool "${pool.name}": the pending version has changed meanwhile; try again`,
  );
}

type ReadVersion = {
  /** What coderd says of the key; undefined if it knows none. */
  readonly facts?: KeyFacts;
  readonly flaw?: Flaw | undefined;
  readonly good?: GoodVersion | undefined;
};

async function readVersion(on: PoolSecret, version: VersionInfo): Promise<ReadVersion> {
  const held = await readHeld(on, version);
  if (held.kind !== 'known') return { flaw: held.kind };
  const { facts } = held;
  const flaw = flawOf(held, await wantedBy(on));
  return { facts, flaw, good: flaw === undefined ? { version: version.id, facts } : undefined };
}

/** The label has moved: the rotation has ended, perhaps before the tags were written. */
async function endRotation(on: PoolSecret, { Step, ClientRequestToken }: RotationEvent): Promise<void> {
  const { ports, pool, secret } = on;
  const current = versionWith(secret, CURRENT);
  ports.log.info('no rotation is in progress', { pool: pool.name, step: Step, token: ClientRequestToken });
  if (Step !== 'finishSecret' || current === undefined) return;
  const { facts, flaw } = await readVersion(on, current);
  if (facts !== undefined) await publish(on, { id: facts.id, fits: flaw === undefined });
}
