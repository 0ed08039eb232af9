import type { PoolConfig, SecretRef } from '../decision/model/config.ts';

type Named = Pick<PoolConfig, 'auth' | 'secrets'>;

/** The secrets that the configuration names for the tasks of pools. The stack makes managed keys. */
export function secretsOf(pools: readonly Named[]): readonly SecretRef[] {
  return pools.flatMap(({ auth, secrets }) => [
    ...(auth.kind === 'managed' ? [] : [auth.secret]),
    ...Object.values(secrets),
  ]);
}
