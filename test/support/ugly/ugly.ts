/** Generators of ugly snapshots: states that should not occur, but do at times. */
import fc from 'fast-check';
import type {
  DaemonId,
  EpochMs,
  JobId,
  OrganizationId,
  ServiceArn,
} from '../../../lambda/decision/model/brands.ts';
import type { Config, PoolConfig } from '../../../lambda/decision/model/config.ts';
import type {
  Daemon,
  ForecastReadings,
  Job,
  OrganizationReadings,
  Protection,
  Reading,
  ReadingStatus,
  Service,
  Snapshot,
  StockChoice,
  Task,
} from '../../../lambda/decision/model/snapshot.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { aConfig, ago, aJob, aPool, arnOf, HOUR, jobId, MINUTE, NOW, poolName, taskIdOf } from '../parts.ts';
import { learnedIn } from '../stocked.ts';
import { forecastSettings, uglyForecast } from './ugly-forecast.ts';
import { uglyRecord } from './ugly-record.ts';

export type Ugly = { readonly snapshot: Snapshot; readonly config: Config };

const ORGANIZATIONS = ['default', 'data'] as const;

const times = fc
  .constantFrom(
    -5 * MINUTE,
    -10_000,
    0,
    20_000,
    80_000,
    90_000,
    100_000,
    9 * MINUTE,
    10 * MINUTE,
    14 * MINUTE,
    16 * MINUTE,
    3 * HOUR,
  )
  .map(ago);
/** Tags with names that every object has. */
const PROTO: Tags = JSON.parse('{"__proto__":"1","constructor":"2"}');
const tags = fc.constantFrom<Tags>(
  {},
  PROTO,
  { a: '1' },
  { a: '1', b: '1' },
  { b: '1' },
  { scope: 'user', owner: 'x', a: '1' },
  { '': '' },
);
const statuses = fc.constantFrom<ReadingStatus>(
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  'truncated',
  'forbidden',
  'failed',
  'stale',
);

const pools = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom(...ORGANIZATIONS),
      fc.constantFrom<Tags>({}, { a: '1' }, { a: '1', b: '1' }, { b: '1' }, PROTO),
    ),
    {
      minLength: 1,
      maxLength: 4,
      selector: (pair) => JSON.stringify(pair),
    },
  )
  .chain((pairs) =>
    fc.tuple(...pairs.map(([organization, own], index) => poolConfig(organization, own, index))),
  );

function poolConfig(organization: string, own: Tags, index: number): fc.Arbitrary<PoolConfig> {
  return fc
    .record({
      min: fc.integer({ min: 0, max: 3 }),
      extra: fc.integer({ min: 1, max: 6 }),
      warm: fc.constantFrom<number | 'auto'>('auto', 'auto', 0, 1, 2),
      cpu: fc.constantFrom(256, 1024, 4096),
      spot: fc.boolean(),
      retiring: fc.constantFrom(false, false, false, false, false, true),
      bindTaskRole: fc.boolean(),
      forecast: forecastSettings,
    })
    .map(({ extra, warm, forecast, ...given }) =>
      aPool({
        ...given,
        ...forecast,
        name: poolName(`p${index}`),
        organization,
        tags: own,
        max: given.min + extra,
        warm: warm === 'auto' ? warm : Math.min(warm, given.min + extra),
        memory: given.cpu * 2,
      }),
    );
}

type TaskPicture = {
  readonly task: Task;
  readonly protection: Protection | undefined;
  readonly daemons: readonly Daemon[];
  readonly jobs: readonly Job[];
};

/** A prefix that no pool has. */
export const STRANGER = 'x';

