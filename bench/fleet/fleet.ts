/**
 * Generates a deployment: organizations, pools with overlapping tags, up to a few hundred tag
 * groups of pending jobs, tasks in every state, and workspaces. It has the format of coderd and ECS
 * (times: RFC 3339).
 */
import { Random } from '../../simulator/base/random.ts';
import { type FleetJob, makeGroups, makeJob } from './jobs.ts';
import { configOf, type FleetConfig, type FleetPool, makePools } from './pools.ts';
import type { FleetSize } from './size.ts';
import { pickSkewed } from './skewed.ts';
import {
  definitionArn,
  type FleetMember,
  type FleetTaskState,
  makeMember,
  pickState,
  type Surroundings,
  serviceArn,
} from './tasks.ts';
import { type FleetTemplate, makeTemplate } from './templates.ts';
import { type FleetWorkspace, makeWorkspace } from './workspaces.ts';

export type FleetOrganization = {
  readonly id: string;
  readonly name: string;
  readonly jobs: readonly FleetJob[];
  readonly daemons: readonly NonNullable<FleetMember['daemon']>[];
  readonly previousJobs: readonly FleetJob[];
  readonly templates: readonly FleetTemplate[];
  readonly workspaces: readonly FleetWorkspace[];
};

export type FleetService = ReturnType<typeof makeService>;

export type Fleet = {
  readonly takenAt: string;
  readonly version: string;
  readonly organizations: readonly FleetOrganization[];
  readonly services: readonly FleetService[];
  readonly members: readonly FleetMember[];
  /** The parsed `autoscaler.yaml` for a coderd at this URL. */
  readonly config: (coderdUrl: string) => FleetConfig;
};

/** The start time of workspaces with a schedule. Pools have to be awake by then. */
const STARTS_AT = Date.parse('2026-03-02T09:00:00Z');
const MINUTE = 60_000;
const TAKEN_AT = STARTS_AT - 1.5 * MINUTE;
const WORKSPACES_A_TEMPLATE = 50;

/** Generates a deployment of this size. */
export function makeFleet(size: FleetSize): Fleet {
  const random = new Random(size.seed);
  const pools = makePools(size, random);
  const names = [...new Set(pools.map(({ organization }) => organization))];
  const ids = new Map(names.map((name) => [name, random.uuid()]));
  const given = { takenAt: TAKEN_AT, random, organizationId: (name: string) => ids.get(name) ?? '' };
  const members = makeMembers(pools, size, given);
  const pending = makePending(pools, size, given);
  const templates = makeTemplates(pools, size, given);
  const workspaces = makeWorkspaces(templates, size, given);
  return {
    takenAt: new Date(TAKEN_AT).toISOString(),
    version: 'v2.30.0',
    organizations: names.map((name) =>
      makeOrganization({ id: given.organizationId(name), name }, { pending, members, templates, workspaces }),
    ),
    services: pools.map((pool) => makeService(pool, members)),
    members,
    config: (coderdUrl) => configOf(pools, size, coderdUrl),
  };
}

/** One task for each daemon, and some more that start or stopped recently. */
function makeMembers(
  pools: readonly FleetPool[],
  { daemons }: FleetSize,
  given: Surroundings,
): readonly FleetMember[] {
  const { random } = given;
  const some = (share: number, stateOf: () => FleetTaskState) =>
    Array.from({ length: Math.round(daemons * share) }).flatMap(() => {
      const pool = pickSkewed(pools, 1.5, random);
      return pool === undefined ? [] : makeMember(pool, stateOf(), given);
    });
  return [
    ...some(1, () => pickState(random)),
    ...some(0.08, () => 'starting'),
    ...some(0.05, () => 'stopped'),
  ];
}

function makePending(
  pools: readonly FleetPool[],
  size: FleetSize,
  { random, takenAt, organizationId }: Surroundings,
): readonly FleetJob[] {
  const groups = makeGroups(pools, size.jobs, random);
  // as in real deployments, few groups have most of the jobs
  return Array.from({ length: size.jobs }).flatMap(() => {
    const group = pickSkewed(groups, 2, random);
    if (group === undefined) return [];
    const createdAt = takenAt - random.between(0, 25 * MINUTE);
    return makeJob({ ...group, organizationId: organizationId(group.organization), createdAt }, random);
  });
}

function makeTemplates(
  pools: readonly FleetPool[],
  size: FleetSize,
  { random, organizationId }: Surroundings,
): readonly FleetTemplate[] {
  const groups = makeGroups(pools, size.workspaces, random);
  return Array.from({ length: Math.ceil(size.workspaces / WORKSPACES_A_TEMPLATE) }).flatMap(() => {
    const group = random.pick(groups);
    return group === undefined ? [] : makeTemplate(group, organizationId(group.organization), random);
  });
}

/**
 * One workspace of each template. As in real deployments, most others have one of a few templates.
 */
function makeWorkspaces(
  templates: readonly FleetTemplate[],
  size: FleetSize,
  { random, takenAt }: Surroundings,
): readonly FleetWorkspace[] {
  return Array.from({ length: size.workspaces }).flatMap((_, index) => {
    const template = templates[index] ?? pickSkewed(templates, 2, random);
    return template === undefined ? [] : makeWorkspace({ template, takenAt, startsAt: STARTS_AT, random });
  });
}

type Everything = Pick<FleetOrganization, 'templates' | 'workspaces'> & {
  readonly pending: readonly FleetJob[];
  readonly members: readonly FleetMember[];
};

function makeOrganization(
  { id, name }: { readonly id: string; readonly name: string },
  { pending, members, templates, workspaces }: Everything,
): FleetOrganization {
  const own = members.filter(({ pool }) => pool.organization === name);
  return {
    id,
    name,
    jobs: [
      ...pending.filter(({ organization_id }) => organization_id === id),
      ...own.flatMap(({ running }) => running ?? []),
    ],
    daemons: own.flatMap(({ daemon }) => daemon ?? []),
    previousJobs: own.flatMap(({ daemon, running, previous }) =>
      running === undefined && daemon?.status !== 'offline' ? (previous ?? []) : [],
    ),
    templates: templates.filter(({ listed }) => listed.organization_id === id),
    workspaces: workspaces.filter(({ organization_id }) => organization_id === id),
  };
}

function makeService(pool: FleetPool, members: readonly FleetMember[]) {
  const own = members.filter((member) => member.pool === pool);
  const count = (status: string): number => own.filter(({ task }) => task.lastStatus === status).length;
  const counts = { runningCount: count('RUNNING'), pendingCount: count('PENDING') };
  const desiredCount = counts.runningCount + counts.pendingCount;
  const taskDefinition = definitionArn(pool, 2);
  return {
    serviceArn: serviceArn(pool),
    serviceName: pool.serviceName,
    status: 'ACTIVE',
    desiredCount,
    ...counts,
    taskDefinition,
    deployments: [
      {
        id: 'ecs-svc/1234567890123456789',
        status: 'PRIMARY',
        taskDefinition,
        desiredCount,
        ...counts,
        rolloutState: 'COMPLETED',
        createdAt: new Date(TAKEN_AT - 24 * 60 * MINUTE).toISOString(),
      },
    ],
    events: [],
    tags: [{ key: 'coder-autoscaler:pool', value: pool.name }],
  };
}
