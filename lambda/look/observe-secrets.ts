/** Reads the metadata of the secrets that the pools' tasks get. */
import type { EpochMs } from '../decision/model/brands.ts';
import type { PoolConfig } from '../decision/model/config.ts';
import { type SecretEntry, secretsOf } from '../decision/model/secrets.ts';
import { POOL_TAG, tagOf } from '../decision/model/service-tags.ts';
import type { Reading, Snapshot, Task } from '../decision/model/snapshot.ts';
import type { SecretList, WantedSecret } from './ports.ts';

/** Reads the metadata. Does not throw. */
export function observeSecrets(
  list: SecretList,
  pools: readonly PoolConfig[],
  { ecs, now }: { readonly ecs: Snapshot['ecs']; readonly now: EpochMs },
): Promise<Reading<SecretEntry>> {
  return list.entries(
    pools.flatMap((pool) => wantedBy(pool, ecs)),
    now,
  );
}

function wantedBy(pool: PoolConfig, ecs: Snapshot['ecs']): readonly WantedSecret[] {
  const created = tasksOf(pool, ecs).flatMap(({ createdAt }) => createdAt ?? []);
  const oldestTaskAt = created.length === 0 ? undefined : (Math.min(...created) as EpochMs);
  return secretsOf(pool).map((used) => ({ ...used, pool: pool.name, stack: ecs.stack, oldestTaskAt }));
}

function tasksOf({ name }: PoolConfig, { services, tasks }: Snapshot['ecs']): readonly Task[] {
  const groups = services.items
    .filter((service) => tagOf(service, POOL_TAG) === name)
    .map(({ serviceName }) => `service:${serviceName}`);
  return tasks.items.filter(
    ({ group, lastStatus }) => lastStatus !== 'STOPPED' && groups.includes(group ?? ''),
  );
}
