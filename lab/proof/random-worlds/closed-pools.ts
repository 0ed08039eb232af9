/** Finds the pools of which no new task can serve a job now: no decision can mend that. */
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { Plan, PoolPlan } from '../../../lambda/decision/model/plan.ts';
import type { FleetPool } from './world/fleet.ts';
import { partsOf } from './world/plan.ts';
import type { WorldEvents } from './world/world-events.ts';

/** What a look tells of the overrides of a pool. */
type Overridden = Pick<PoolPlan, 'name' | 'overrides'>;
type Told = Pick<Plan, 'findings'> & { readonly pools: readonly Overridden[] };

/** The organizations whose jobs the look could not read. */
export function unreadJobs({ findings }: Pick<Plan, 'findings'>): ReadonlySet<string> {
  return new Set(
    findings.flatMap((finding) => (finding.code === 'jobs-failed' ? (finding.organization ?? []) : [])),
  );
}

/** The names of these pools. */
export function closedPools(events: WorldEvents, plan: Told): ReadonlySet<string> {
  const { world, fleet } = events;
  const { ecs, coderd } = world;
  const unread = unreadJobs(plan);
  // no look sees the jobs or the counts, or no task gets a daemon
  const isAllClosed =
    events.isCoderdDown ||
    ecs.failing.has('DescribeServices') ||
    ecs.agentsDown ||
    ecs.freezing === 1 ||
    !coderd.isLicensed;
  const isClosed = (pool: FleetPool): boolean =>
    isAllClosed ||
    unread.has(pool.organization) ||
    world.keyId(pool.name) === undefined ||
    partsOf(pool).every((part) => startsNone(events, part)) ||
    isHeldByPerson(events, pool, plan.pools);
  return new Set(fleet.pools.filter(isClosed).map(({ name }) => name));
}

function startsNone({ world }: WorldEvents, part: string): boolean {
  const service = world.service(part);
  const isFailing = service.startFailure !== undefined || service.startsNone;
  return isFailing || world.ecs.deploymentRefusesLeases(service.identity.name);
}

/** Whether a person has paused the pool, or pinned it to no more tasks than ECS runs or will run. */
function isHeldByPerson({ world }: WorldEvents, pool: FleetPool, plans: readonly Overridden[]): boolean {
  const { overrides } = plans.find(({ name }) => name === pool.name) ?? { overrides: [] };
  const desired = sum(partsOf(pool), (part) => world.service(part).state.desiredCount);
  return overrides.some(({ kind, count = 0 }) => kind === 'pause' || (kind === 'pin' && count <= desired));
}
