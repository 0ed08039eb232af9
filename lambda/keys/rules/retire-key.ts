/** A key may go when no task and no daemon can hold it. Any doubt keeps it: a build could be lost. */
import type { EpochMs } from '../../decision/model/brands.ts';
import { DAY_MS, MINUTE_MS } from '../../decision/model/units.ts';
import type { KeyVerdict } from '../model/events.ts';
import { type OwnDeployment, poolOfKey } from '../model/pool.ts';
import type { KeyFacts, Listed, PoolTask, SeenDaemon } from '../model/ports.ts';

/** A task created up to this long after the switch may have read the old version of the secret. */
const SWITCH_MARGIN_MS = 10 * MINUTE_MS;
/** A daemon that was seen in this time may come back. */
const UNSEEN_MS = 10 * MINUTE_MS;
/** A key that no version holds may be one that another invocation is about to store. */
const ORPHAN_MS = DAY_MS;

export type PoolSecretFacts = {
  readonly secretId: string;
  readonly changedAt: EpochMs;
  readonly current: ReadonlySet<string>;
  readonly pending: ReadonlySet<string>;
  readonly previous: ReadonlySet<string>;
  /** Whether a value was unreadable, or a version announced and not stored. */
  readonly inDoubt: boolean;
};

export type RetireFacts = {
  readonly deployment: OwnDeployment;
  /** AWS's time. */
  readonly now: EpochMs;
  /** coderd's time. */
  readonly coderNow: EpochMs;
  /** The pools of the configuration that have a managed key. Undefined: the secret is unknown. */
  readonly pools: ReadonlyMap<string, PoolSecretFacts | undefined>;
  /** By pool; undefined: unknown. */
  readonly tasks: ReadonlyMap<string, readonly PoolTask[]> | undefined;
  /** Of the key's organization; undefined: unknown. */
  readonly daemons: Listed<SeenDaemon> | undefined;
};

/** `unused`: nobody can hold the key, so the sweep deletes it. */
export function judgeKey(key: KeyFacts, facts: RetireFacts): KeyVerdict {
  const pool = poolOfKey(facts.deployment, key.name);
  if (pool === undefined) return 'foreign';
  if (!facts.pools.has(pool)) return judgeLeftover(key, facts);
  const secret = facts.pools.get(pool);
  if (secret === undefined) return 'in-doubt';
  if (secret.current.has(key.id)) return 'current';
  if (secret.pending.has(key.id)) return 'pending';
  if (secret.inDoubt) return 'in-doubt';
  if (!isSettled(key, secret, facts)) return 'too-young';
  return judgeUse(key, pool, secret, facts);
}

/** Of a pool without a managed key: removed, renamed, or with another way to authenticate now. */
function judgeLeftover(key: KeyFacts, { coderNow, daemons }: RetireFacts): KeyVerdict {
  if (coderNow - key.createdAt < ORPHAN_MS) return 'too-young';
  if (daemons === undefined) return 'in-doubt';
  return wasSeen(key, daemons, ORPHAN_MS) ? 'in-use-by-a-daemon' : 'unused';
}

function isSettled(key: KeyFacts, secret: PoolSecretFacts, { now, coderNow }: RetireFacts): boolean {
  if (now < secret.changedAt + SWITCH_MARGIN_MS) return false;
  return secret.previous.has(key.id) || coderNow - key.createdAt >= ORPHAN_MS;
}

function judgeUse(key: KeyFacts, pool: string, secret: PoolSecretFacts, facts: RetireFacts): KeyVerdict {
  const tasks = facts.tasks?.get(pool);
  const { daemons } = facts;
  if (tasks === undefined || daemons === undefined) return 'in-doubt';
  const old = tasks.filter(({ createdAt }) => createdAt < secret.changedAt + SWITCH_MARGIN_MS);
  const current = daemons.items.filter(({ keyId }) => secret.current.has(keyId));
  const hasCurrent = new Set(current.map(({ name }) => name));
  if (old.some(({ id }) => !hasCurrent.has(`${pool}-${id}`))) return 'in-use-by-a-task';
  return wasSeen(key, daemons, UNSEEN_MS) ? 'in-use-by-a-daemon' : 'unused';
}

function wasSeen(key: KeyFacts, { items, now }: Listed<SeenDaemon>, withinMs: number): boolean {
  return items.some(({ keyId, lastSeenAt }) => keyId === key.id && lastSeenAt > now - withinMs);
}
