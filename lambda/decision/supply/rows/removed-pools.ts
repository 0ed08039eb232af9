/**
 * Removed pools: pools that are no longer in the configuration while their service still exists.
 * They drain like retiring pools. Their settings come from the tags of the service and of its
 * daemons.
 */
import { type EpochMs, type PoolName, poolOfPart } from '../../model/brands.ts';
import { by, unique } from '../../model/collections.ts';
import type { Config, PoolConfig } from '../../model/config.ts';
import { isOwn, ORGANIZATION_TAG, POOL_TAG, SCALE_IN_TAG, tagOf } from '../../model/service-tags.ts';
import type { Service, Snapshot } from '../../model/snapshot.ts';
import { HOUR_MS } from '../../model/units.ts';
import { partsOf } from '../../settings/parts.ts';
import { NO_TASKS } from '../../settings/settings-in-force.ts';
import { poolNamed } from './daemons.ts';

/**
 * A deployment creates the service of a new pool before the function gets the new configuration.
 * CloudFormation waits at most 3 hours for a service, so a younger service may be new, not removed.
 */
const NEW_FOR_MS = 3 * HOUR_MS;

/** As retiring pools, by name. None if the own stack's name is unknown. */
export function removedPools({ ecs, coder, takenAt }: Snapshot, { pools }: Config): readonly PoolConfig[] {
  const known = new Set<string>(pools.flatMap(partsOf).map(({ name }) => name));
  const found = ecs.services.items
    .filter(
      (service) => service.status === 'ACTIVE' && isOwn(service, ecs.stack) && isSettled(service, takenAt),
    )
    .flatMap((service) => {
      const [name, organization, scaleIn] = [POOL_TAG, ORGANIZATION_TAG, SCALE_IN_TAG].map((key) =>
        tagOf(service, key),
      );
      // report only: its organization is not read, or its tasks have no guard that drains
      const view = coder.organizations.find(({ name: it, id }) => it === organization || id === organization);
      if (name === undefined || known.has(name) || view === undefined || scaleIn !== 'lease') return [];
      const tags = view.daemons.items.find((daemon) => poolNamed(daemon) === poolOfPart(name))?.tags ?? {};
      return [{ ...REMOVED_POOL_SETTINGS, name: name as PoolName, organization: view.name, tags }];
    });
  return unique(found, ({ name }) => name).toSorted(by(({ name }) => name));
}

function isSettled({ deployments }: Service, now: EpochMs): boolean {
  return deployments.some(
    ({ status, createdAt }) =>
      status === 'PRIMARY' && createdAt !== undefined && now - createdAt >= NEW_FOR_MS,
  );
}

/** A retiring pool launches no task, so most settings do not matter. */
const REMOVED_POOL_SETTINGS: Omit<PoolConfig, 'name' | 'organization' | 'tags'> = {
  ...NO_TASKS,
  retiring: true,
  auth: { kind: 'managed' },
  idleTimeoutMs: 0,
  waiting: { person: 0, autostart: 0, prebuild: 0, stop: 0 },
  dollarsPerLaunch: 0,
  startTimeMs: 90_000,
  image: '',
  cpu: 256,
  memory: 512,
  architecture: 'arm64',
  spot: false,
  environment: {},
  secrets: {},
};
