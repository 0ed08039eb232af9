/**
 * Pools that somebody removed from the file while their service is still there. They drain as retiring pools do. What a plan needs to
 * know of them is on the service: its tags, and the tags of its daemons.
 */
import type { EpochMs, PoolName } from '../model/brands.ts';
import { by, unique } from '../model/collections.ts';
import type { Config, PoolConfig, ScaleIn } from '../model/config.ts';
import { isOwn, ORGANIZATION_TAG, POOL_TAG, SCALE_IN_TAG, tagOf } from '../model/service-tags.ts';
import type { Service, Snapshot } from '../model/snapshot.ts';
import { poolNamed } from './daemons.ts';

/**
 * A deployment makes the service of a new pool before the function gets the new file. CloudFormation waits for a service for 3 hours at
 * the most, so a younger one may be new rather than removed.
 */
const NEW_FOR_MS = 3 * 3_600_000;

/** As retiring pools, in order of name. Empty where the name of the own stack is not known: the services may be another deployment's. */
export function removedPools({ ecs, coder, takenAt }: Snapshot, { pools }: Config): readonly PoolConfig[] {
  const known = new Set<string>(pools.map(({ name }) => name));
  const found = ecs.services.items
    .filter(
      (service) => service.status === 'ACTIVE' && isOwn(service, ecs.stack) && isSettled(service, takenAt),
    )
    .flatMap((service) => {
      const [name, organization, scaleIn] = [POOL_TAG, ORGANIZATION_TAG, SCALE_IN_TAG].map((key) =>
        tagOf(service, key),
      );
      // where its organization is not read, or ECS alone would choose who stops, it is only reported
      const view = coder.organizations.find(({ name: it, id }) => it === organization || id === organization);
      if (name === undefined || known.has(name) || view === undefined || !isDrainable(scaleIn)) return [];
      const tags = view.daemons.items.find((daemon) => poolNamed(daemon) === name)?.tags ?? {};
      return [{ ...GONE, name: name as PoolName, organization: view.name, scaleIn, tags }];
    });
  return unique(found, ({ name }) => name).toSorted(by(({ name }) => name));
}

function isDrainable(scaleIn: string | undefined): scaleIn is Exclude<ScaleIn, 'never'> {
  return scaleIn === 'lease' || scaleIn === 'confirm';
}

function isSettled({ deployments }: Service, now: EpochMs): boolean {
  return deployments.some(
    ({ status, createdAt }) =>
      status === 'PRIMARY' && createdAt !== undefined && now - createdAt >= NEW_FOR_MS,
  );
}

/** Nothing launches a task of a retiring pool, so most settings do not matter. */
const GONE: Omit<PoolConfig, 'name' | 'organization' | 'scaleIn' | 'tags'> = {
  retiring: true,
  key: { secret: '' },
  min: 0,
  max: 0,
  warm: 0,
  idleTimeoutMs: 0,
  waiting: { person: 0, autostart: 0, prebuild: 0, stop: 0 },
  dollarsPerLaunch: 0,
  prebuilds: { maxTasks: 0 },
  whenBlind: { floor: 0 },
  wake: { autostart: false, autostop: false, maxDelayMs: Number.POSITIVE_INFINITY },
  prewarm: { max: 0 },
  startTimeMs: 90_000,
  schedules: [],
  image: '',
  cpu: 256,
  memory: 512,
  architecture: 'arm64',
  spot: false,
  environment: {},
  secrets: {},
};
