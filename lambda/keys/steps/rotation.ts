/**
 * Rotation in the four steps of Secrets Manager (docs/internals/aws.md §4). A step may come twice,
 * late or with an old token. All work on the version that has AWSPENDING, whatever the token: a
 * version never changes, so a pending key that coderd refuses can only be replaced by one in a new
 * version.
 */
import { POOL_TAG } from '../../decision/model/service-tags.ts';
import type { RotationEvent } from '../model/events.ts';
import { KeysError } from '../model/keys-error.ts';
import { type ManagedPool, readState } from '../model/pool.ts';
import type { KeyFacts, KeyPorts, SecretInfo, VersionInfo } from '../model/ports.ts';
import { type Flaw, flawOf, type Held } from '../rules/choose-key.ts';
import { publish } from './ensure-key.ts';
import { makeKey } from './make-key.ts';
import { CURRENT, findOrganization, PENDING, pendingVersion, readHeld, versionWith } from './read-keys.ts';

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
  const pending = pendingVersion(secret);
  if (pending === undefined) await endRotation(ports, pool, secret, event);
  else if (event.Step === 'testSecret') await testPending(ports, pool, secret, pending);
  // The new key is in coderd since it was made, so setSecret has nothing to do.
  else if (event.Step !== 'setSecret') await servePending(ports, pool, secret, { event, pending });
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
 * When a schedule of rotations is stored, Secrets Manager runs this step alone, with a version that
 * it removes afterwards (docs/internals/aws.md §4). A key for a version without a value would never
 * be used.
 */
async function testPending(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  pending: VersionInfo,
): Promise<void> {
  const { flaw } = await readFlaw(ports, pool, secret, pending);
  if (flaw !== 'nothing') await ensurePending(ports, pool, secret, pending);
}

async function servePending(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  { event, pending }: { readonly event: RotationEvent; readonly pending: VersionInfo },
): Promise<void> {
  const good = await ensurePending(ports, pool, secret, pending);
  if (event.Step !== 'finishSecret') return;
  // A secret without a value makes its first version the current one by itself.
  const current = versionWith(await ports.secrets.describe(secret.id), CURRENT);
  if (current?.id !== good.version)
    await ports.secrets.move(secret.id, { stage: CURRENT, to: good.version, from: current?.id });
  await publish(ports, pool, secret, { id: good.facts.id, fits: true });
  ports.log.info('rotated the key of a pool', {
    pool: pool.name,
    keyId: good.facts.id,
    keyName: good.facts.name,
  });
}

/** Keeps the pending key if it is good. Otherwise makes another one, once an invocation. */
async function ensurePending(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  pending: VersionInfo,
): Promise<GoodVersion> {
  const { held, flaw } = await readFlaw(ports, pool, secret, pending);
  if (flaw === undefined && held.kind === 'known') return { version: pending.id, facts: held.facts };
  if (flaw !== 'nothing')
    ports.log.warn('coderd or the pool has no use for the new key of a rotation; making another one', {
      pool: pool.name,
      because: flaw,
    });
  const token = flaw === 'nothing' ? pending.id : ports.random.token();
  const made = await makeKey(ports, pool, secret, { token, stage: PENDING });
  if (made.stored) return { version: made.version, facts: made.facts };
  return keepStored(ports, pool, secret, pending);
}

/** Another invocation has stored its key first. */
async function keepStored(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  pending: VersionInfo,
): Promise<GoodVersion> {
  const { held, flaw } = await readFlaw(ports, pool, secret, pending);
  if (flaw === undefined && held.kind === 'known') return { version: pending.id, facts: held.facts };
  throw new KeysError(
    'unanswered',
    `rotating the key of pool "${pool.name}": the pending version has changed meanwhile; try again`,
  );
}

async function readFlaw(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  version: VersionInfo,
): Promise<{ readonly held: Held; readonly flaw: Flaw | undefined }> {
  const held = await readHeld(ports, secret, version);
  if (held.kind !== 'known') return { held, flaw: held.kind };
  const wanted = { organization: (await findOrganization(ports, pool)).id, tags: pool.tags };
  return { held, flaw: flawOf(held, wanted) };
}

/** The label has moved: the rotation has ended, perhaps before the tags were written. */
async function endRotation(
  ports: KeyPorts,
  pool: ManagedPool,
  secret: SecretInfo,
  { Step, ClientRequestToken }: RotationEvent,
): Promise<void> {
  const current = versionWith(secret, CURRENT);
  ports.log.info('no rotation is in progress', { pool: pool.name, step: Step, token: ClientRequestToken });
  if (Step !== 'finishSecret' || current === undefined) return;
  const { held, flaw } = await readFlaw(ports, pool, secret, current);
  if (held.kind === 'known')
    await publish(ports, pool, secret, { id: held.facts.id, fits: flaw === undefined });
}
