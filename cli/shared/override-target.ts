/** Finds a pool by name, and the ECS service whose tags hold its overrides. */
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { POOL_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Reading, Service } from '../../lambda/decision/model/snapshot.ts';
import { withAdvice } from './aws-advice.ts';
import { InputError } from './cli-environment.ts';

/** Finds a pool by name. Throws InputError if the configuration has no such pool. */
export function findPool(name: string, pools: readonly PoolConfig[]): PoolConfig {
  const pool = pools.find((it) => it.name === name);
  if (pool !== undefined) return pool;
  const names = pools.map((it) => it.name).join(', ');
  throw new InputError(`finding pool "${name}": the configuration has only ${names}. Name one of them`);
}

/** Finds the active service of a pool. Throws InputError unless there is exactly one. */
export function findService(pool: string, services: Reading<Service>): Service {
  if (services.status !== 'ok') throw new InputError(withAdvice(services.error ?? services.status));
  const found = services.items.filter(
    ({ status, tags }) =>
      status === 'ACTIVE' && tags.some(({ key, value }) => key === POOL_TAG && value === pool),
  );
  const [service] = found;
  if (service !== undefined && found.length === 1) return service;
  throw new InputError(`finding the service of pool "${pool}": ${problemOf(pool, found)}`);
}

function problemOf(pool: string, found: readonly Service[]): string {
  if (found.length === 0)
    return `no active service of the cluster has the tag ${POOL_TAG}=${pool}. Deploy the configuration, or name another cluster with --cluster`;
  const names = found.map(({ serviceName }) => serviceName).join(', ');
  return `${found.length} services have its tag (${names}). Keep the tag on one of them`;
}
