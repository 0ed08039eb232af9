/** Checks how the daemons of a pool authenticate to coderd. */
import { error, type Finding } from '../problems/problems.ts';
import { MANAGED } from '../schema/secret-ref.ts';
import type { ConfigDraft, PoolDraft } from './drafts.ts';

const WAYS = ['key', 'psk', 'token'] as const;

export function checkAuth(pool: PoolDraft, config: ConfigDraft): Finding[] {
  return [...checkOneWay(pool), ...checkManagedKeys(pool, config)];
}

function checkOneWay({ index, raw }: PoolDraft): Finding[] {
  const [first, second] = WAYS.filter((way) => raw[way] !== undefined);
  if (first === undefined)
    return [
      error(
        ['pools', index, 'key'],
        'missing; write the secret that holds the provisioner key, such as { secret: coder/keys/default }, or "managed". To use a pre-shared key or the token of a user, write psk or token instead',
      ),
    ];
  if (second === undefined) return [];
  return [error(['pools', index, second], `the pool already has ${first}; keep one of ${WAYS.join(', ')}`)];
}

function checkManagedKeys({ index, key }: PoolDraft, { raw }: ConfigDraft): Finding[] {
  if (key !== MANAGED || raw.managedKeys !== undefined) return [];
  const message =
    '"managed" needs the section managedKeys; write managedKeys: { token: { secret: coder/key-manager-token } }';
  return [error(['pools', index, 'key'], message)];
}
