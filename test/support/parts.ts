/** Complete values of the core's types, from the few fields that matter to a test. */
import { checkConfig } from '../../lambda/config/check.ts';
import type {
  DaemonId,
  EpochMs,
  JobId,
  OrganizationId,
  PoolName,
  ServiceArn,
  TaskArn,
} from '../../lambda/decision/model/brands.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import type {
  Daemon,
  Job,
  OrganizationReadings,
  Protection,
  Reading,
  ReadingStatus,
  Service,
  Snapshot,
  Task,
  Template,
  Workspace,
} from '../../lambda/decision/model/snapshot.ts';

export const NOW = Date.parse('2026-11-20T09:00:00Z') as EpochMs;
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

const CODER = { url: 'https://coder.example.com', token: { secret: 'token' } };
/** The settings that are not here have their defaults. */
const [POOL = undefined as never] = checkConfig({
  coder: CODER,
  pools: [
    {
      name: 'cpu',
      organization: 'default',
      key: { secret: 'keys/cpu' },
      min: 0,
      warm: 0,
      idleTimeout: '10m',
      image: 'ghcr.io/coder/coder:v2.30.0',
      // the tables of rules count with the time of a launch only
      dollarsPerLaunch: 0,
    },
  ],
}).config.pools;

export const ago = (ms: number): EpochMs => (NOW - ms) as EpochMs;

/** A task id: 32 hexadecimal digits. */
export const taskIdOf = (index: number): string => index.toString(16).padStart(32, '0');
export const arnOf = (index: number): TaskArn =>
  `arn:aws:ecs:eu-central-1:111122223333:task/coder/${taskIdOf(index)}` as TaskArn;

export const reading = <T>(items: readonly T[], status: ReadingStatus = 'ok'): Reading<T> => ({
  status,
  items,
});

/** A task of the pool `cpu` that has been RUNNING for a day. */
export function aTask(given: Partial<Task> = {}): Task {
  return {
    taskArn: arnOf(1),
    group: 'service:Stack-cpu',
    lastStatus: 'RUNNING',
    desiredStatus: 'RUNNING',
    taskDefinitionArn: 'cpu:1',
    createdAt: ago(24 * HOUR),
    startedAt: ago(24 * HOUR),
    containers: [],
    ...given,
  };
}

/** A lease with 47 hours left. */
export function aLease(given: Partial<Protection> = {}): Protection {
  return { taskArn: arnOf(1), protectionEnabled: true, expirationDate: ago(-47 * HOUR), ...given };
}

/** The idle daemon of `aTask`, seen 20 s ago. */
export function aDaemon(given: Partial<Daemon> = {}): Daemon {
  return {
    id: 'daemon' as DaemonId,
    organization_id: 'org-default' as OrganizationId,
    name: `cpu-${taskIdOf(1)}`,
    created_at: ago(23 * HOUR),
    last_seen_at: ago(20 * SECOND),
    tags: {},
    status: 'idle',
    current_job: null,
    previous_job: null,
    ...given,
  };
}

export const jobId = (id: string): JobId => id as JobId;
export const daemonId = (id: string): DaemonId => id as DaemonId;

let jobs = 0;

/** A pending job of a person. Each has its own id. */
export function aJob(given: Partial<Job> = {}): Job {
  return {
    id: jobId(`job-${++jobs}`),
    created_at: ago(30 * SECOND),
    status: 'pending',
    organization_id: 'org-default' as OrganizationId,
    initiator_id: 'somebody',
    tags: {},
    type: 'workspace_build',
    ...given,
  };
}

export function anOrganization(given: Partial<OrganizationReadings> = {}): OrganizationReadings {
  return {
    id: 'org-default' as OrganizationId,
    name: 'default',
    jobs: reading([]),
    daemons: reading([]),
    previousJobs: reading([]),
    ...given,
  };
}

type Build = Workspace['latest_build'];
const dailyAt = (time: Date): string => `CRON_TZ=UTC ${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;
let workspaces = 0;

/**
 * Stopped yesterday by a person, of `aTemplate`. With `next_start_at`: it starts at that time every
 * day.
 */
export function aWorkspace({
  latest_build,
  ...given
}: Partial<Omit<Workspace, 'latest_build'>> & { readonly latest_build?: Partial<Build> } = {}): Workspace {
  return {
    id: `workspace-${++workspaces}`,
    organization_id: 'org-default' as OrganizationId,
    template_id: 'template',
    is_prebuild: false,
    autostart_schedule: given.next_start_at == null ? null : dailyAt(new Date(given.next_start_at)),
    next_start_at: null,
    last_used_at: ago(24 * HOUR),
    dormant_at: null,
    deleting_at: null,
    ...given,
    latest_build: {
      created_at: ago(24 * HOUR),
      transition: 'stop',
      reason: 'initiator',
      deadline: null,
      max_deadline: null,
      job: { status: 'succeeded', completed_at: ago(24 * HOUR - MINUTE) },
      ...latest_build,
    },
  };
}

/** A template that allows autostarts on every day. Its workspaces never become dormant. */
export function aTemplate(given: Partial<Template> = {}): Template {
  return {
    id: 'template',
    organization_id: 'org-default' as OrganizationId,
    active_version_id: 'version',
    allow_user_autostart: true,
    autostart_requirement: {
      days_of_week: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
    },
    failure_ttl_ms: 0,
    time_til_dormant_ms: 0,
    time_til_dormant_autodelete_ms: 0,
    ...given,
  };
}

export function aService(given: Partial<Service> = {}): Service {
  return {
    serviceArn: 'arn:service/cpu' as ServiceArn,
    serviceName: 'Stack-cpu',
    status: 'ACTIVE',
    desiredCount: 0,
    runningCount: 0,
    pendingCount: 0,
    taskDefinition: 'cpu:1',
    deployments: [{ rolloutState: 'COMPLETED' }],
    tags: [{ key: 'coder-autoscaler:pool', value: 'cpu' }],
    ...given,
  };
}

export const poolName = (name: string): PoolName => name as PoolName;

export function aPool<G extends Partial<PoolConfig>>(given?: G): PoolConfig & { readonly min: number };
export function aPool(given: Partial<PoolConfig> = {}): PoolConfig {
  return { ...POOL, ...given };
}

export function aConfig(...pools: readonly PoolConfig[]): Config {
  return {
    coder: CODER,
    alertAfterMs: 5 * MINUTE,
    limits: { maxTasks: 100 },
    looks: { everyMs: 10 * SECOND },
    roll: { atOncePercent: 25 },
    pools,
  };
}

type Seen = {
  readonly organizations?: readonly OrganizationReadings[];
  readonly services?: readonly Service[];
  readonly tasks?: readonly Task[];
  readonly protections?: readonly Protection[];
  /** `null`: coderd did not answer. */
  readonly version?: string | null;
};

/** A snapshot whose lists are all ok. */
export function aSnapshot({ organizations, services, tasks, protections, version }: Seen = {}): Snapshot {
  return {
    version: 1,
    takenAt: NOW,
    coder: {
      ...(version === null ? {} : { buildInfo: { version: version ?? 'v2.30.0' } }),
      organizations: organizations ?? [anOrganization()],
    },
    ecs: {
      cluster: 'coder',
      services: reading(services ?? [aService()]),
      tasks: reading(tasks ?? []),
      protections: reading(protections ?? []),
    },
  };
}
