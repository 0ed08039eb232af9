/** The pools with managed keys: whether their tasks get a working key, and what their secrets hold. */
import type { EpochMs } from '../../decision/model/brands.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { POOL_TAG } from '../../decision/model/service-tags.ts';
import { MINUTE_MS } from '../../decision/model/units.ts';
import type { PoolReport } from '../model/events.ts';
import { type ManagedPool, readState } from '../model/pool.ts';
import type { KeyPorts, PoolSecret, SecretInfo } from '../model/ports.ts';
import { type Flaw, flawOf } from '../rules/choose-key.ts';
import type { PoolSecretFacts } from '../rules/retire-key.ts';
import { ensureKey } from './ensure-key.ts';
import { CURRENT, readHeld, readSecretFacts, versionWith, wantedBy } from './read-keys.ts';

export type PoolState = {
  readonly report: PoolReport;
  /** Undefined in any doubt. */
  readonly facts?: PoolSecretFacts;
  readonly error?: string;
};

/** Mends the pools' keys if `writes` is true. One pool's failure does not stop the others. */
export async function lookAfterPools(
  ports: KeyPorts,
  pools: readonly ManagedPool[],
  writes: boolean,
): Promise<readonly PoolState[]> {
  const secrets = await ports.secrets.ofStack(ports.deployment.stack);
  const states: PoolState[] = [];
  const end = ports.clock.now() + MENDING_MS;
  for (const pool of writes ? inTurn(pools, ports.clock.now()) : pools) {
    const found = secrets.filter(({ tags }) => tags[POOL_TAG] === pool.name);
    const isLate = writes && ports.clock.now() >= end;
    states.push(isLate ? leftOut(pool) : await lookAfter(ports, pool, withoutDeleted(found), writes));
  }
  return states;
}

const SWEEP_MS = 15 * MINUTE_MS;
/** Multiples of the golden ratio, less their whole parts, are spread evenly, however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Each sweep starts elsewhere, so that every item has its turn, however slow coderd is. */
export function inTurn<T>(items: readonly T[], now: EpochMs): readonly T[] {
  const first = Math.floor(((Math.floor(now / SWEEP_MS) * GOLDEN) % 1) * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}

/** The rest of the function's 3 minutes is for the deletion of keys. */
const MENDING_MS = 90_000;

function leftOut({ name: pool }: ManagedPool): PoolState {
  return { report: { pool, works: 'unknown', problems: [LEFT_OUT] }, error: LEFT_OUT };
}

const LEFT_OUT = `coderd answered too slowly to look after all pools within ${MENDING_MS / 1000} s; a later sweep starts with the others`;

/** CloudFormation may have failed to delete the secret of a pool that was removed and added again. */
function withoutDeleted(secrets: readonly SecretInfo[]): readonly SecretInfo[] {
  const live = secrets.filter(({ tags }) => readState(tags)?.is !== 'deleted');
  return live.length > 0 ? live : secrets;
}

async function lookAfter(
  ports: KeyPorts,
  pool: ManagedPool,
  secrets: readonly SecretInfo[],
  writes: boolean,
): Promise<PoolState> {
  const [secret, another] = secrets;
  if (secret === undefined) return stuck(pool, NO_SECRET);
  if (another !== undefined)
    return stuck(
      pool,
      `the stack has ${secrets.length} secrets for it; wait for the end of the deployment, or remove the tags from the copy`,
    );
  try {
    // ListSecrets may be a moment late, so the secret is read again.
    return await lookAfterSecret({ ports, pool, secret: await ports.secrets.describe(secret.id) }, writes);
  } catch (cause) {
    const error = `pool "${pool.name}": ${messageOf(cause)}`;
    return { report: { pool: pool.name, works: 'unknown', problems: [messageOf(cause)] }, error };
  }
}

async function lookAfterSecret(on: PoolSecret, writes: boolean): Promise<PoolState> {
  const { ports, pool, secret } = on;
  const state = readState(secret.tags);
  // Only the creation stores a first version, so a secret with one has lost its tags.
  if (state === undefined && versionWith(secret, CURRENT) === undefined)
    return waiting(pool, 'CloudFormation has not created its key yet');
  if (state?.is === 'deleted') return waiting(pool, 'CloudFormation has deleted its key');
  const report = await (writes ? mend : inspect)(on);
  const facts = await readSecretFacts(ports, await ports.secrets.describe(secret.id));
  return {
    report: { ...report, problems: [...report.problems, ...doubtsOf(facts, ports.clock.now())] },
    facts,
  };
}

async function mend({ ports, pool, secret }: PoolSecret): Promise<PoolReport> {
  const facts = await ensureKey(ports, pool, secret.id);
  return { pool: pool.name, works: 'yes', keyId: facts.id, keyName: facts.name, problems: [] };
}

async function inspect(on: PoolSecret): Promise<PoolReport> {
  const held = await readHeld(on, versionWith(on.secret, CURRENT));
  const flaw = flawOf(held, await wantedBy(on));
  const key = held.kind === 'known' ? { keyId: held.facts.id, keyName: held.facts.name } : {};
  const problems =
    flaw === undefined ? [] : [`${FLAWS[flaw]}; the next sweep, within 15 minutes, makes another key`];
  return { pool: on.pool.name, works: flaw === undefined ? 'yes' : 'no', ...key, problems };
}

const FLAWS: Readonly<Record<Flaw, string>> = {
  nothing: 'its secret has no value',
  garbage: 'the value of its secret has no field "key"',
  refused: 'coderd does not know the key in its secret; somebody has deleted it',
  'other-organization': 'the key in its secret belongs to another organization',
  'other-tags': 'the key in its secret has other tags than the pool',
};

/** A version gets its key within a minute of its announcement, unless the key function fails. */
const ROTATION_MS = 10 * MINUTE_MS;
export const IS_ROTATING = 'a rotation is running: a version of its secret has no key yet';

function doubtsOf({ inDoubt, changedAt, current }: PoolSecretFacts, now: EpochMs): readonly string[] {
  if (!inDoubt) return [];
  if (current.size > 0 && now - changedAt < ROTATION_MS) return [IS_ROTATING];
  return [
    'a version of its secret has no readable key, so no old key is deleted; if no rotation is running, remove the label AWSPENDING from that version',
  ];
}

const NO_SECRET =
  'the stack has no secret for it; wait for the end of the deployment, or restore the secret if somebody deleted it (aws secretsmanager restore-secret)';

/** The sweep fails, so that an alarm tells if the end of the deployment does not help. */
function stuck(pool: ManagedPool, problem: string): PoolState {
  return { ...waiting(pool, problem), error: `pool "${pool.name}": ${problem}` };
}

function waiting({ name }: ManagedPool, problem: string): PoolState {
  return { report: { pool: name, works: 'no', problems: [problem] } };
}
