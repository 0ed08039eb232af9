/** What a look can see of the tasks of pools, in small values, and the snapshot made from it. */
import { checkConfig } from '../../../../lambda/config/check.ts';
import type {
  DaemonId,
  EpochMs,
  JobId,
  OrganizationId,
  PoolName,
  ServiceArn,
  TaskArn,
} from '../../../../lambda/decision/model/brands.ts';
import type { Config } from '../../../../lambda/decision/model/config.ts';
import type {
  Daemon,
  Job,
  LearnedStock,
  Reading,
  Service,
  Snapshot,
  Task,
} from '../../../../lambda/decision/model/snapshot.ts';
import { normalizeTags, type Tags } from '../../../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import type { DrainSettings } from '../../../world/pool-settings.ts';
import { ASKED_BELOW, holdsJob, type ModelTask, UNPROTECTED } from '../world/task.ts';

export type EcsReadings = {
  /** For each slot: what ECS shows of the task in it. */
  readonly tasks: readonly (EcsTaskView | undefined)[];
  readonly desired: number;
  readonly isDeploying: boolean;
  /** Whether the service's events say that ECS could not place a task, and ECS has started none since. */
  readonly isUnplaced: boolean;
  /** Whether three tasks ended before their daemons had registered. @default false */
  readonly startsFail?: boolean;
};

export type EcsTaskView = {
  readonly revision: 'old' | 'new';
  readonly isRunning: boolean;
  readonly protection: 'none' | 'ask' | 'lease';
  /** Whether it has been RUNNING for less than 15 min. */
  readonly isYoung: boolean;
};

export type CoderReadings = {
  readonly daemons: readonly DaemonView[];
  readonly pending: number;
};

/** coderd's row of the daemon in one slot, and whether a running job names it. */
export type DaemonView = { readonly row: 'none' | 'live' | 'offline'; readonly hasJob: boolean };

export const NO_DAEMON: DaemonView = { row: 'none', hasJob: false };

/** Undefined if ECS has chosen to stop it. `isCoderOlder`: a row that coderd did not show yet is new. */
export function seenByEcs(task: ModelTask | undefined, isCoderOlder = false): EcsTaskView | undefined {
  if (task === undefined || task.ecs === 'chosen') return undefined;
  const { protection, revision } = task;
  return {
    revision,
    isRunning: task.ecs === 'running',
    protection: protection === UNPROTECTED ? 'none' : protection < ASKED_BELOW ? 'ask' : 'lease',
    isYoung: task.row === 'young' || (isCoderOlder && task.row !== 'none'),
  };
}

export function seenByCoder(task: ModelTask | undefined): DaemonView {
  if (task === undefined) return NO_DAEMON;
  return { row: task.row === 'young' ? 'none' : task.row, hasJob: holdsJob(task) };
}

const NOW = Date.parse('2026-11-20T09:00:00Z');
const ago = (ms: number): EpochMs => (NOW - ms) as EpochMs;
const ORGANIZATION = { id: 'organization' as OrganizationId, name: 'default' };
/** Milliseconds left of a protection; the drain request was six minutes ago. */
const LEFT_OF = { none: 0, ask: 22.9 * HOUR_MS, lease: 47 * HOUR_MS } as const;

const taskId = (index: number): string => index.toString(16).padStart(32, '0');
export const arnOf = (index: number): TaskArn => `arn:aws:ecs:task/coder/${taskId(index)}` as TaskArn;
const ok = <T>(items: readonly T[]): Reading<T> => ({ status: 'ok', items });

export type Bounds = { readonly min: number; readonly max: number };

/** A pool as a look sees it: its configured name, which is also its service's, and its tags. */
export type SeenPool = { readonly name: string; readonly tags: Tags };

const CPU: SeenPool = { name: 'cpu', tags: { pool: 'cpu' } };

/** A configuration with these pools; idle daemons may drain at once. */
export function configWith(
  pools: readonly (SeenPool & Bounds)[],
  limits?: { readonly maxTasks: number },
): Config {
  return checkConfig({
    coder: { url: 'https://coder.example.com', token: { secret: 'token' } },
    limits,
    pools: pools.map(({ name, tags, ...bounds }) => ({
      ...{ name, tags, organization: ORGANIZATION.name, key: { secret: `keys/${name}` } },
      ...drainSettings(bounds),
    })),
  }).config;
}