/** A task with any protection, daemon rows and jobs. They may contradict each other. */
function taskPicture(pool: PoolConfig, index: number): fc.Arbitrary<TaskPicture> {
  const id = taskIdOf(index);
  const taskArn = arnOf(index);
  const own = `${pool.name}-${id}`;
  const names = fc.constantFrom(own, own, own, `${STRANGER}-${id}`, '', 'ip-10-0-0-1');
  return fc
    .record({
      lastStatus: fc.constantFrom(
        'RUNNING',
        'RUNNING',
        'RUNNING',
        'RUNNING',
        'PENDING',
        'PROVISIONING',
        'DEACTIVATING',
        'STOPPED',
      ),
      desiredStatus: fc.constantFrom('RUNNING', 'RUNNING', 'RUNNING', 'RUNNING', 'STOPPED'),
      startedAt: fc.option(times, { nil: undefined, freq: 5 }),
      stopCode: fc.constantFrom('TaskFailedToStart', 'EssentialContainerExited', 'ServiceSchedulerInitiated'),
      leftMinutes: fc.constantFrom(undefined, undefined, -1, 5, 23 * 60, 24 * 60, 47 * 60, 47 * 60, 47 * 60),
      isProtectionRead: fc.integer({ min: 0, max: 9 }).map((roll) => roll > 0),
      rows: fc.constantFrom(0, 1, 1, 1, 1, 1, 2),
      seenAt: fc.option(times, { nil: undefined, freq: 9 }),
      status: fc.constantFrom('idle', 'idle', 'idle', 'busy', 'offline', null, ''),
      isHolding: fc.constantFrom('nothing', 'nothing', 'nothing', 'current', 'worker', 'both'),
      previousAt: fc.option(times, { nil: undefined }),
      isPreviousKnown: fc.boolean(),
      name: names,
      twinName: names,
      offers: fc.constantFrom(pool.tags, pool.tags, pool.tags, { z: '9' }),
      revision: fc.constantFrom('d:1', 'd:2'),
      startedBy: fc.constantFrom('old', 'new', 'new', undefined),
      createdAt: fc.constantFrom(ago(4 * HOUR), ago(4 * HOUR), ago(MINUTE)),
    })
    .map((given) => {
      const organization_id = `org-${pool.organization}` as OrganizationId;
      const daemonId = `d-${id}` as DaemonId;
      const current = `c-${id}` as JobId;
      const previous = `q-${id}` as JobId;
      const isWorking = given.isHolding === 'worker' || given.isHolding === 'both';
      const row: Daemon = {
        id: daemonId,
        organization_id,
        name: given.name,
        created_at: ago(3 * HOUR),
        last_seen_at: given.seenAt ?? null,
        tags: given.offers,
        status: given.status,
        current_job:
          given.isHolding === 'current' || given.isHolding === 'both'
            ? { id: current, status: 'running' }
            : null,
        previous_job: given.previousAt === undefined ? null : { id: previous, status: 'succeeded' },
      };
      const job = (id: JobId, status: string, completed_at?: EpochMs): Job => ({
        id,
        created_at: ago(HOUR),
        status,
        organization_id,
        tags: {},
        type: 'workspace_build',
        worker_id: daemonId,
        ...(completed_at === undefined ? {} : { completed_at }),
      });
      return {
        task: {
          taskArn,
          group: `service:s-${pool.name}`,
          lastStatus: given.lastStatus,
          desiredStatus: given.desiredStatus,
          taskDefinitionArn: given.revision,
          startedBy: given.startedBy,
          createdAt: given.createdAt,
          startedAt: given.startedAt,
          containers: [{ networkInterfaces: [{ privateIpv4Address: '10.0.0.1' }] }],
          ...(given.lastStatus === 'STOPPED'
            ? { stopCode: given.stopCode, stoppedAt: given.seenAt ?? NOW, stoppedReason: 'because' }
            : {}),
        },
        protection: given.isProtectionRead
          ? {
              taskArn,
              protectionEnabled: given.leftMinutes !== undefined,
              ...(given.leftMinutes === undefined
                ? {}
                : { expirationDate: ago(-given.leftMinutes * MINUTE) }),
            }
          : undefined,
        daemons: Array.from({ length: given.rows }, (_, twin) => ({
          ...row,
          ...(twin === 0
            ? {}
            : { id: `${daemonId}${twin}` as DaemonId, name: given.twinName, current_job: null }),
        })),
        jobs: [
          ...(isWorking ? [job(current, 'running')] : []),
          ...(given.previousAt !== undefined && given.isPreviousKnown
            ? [job(previous, 'succeeded', given.previousAt)]
            : []),
        ],
      };
    });
}

