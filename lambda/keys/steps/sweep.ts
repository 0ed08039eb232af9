/**
 * Every 15 minutes: mends pools whose tasks would get no working key, and deletes keys that nobody can hold.
 * The check reads the same and writes nothing.
 */
import { messageOf } from '../../decision/model/message-of.ts';
import type { KeyReport, KeysAnswer, PoolReport } from '../model/events.ts';
import { KeysError } from '../model/keys-error.ts';
import type { ManagedPool } from '../model/pool.ts';
import type { KeyPorts } from '../model/ports.ts';
import type { PoolSecretFacts } from '../rules/retire-key.ts';
import { lookAfterPools, type PoolState } from './pools.ts';
import { retireKeys } from './retire-keys.ts';

/** Throws KeysError `unfinished` at the end if something could not be read or written. */
export async function sweep(ports: KeyPorts, pools: readonly ManagedPool[]): Promise<KeysAnswer> {
  const answer = await run(ports, pools, true);
  const own = answer.keys.filter(({ verdict }) => verdict !== 'foreign');
  ports.log.info('sweep', { pools: answer.pools, keys: own });
  if (answer.problems.length === 0) return { ...answer, keys: own };
  throw new KeysError('unfinished', `sweeping the keys: ${answer.problems.join('; ')}`);
}

/** Reports every key that the token's user may see, foreign ones too. */
export function check(ports: KeyPorts, pools: readonly ManagedPool[]): Promise<KeysAnswer> {
  return run(ports, pools, false);
}

async function run(ports: KeyPorts, pools: readonly ManagedPool[], writes: boolean): Promise<KeysAnswer> {
  const states = await lookAfterPools(ports, pools, writes);
  const problems = [...states.flatMap(({ error }) => error ?? [])];
  const keys = await collecting<KeyReport>(problems, () =>
    retireKeys(ports, { pools, secrets: secretsOf(states), writes, problems }),
  );
  problems.push(...(await collecting<string>(problems, () => findMissingRights(ports, pools))));
  return { pools: states.map(({ report }): PoolReport => report), keys, problems: [...new Set(problems)] };
}

function secretsOf(states: readonly PoolState[]): ReadonlyMap<string, PoolSecretFacts | undefined> {
  return new Map(states.map(({ report, facts }) => [report.pool, facts]));
}

/** One failure does not stop the rest of the sweep. */
async function collecting<T>(problems: string[], act: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await act();
  } catch (cause) {
    problems.push(messageOf(cause));
    return [];
  }
}

const ACTIONS = ['read', 'create', 'delete'] as const;

/** Before a rotation needs them: a sentence for each organization where the token's user lacks a right. */
async function findMissingRights(
  { keys }: KeyPorts,
  pools: readonly ManagedPool[],
): Promise<readonly string[]> {
  if (pools.length === 0) return [];
  const wanted = new Set(pools.map(({ organization }) => organization.toLowerCase()));
  const all = await keys.organizations();
  const used = all.filter(({ id, name }) => wanted.has(id) || wanted.has(name.toLowerCase()));
  const rights = await keys.rights(used.map(({ id }) => id));
  return used.flatMap(({ id, name }) => {
    const missing = ACTIONS.filter((action) => rights.get(id)?.[action] !== true);
    return missing.length === 0
      ? []
      : [
          `the token's user may not ${missing.join(', ')} provisioner keys in organization "${name}"; give it the role organization template admin there`,
        ];
  });
}