/** The model looks at counts, of one pool or two; it has no clock for schedules. */
function drainSettings(bounds: Bounds): DrainSettings {
  return {
    ...bounds,
    warm: 'auto',
    idleTimeout: undefined,
    schedules: [],
    retiring: false,
    capacity: undefined,
  };
}

export function configOf(bounds: Bounds): Config {
  return configWith([{ ...CPU, ...bounds }]);
}

/** What was learned if all pools together keep a daemon free for builds with the tags of the first. */
export function keepsOneFree(pools: readonly SeenPool[]): LearnedStock {
  const [{ tags } = CPU] = pools;
  const organizationId = ORGANIZATION.id;
  const rule = { free: 1, spareMs: 0, afterBuildMs: null, countsBusy: false };
  const seen = { builds: 60, hours: 5, tasks: 0.04, waiting: 0.01, others: [] };
  return {
    tagSets: [{ organizationId, tags: normalizeTags(tags) }],
    choices: [{ organizationId, pools: pools.map(({ name }) => name as PoolName), rule, ...seen }],
  };
}

export type PoolLook = {
  readonly pool: SeenPool;
  readonly ecs: EcsReadings;
  readonly coder: CoderReadings;
  /** By slot: the number in the name of its task. Which of identical tasks is first is chance. */
  readonly names: readonly number[];
};

export function snapshotOf(ecs: EcsReadings, coder: CoderReadings, names: readonly number[]): Snapshot {
  return snapshotOfPools([{ pool: CPU, ecs, coder, names }]);
}

/** The snapshot of a look at pools of one organization. Each name belongs to one pool only. */
export function snapshotOfPools(
  looks: readonly PoolLook[],
  stock: LearnedStock = { tagSets: [], choices: [] },
): Snapshot {
  const parts = looks.map(partOf);
  return {
    version: 1,
    takenAt: ago(0),
    coder: {
      buildInfo: { version: 'v2.30.0' },
      organizations: [
        {
          ...ORGANIZATION,
          jobs: ok(parts.flatMap(({ jobs }) => jobs)),
          daemons: ok([OTHER_DAEMON, ...parts.flatMap(({ daemons }) => daemons)]),
          previousJobs: ok([]),
        },
      ],
    },
    stock,
    ecs: {
      cluster: 'coder',
      services: ok(parts.map(({ service }) => service)),
      tasks: ok(parts.flatMap(({ tasks }) => tasks)),
      protections: ok(parts.flatMap(({ protections }) => protections)),
    },
  };
}

function failedStarts(pool: SeenPool): readonly Task[] {
  const started = { revision: 'new', isRunning: true, protection: 'none', isYoung: true } as const;
  return [1, 2, 3].map((index) => ({
    ...taskOf(pool, started, FAILED_FROM + index),
    ...{ lastStatus: 'STOPPED', desiredStatus: 'STOPPED', stopCode: 'EssentialContainerExited' },
    ...{ createdAt: ago(42 * MINUTE_MS), startedAt: ago(41 * MINUTE_MS), stoppedAt: ago(40 * MINUTE_MS) },
    containers: [{ exitCode: 1 }],
  }));
}

/** Above the names of all other tasks. */
const FAILED_FROM = 1_000;

function partOf({ pool, ecs, coder, names }: PoolLook) {
  const seen = ecs.tasks.flatMap((task, slot) =>
    task === undefined ? [] : [{ task, name: names[slot] ?? slot }],
  );
  const daemons = coder.daemons.map((daemon, slot) => ({ daemon, name: names[slot] ?? slot }));
  const running = seen.filter(({ task }) => task.isRunning);
  return {
    service: serviceOf(pool, ecs, seen.length, running.length),
    tasks: [
      ...seen.map(({ task, name }) => taskOf(pool, task, name)),
      ...(ecs.startsFail === true ? failedStarts(pool) : []),
    ],
    protections: running.map(({ task, name }) => ({
      taskArn: arnOf(name),
      protectionEnabled: task.protection !== 'none',
      ...(task.protection === 'none' ? {} : { expirationDate: ago(-LEFT_OF[task.protection]) }),
    })),
    daemons: daemons.flatMap(({ daemon, name }) => daemonOf(pool, daemon, name)),
    jobs: [
      ...Array.from({ length: coder.pending }, (_, index) => jobOf(pool, `pending-${pool.name}-${index}`)),
      ...daemons.flatMap(({ daemon, name }) =>
        daemon.hasJob ? [jobOf(pool, `running-${name}`, daemonId(name))] : [],
      ),
    ],
  };
}