const pendingJobs = fc.array(
  fc.record({
    organization: fc.constantFrom(...ORGANIZATIONS),
    tags,
    createdAt: times,
    isPrebuild: fc.boolean(),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  { maxLength: 6 },
);

/** One more pending job, of any age. */
export const oneMoreJob = fc
  .record({
    organization: fc.constantFrom(...ORGANIZATIONS),
    tags,
    createdAt: times,
    isPrebuild: fc.boolean(),
  })
  .map((given) => pendingJob('one-more', given));

function pendingJob(
  id: string,
  given: { organization: string; tags: Tags; createdAt: EpochMs; isPrebuild: boolean },
): Job {
  return aJob({
    id: jobId(id),
    created_at: given.createdAt,
    organization_id: `org-${given.organization}` as OrganizationId,
    tags: given.tags,
    ...(given.isPrebuild ? { initiator_id: 'c42fdf75-3097-471c-8c33-fb52454d81c0' } : {}),
  });
}

/** Daemons outside the pools, online or offline. */
const strangers = fc.array(
  fc
    .record({ organization: fc.constantFrom(...ORGANIZATIONS), tags, seenAt: times, isBusy: fc.boolean() })
    .map(({ organization, tags: own, seenAt, isBusy }) => ({
      organization_id: `org-${organization}` as OrganizationId,
      tags: own,
      last_seen_at: seenAt,
      created_at: ago(3 * HOUR),
      status: isBusy ? 'busy' : 'idle',
      current_job: isBusy ? { id: 'theirs' as JobId, status: 'running' } : null,
    })),
  { maxLength: 3 },
);
type Tag = Service['tags'][number];

/** Tags of one override, mostly none. Otherwise they are valid, expired or unreadable. */
function overrideTag(key: string, values: readonly string[]): fc.Arbitrary<readonly Tag[]> {
  const none = fc.constant<readonly Tag[]>([]);
  const some = fc
    .record({
      value: fc.constantFrom(...values),
      until: fc.constantFrom(-HOUR, -HOUR, -HOUR, -1, 0, HOUR, undefined, Number.NaN),
      by: fc.constantFrom(undefined, '', 'anna'),
    })
    .map(({ value, until, by }) => [
      { key, value },
      ...(until === undefined
        ? []
        : [
            {
              key: `${key}-until`,
              value: Number.isNaN(until) ? 'tomorrow' : new Date(ago(until)).toISOString(),
            },
          ]),
      ...(by === undefined ? [] : [{ key: `${key}-by`, value: by }]),
    ]);
  return fc.oneof({ arbitrary: none, weight: 5 }, { arbitrary: some, weight: 1 });
}

const counts = ['0', '1', '2', '5', '40', '-1', 'many', ''];
const overrideTags = fc
  .tuple(
    overrideTag('coder-autoscaler:pause', ['all', 'all', 'scale-in', 'scale-in', 'on']),
    overrideTag('coder-autoscaler:pin', counts),
    overrideTag('coder-autoscaler:floor', counts),
  )
  .map((tags) => tags.flat());

const primary = { id: 'new', status: 'PRIMARY' };
const replaced = { id: 'old', status: 'ACTIVE' };

/** Deployments that are complete, in progress, or complete before their old tasks have left. */
const rollouts = fc.constantFrom<Pick<Service, 'deployments' | 'deploymentConfiguration'>>(
  { deployments: [{ ...primary, rolloutState: 'COMPLETED' }] },
  { deployments: [{ ...primary, rolloutState: 'COMPLETED' }] },
  { deployments: [{ rolloutState: 'IN_PROGRESS' }] },
  { deployments: [{ ...primary, rolloutState: 'IN_PROGRESS' }, replaced] },
  ...[[], [replaced]].map((older) => ({
    deployments: [{ ...primary, rolloutState: 'COMPLETED' }, ...older],
    deploymentConfiguration: { earlySuccessCriteria: { enable: true } },
  })),
);

/**
 * Events of a service, mostly none. Otherwise ECS could not place a task, started one later, or
 * both.
 */
const placements = fc.oneof(
  { arbitrary: fc.constant<Service['events']>([]), weight: 3 },
  {
    arbitrary: fc.array(
      fc.record({
        createdAt: times,
        message: fc.constantFrom(
          '(service s) was unable to place a task. Reason: Capacity is unavailable at this time.',
          '(service s) was unable to place a task. Reason: Capacity is unavailable at this time.',
          '(service s) has started 1 tasks: (task 1).',
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    weight: 1,
  },
);

type Stranger = Omit<Daemon, 'id' | 'name'>;

type Parts = {
  readonly strangers: readonly Stranger[];
  readonly pools: readonly PoolConfig[];
  readonly pictures: readonly (readonly TaskPicture[])[];
  readonly desired: readonly number[];
  readonly rollouts: readonly Pick<Service, 'deployments' | 'deploymentConfiguration'>[];
  readonly events: readonly Service['events'][];
  readonly overrides: readonly (readonly Tag[])[];
  readonly pending: readonly {
    organization: string;
    tags: Tags;
    createdAt: EpochMs;
    isPrebuild: boolean;
    count: number;
  }[];
  readonly readings: readonly ReadingStatus[];
  readonly maxTasks: number;
  readonly atOncePercent: number;
  readonly isVersionKnown: boolean;
  readonly forecasts: readonly (ForecastReadings | Record<string, never>)[];
  readonly records: readonly (Reading<Job> | undefined)[];
  /** The rule of each set of pools. Undefined: the process has just started. */
  readonly learned: { readonly rule: StockChoice['rule']; readonly isPartly: boolean } | undefined;
};

function assemble({
  strangers: others,
  pools: configs,
  pictures,
  desired,
  rollouts: rolloutOf,
  events,
  overrides,
  pending,
  readings,
  maxTasks,
  atOncePercent,
  isVersionKnown,
  forecasts,
  records,
  learned,
}: Parts): Ugly {
  let at = 0;
  const reading = <T>(items: readonly T[]): Reading<T> => {
    const status = readings[at++ % readings.length] ?? 'ok';
    return { status, items: status === 'failed' || status === 'forbidden' ? [] : items };
  };
  const organizations = ORGANIZATIONS.map((name, row): OrganizationReadings => {
    const own = configs.flatMap((pool, index) => (pool.organization === name ? (pictures[index] ?? []) : []));
    const jobs = own.flatMap((picture) => picture.jobs);
    const waiting = pending.flatMap((group, place) =>
      group.organization === name
        ? Array.from({ length: group.count }, (_, index) => pendingJob(`j-${place}-${index}`, group))
        : [],
    );
    return {
      id: `org-${name}` as OrganizationId,
      name,
      jobs: reading([...jobs.filter(({ status }) => status === 'running'), ...waiting]),
      daemons: reading([
        ...own.flatMap((picture) => picture.daemons),
        ...others.flatMap((row, index) =>
          row.organization_id === `org-${name}`
            ? [{ ...row, id: `s-${index}` as DaemonId, name: `coderd-${index}` }]
            : [],
        ),
      ]),
      previousJobs: reading(jobs.filter(({ status }) => status === 'succeeded')),
      ...forecasts[row],
      ...(records[row] === undefined ? {} : { recentJobs: records[row] }),
    };
  });
  const services = configs.map((pool, index): Service => {
    const tasks = (pictures[index] ?? []).map(({ task }) => task);
    return {
      serviceArn: `arn:${pool.name}` as ServiceArn,
      serviceName: `s-${pool.name}`,
      status: 'ACTIVE',
      desiredCount: desired[index] ?? 0,
      runningCount: tasks.filter(({ lastStatus }) => lastStatus === 'RUNNING').length,
      pendingCount: 0,
      taskDefinition: 'd:2',
      deployments: [],
      ...rolloutOf[index],
      events: events[index],
      tags: [{ key: 'coder-autoscaler:pool', value: pool.name }, ...(overrides[index] ?? [])],
    };
  });
  const all = pictures.flat();
  const snapshot: Snapshot = {
    version: 1,
    takenAt: NOW,
    coder: { ...(isVersionKnown ? { buildInfo: { version: 'v2.30.0' } } : {}), organizations },
    ecs: {
      cluster: 'c',
      services: reading(services),
      tasks: reading(all.map(({ task }) => task)),
      protections: reading(all.flatMap(({ protection }) => protection ?? [])),
    },
  };
  const config = { ...aConfig(...configs), limits: { maxTasks }, roll: { atOncePercent } };
  if (learned === undefined) return { snapshot, config };
  const { tagSets, choices } = learnedIn(snapshot, config, learned.rule);
  const known = choices.filter((_, index) => !learned.isPartly || index % 2 === 0);
  return { snapshot: { ...snapshot, stock: { tagSets, choices: known } }, config };
}

const LEARNED = fc.option(
  fc.record({
    rule: fc.record({
      free: fc.constantFrom(0, 1, 2, 8, 30),
      spareMs: fc.constantFrom(0, 60_000, 600_000),
      afterBuildMs: fc.constantFrom(null, 900_000, 3_600_000),
      countsBusy: fc.boolean(),
    }),
    isPartly: fc.boolean(),
  }),
  { nil: undefined, freq: 5 },
);

/** Ugly states; `view: 'full'` leaves every reading ok. */
export function uglyStates({ view }: { readonly view: 'full' | 'any' }): fc.Arbitrary<Ugly> {
  return pools.chain((configs) =>
    fc
      .record({
        pictures: fc.tuple(
          ...configs.map((pool, poolIndex) =>
            fc
              .integer({ min: 0, max: 5 })
              .chain((count) =>
                fc.tuple(
                  ...Array.from({ length: count }, (_, index) =>
                    taskPicture(pool, poolIndex * 100 + index + 1),
                  ),
                ),
              ),
          ),
        ),
        surplus: fc.array(fc.constantFrom(0, 0, 0, 1, 3, -1), { minLength: 4, maxLength: 4 }),
        rollouts: fc.array(rollouts, { minLength: 4, maxLength: 4 }),
        events: fc.array(placements, { minLength: 4, maxLength: 4 }),
        overrides: fc.array(overrideTags, { minLength: 4, maxLength: 4 }),
        pending: pendingJobs,
        strangers,
        readings:
          view === 'full'
            ? fc.constant(['ok'] as ReadingStatus[])
            : fc.array(statuses, { minLength: 9, maxLength: 9 }),
        maxTasks: fc.constantFrom(3, 8, 100),
        atOncePercent: fc.constantFrom(1, 25, 100),
        isVersionKnown: fc.boolean(),
        forecasts: fc.tuple(...ORGANIZATIONS.map((name) => uglyForecast(name, view === 'full'))),
        records: fc.tuple(...ORGANIZATIONS.map(uglyRecord)),
        learned: LEARNED,
      })
      .map(({ surplus, ...parts }) => ({
        ...parts,
        pools: configs,
        desired: parts.pictures.map((tasks, index) => Math.max(0, counted(tasks) + (surplus[index] ?? 0))),
      }))
      .map(assemble),
  );
}

function counted(pictures: readonly TaskPicture[]): number {
  return pictures.filter(({ task }) => task.desiredStatus === 'RUNNING' && task.lastStatus !== 'STOPPED')
    .length;
}
