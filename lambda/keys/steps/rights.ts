/** Finds missing rights before a rotation needs them. */
import type { ManagedPool } from '../model/pool.ts';
import type { KeyPorts } from '../model/ports.ts';

const ACTIONS = ['read', 'create', 'delete'] as const;

/** A sentence for each organization of a managed key in which the token's user lacks a right. */
export async function findMissingRights(
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