function serviceOf(
  { name }: SeenPool,
  { desired, isDeploying, isUnplaced }: EcsReadings,
  all: number,
  running: number,
): Service {
  const serviceName = `Stack-${name}`;
  const unplaced = `(service ${serviceName}) was unable to place a task. Reason: Capacity is unavailable at this time.`;
  const primary = {
    id: 'new',
    status: 'PRIMARY',
    taskDefinition: `${name}:new`,
    rolloutState: isDeploying ? 'IN_PROGRESS' : 'COMPLETED',
  };
  return {
    serviceArn: `arn:aws:ecs:service/coder/${serviceName}` as ServiceArn,
    serviceName,
    status: 'ACTIVE',
    desiredCount: desired,
    runningCount: running,
    pendingCount: all - running,
    taskDefinition: `${name}:new`,
    // without this setting no deployment is over before its old tasks are gone
    deploymentConfiguration: { earlySuccessCriteria: { enable: true } },
    deployments: [
      primary,
      ...(isDeploying ? [{ id: 'old', status: 'ACTIVE', taskDefinition: `${name}:old` }] : []),
    ],
    ...(isUnplaced ? { events: [{ createdAt: ago(0), message: unplaced }] } : {}),
    tags: [{ key: 'coder-autoscaler:pool', value: name }],
  };
}

function taskOf(pool: SeenPool, { revision, isRunning, isYoung }: EcsTaskView, name: number): Task {
  const sinceMs = isYoung ? 5 * MINUTE_MS : HOUR_MS;
  return {
    taskArn: arnOf(name),
    group: `service:Stack-${pool.name}`,
    lastStatus: isRunning ? 'RUNNING' : 'PENDING',
    desiredStatus: 'RUNNING',
    taskDefinitionArn: `${pool.name}:${revision}`,
    startedBy: revision,
    createdAt: ago(isRunning ? sinceMs + MINUTE_MS : MINUTE_MS),
    ...(isRunning ? { startedAt: ago(sinceMs) } : {}),
    containers: [],
  };
}

const daemonId = (name: number): DaemonId => `daemon-${name}` as DaemonId;

function daemonOf(pool: SeenPool, { row, hasJob }: DaemonView, name: number): readonly Daemon[] {
  if (row === 'none') return [];
  return [
    {
      id: daemonId(name),
      organization_id: ORGANIZATION.id,
      name: `${pool.name}-${taskId(name)}`,
      created_at: ago(50 * MINUTE_MS),
      last_seen_at: ago(row === 'live' ? 10_000 : 10 * MINUTE_MS),
      tags: pool.tags,
      status: row === 'offline' ? 'offline' : hasJob ? 'busy' : 'idle',
      current_job: hasJob ? { id: `running-${name}` as JobId, status: 'running' } : null,
      previous_job: null,
    },
  ];
}

/** Without a daemon of another fleet the list could be empty, which may be an error (docs/adr/0004). */
const OTHER_DAEMON: Daemon = {
  id: 'stranger' as DaemonId,
  organization_id: ORGANIZATION.id,
  name: 'stranger',
  created_at: ago(HOUR_MS),
  last_seen_at: ago(10_000),
  tags: {},
  status: 'idle',
  current_job: null,
  previous_job: null,
};

function jobOf({ tags }: SeenPool, id: string, worker?: DaemonId): Job {
  return {
    id: id as JobId,
    created_at: ago(MINUTE_MS),
    status: worker === undefined ? 'pending' : 'running',
    worker_id: worker,
    organization_id: ORGANIZATION.id,
    initiator_id: 'somebody',
    tags,
    type: 'workspace_build',
  };
}
