/** The rows about one pool in the lists of a look: its service, its tasks, and the daemons that claim them. */

import { type EpochMs, poolOfPart } from '../../model/brands.ts';
import { indexBy, unique } from '../../model/collections.ts';
import type { PoolConfig } from '../../model/config.ts';
import { memoized } from '../../model/memoize-by-object.ts';
import type { MalformedOverride, Override } from '../../model/plan.ts';
import { isForeign, isOwn, POOL_TAG, poolOfService, tagOf } from '../../model/service-tags.ts';
import type {
  Daemon,
  OrganizationReadings,
  Protection,
  Service,
  Snapshot,
  Task,
} from '../../model/snapshot.ts';
import { awsTimeOf } from '../../model/snapshot.ts';
import { isKnownVersion } from '../../model/version.ts';
import { deriveOverrides } from '../../settings/overrides.ts';
import { type InForce, settingsInForce } from '../../settings/settings-in-force.ts';
import { type DaemonIndex, indexDaemons } from './daemons.ts';
import { rowOfTask, type TaskRow } from './task-row.ts';
import { claimants } from './unlisted-daemons.ts';

/** The lists of a look, indexed once for all pools. */
export type Lists = {
  readonly snapshot: Snapshot;
  /** By AWS's clock. */
  readonly now: EpochMs;
  /** By the ARN of the task. */
  readonly protections: ReadonlyMap<string, Protection>;
  /** The tasks by their group, which names the service. */
  readonly byGroup: ReadonlyMap<string, readonly Task[]>;
  readonly indexes: ReadonlyMap<OrganizationReadings, DaemonIndex>;
};

export function indexLists(snapshot: Snapshot): Lists {
  const { coder, ecs, takenAt } = snapshot;
  const tasks = unique(ecs.tasks.items, ({ taskArn }) => taskArn);
  return {
    snapshot,
    now: awsTimeOf(snapshot),
    protections: indexBy(ecs.protections.items, ({ taskArn }) => taskArn),
    byGroup: Map.groupBy(tasks, (task) => task.group ?? ''),
    indexes: new Map(coder.organizations.map((view) => [view, indexDaemons(view, takenAt)])),
  };
}

/** What is known of a pool without any judgement. */
export type PoolFacts = InForce & {
  /** The pool as configured, without overrides. */
  readonly configured: PoolConfig;
  /** The active overrides, including those that change no setting. */
  readonly overrides: readonly Override[];
  readonly malformed: readonly MalformedOverride[];
  readonly organization: OrganizationReadings | undefined;
  /** The index of its organization's daemons. */
  readonly index: DaemonIndex | undefined;
  /** The one with this pool's tag. Undefined: there is none, or there are several, and the autoscaler touches none. */
  readonly service: Service | undefined;
  /** The daemons of all listed tasks, stopping ones too, with all claimants: none is others' capacity. */
  readonly owned: ReadonlySet<Daemon>;
};

export type PoolRows = {
  readonly facts: PoolFacts;
  /** All tasks that ECS lists for its service, stopping and stopped ones too. */
  readonly rows: readonly TaskRow[];
};

/** Finds the rows about a pool. */
export function rowsOfPool(configured: PoolConfig, lists: Lists): PoolRows {
  const { snapshot, now, protections, byGroup, indexes } = lists;
  const { coder, ecs } = snapshot;
  const service = onlyOne(servicesOf(configured, ecs));
  const { active: overrides, malformed } = overridesOf(configured, snapshot);
  const organization = findOrganization(configured, coder);
  const inForce = settingsInForce(configured, overrides, organization);
  const index = organization && indexes.get(organization);
  const isWhole = organization?.daemons.status === 'ok' && isKnownVersion(coder.buildInfo?.version);
  const shared = { pool: inForce.pool, index, isWhole, now };
  const tasks = service === undefined ? [] : (byGroup.get(`service:${service.serviceName}`) ?? []);
  const rows = tasks.map((task) => rowOfTask({ ...shared, task, protection: protections.get(task.taskArn) }));
  const owned = claimants(rows.map(({ claims }) => claims));
  return {
    facts: { ...inForce, configured, overrides, malformed, organization, index, service, owned },
    rows,
  };
}

/** The organization of a pool, by name or UUID. */
function findOrganization(
  pool: PoolConfig,
  { organizations }: Snapshot['coder'],
): OrganizationReadings | undefined {
  return organizations.find(({ id, name }) => name === pool.organization || id === pool.organization);
}

/** The services with a pool's tag: none of another stack; of no stack only if none has this stack's tag. */
export function servicesOf(pool: Pick<PoolConfig, 'name'>, ecs: Snapshot['ecs']): readonly Service[] {
  const tagged = activeServices(ecs).get(pool.name) ?? [];
  const own = tagged.filter((service) => isOwn(service, ecs.stack));
  return own.length > 0 ? own : tagged;
}

const activeServices = memoized(({ services, stack }: Snapshot['ecs']) =>
  Map.groupBy(
    unique(services.items, ({ serviceArn }) => serviceArn).filter(
      (service) => service.status === 'ACTIVE' && !isForeign(service, stack),
    ),
    (service) => tagOf(service, POOL_TAG),
  ),
);

function onlyOne([service, ...others]: readonly Service[]): Service | undefined {
  return others.length === 0 ? service : undefined;
}

/** Derives the overrides: those of the whole pool are on the service that has its name. */
function overridesOf({ name }: PoolConfig, { ecs, takenAt }: Snapshot) {
  const service = onlyOne(servicesOf({ name: poolOfPart(name) }, ecs));
  return deriveOverrides(service ?? { tags: [] }, takenAt);
}

/** The tasks of all parts: their daemons have the same name. */
export function tasksOfPool(
  { name }: Pick<PoolConfig, 'name'>,
  { snapshot, byGroup }: Pick<Lists, 'snapshot' | 'byGroup'>,
): readonly Task[] {
  const pooled = poolOfPart(name);
  const services = snapshot.ecs.services.items.filter((service) => poolOfService(service) === pooled);
  return services.flatMap(({ serviceName }) => byGroup.get(`service:${serviceName}`) ?? []);
}
