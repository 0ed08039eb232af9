/**
 * Snapshots from pictures. The tasks of a pool are words:
 *
 *   B       working, its daemon runs a job            P      not RUNNING yet
 *   I9m     working, its daemon idle for 9 minutes    N      RUNNING without lease and daemon, young
 *   R       working, its daemon not registered yet    L      leaving, its daemon finishes a job
 *   Z       working for an hour without a daemon      X      left: released, its daemon offline
 *   U9m     no lease, yet a live daemon idle for 9 minutes
 */
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { drawForecast, type ForecastDocument, type WorkspacesPicture } from './forecast-picture.ts';
import { MINUTE, NOW } from './parts.ts';
import type { ReadingDocument } from './reading-document.ts';
import { type ForecastSettings, forecastSettings } from './settings.ts';

export type PoolPicture = ForecastSettings & {
  readonly tasks?: string;
  /** @default the number of tasks that ECS counts */
  readonly desired?: number;
  readonly tags?: Tags;
  /** The tags of its daemons. @default the pool's tags */
  readonly daemonTags?: Tags;
  /** Age of the tasks that are not new. */
  readonly ageMinutes?: number;
  readonly organization?: string;
  readonly min?: number;
  readonly max?: number;
  readonly warm?: number;
  readonly idleTimeout?: string;
  readonly cpu?: number;
  readonly deploying?: boolean;
  readonly retiring?: boolean;
  /** Tags of its service, without `coder-autoscaler:`. */
  readonly overrides?: Readonly<Record<string, string>>;
};

export type JobsPicture = {
  readonly tags?: Tags;
  readonly jobs?: number;
  readonly organization?: string;
  readonly prebuilds?: boolean;
  /** Age of the oldest job. Each further job is a second younger. */
  readonly ageS?: number;
};

export type Picture = {
  readonly pools: Readonly<Record<string, PoolPicture>>;
  readonly pending?: readonly JobsPicture[];
  readonly maxTasks?: number;
  readonly waiting?: { readonly autostart: number };
  /** Daemons outside the pools. They are idle by default. */
  readonly strangers?: readonly { readonly tags?: Tags; readonly busy?: boolean }[];
  /** Workspaces of organizations that the picture has. Undefined: the snapshot has no forecast. */
  readonly workspaces?: readonly WorkspacesPicture[];
};

type Document = {
  version: 1;
  takenAt: string;
  coder: { buildInfo?: { version: string }; organizations: OrganizationDocument[] };
  ecs: EcsDocument;
};
type OrganizationDocument = {
  id: string;
  name: string;
  jobs: ReadingDocument;
  daemons: ReadingDocument;
  previousJobs: ReadingDocument;
  recentJobs?: ReadingDocument;
} & Partial<ForecastDocument>;
type EcsDocument = {
  cluster: string;
  services: ReadingDocument;
  tasks: ReadingDocument;
  protections: ReadingDocument;
};

export type Drawn = { readonly snapshot: Document; readonly config: Record<string, unknown> };

const iso = (msAgo: number): string => new Date(NOW - msAgo).toISOString();
const ok = (items: Record<string, unknown>[]): ReadingDocument => ({ status: 'ok', items });

/** A hexadecimal id of 32 digits, the same for the same words. */
export function idOf(...words: readonly (string | number)[]): string {
  let hash = 0x811c9dc5;
  let text = '';
  for (let round = 0; text.length < 32; round++) {
    for (const char of `${words.join('/')}#${round}`)
      hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
    text += hash.toString(16).padStart(8, '0');
  }
  return text;
}

export const taskArn = (pool: string, index: number): string =>
  `arn:aws:ecs:eu-central-1:111122223333:task/coder/${idOf(pool, index)}`;
const serviceArn = (pool: string): string =>
  `arn:aws:ecs:eu-central-1:111122223333:service/coder/Stack-${pool}`;

/** Draws a snapshot document and the configuration that goes with it. */
export function draw(picture: Picture): Drawn {
  const organizations = new Map<string, OrganizationDocument>();
  const organization = (name = 'default'): OrganizationDocument => {
    const found = organizations.get(name) ?? {
      id: `org-${name}`,
      name,
      jobs: { ...ok([]), limit: 0 },
      daemons: { ...ok([]), limit: 0 },
      previousJobs: ok([]),
    };
    organizations.set(name, found);
    return found;
  };
  const ecs: EcsDocument = { cluster: 'coder', services: ok([]), tasks: ok([]), protections: ok([]) };
  for (const [name, pool] of Object.entries(picture.pools))
    drawPool(name, pool, organization(pool.organization), ecs);
  for (const [index, jobs] of (picture.pending ?? []).entries())
    drawJobs(index, jobs, organization(jobs.organization));
  for (const [index, stranger] of (picture.strangers ?? []).entries())
    drawStranger(index, stranger, organization());
  return {
    snapshot: {
      version: 1,
      takenAt: iso(0),
      coder: {
        buildInfo: { version: 'v2.30.0' },
        organizations: [...organizations.values()].map((seen) => withForecast(seen, picture.workspaces)),
      },
      ecs,
    },
    config: drawConfig(picture),
  };
}

function withForecast(
  organization: OrganizationDocument,
  workspaces: Picture['workspaces'],
): OrganizationDocument {
  if (workspaces === undefined) return organization;
  const own = workspaces.filter((row) => (row.organization ?? 'default') === organization.name);
  return { ...organization, ...drawForecast(organization.id, own) };
}

function drawConfig({ pools, maxTasks, waiting }: Picture): Record<string, unknown> {
  return {
    coder: { url: 'https://coder.example.com', token: { secret: 'token' } },
    ...(maxTasks === undefined ? {} : { limits: { maxTasks } }),
    ...(waiting && { waiting }),
    pools: Object.entries(pools).map(([name, pool]) => ({
      name,
      organization: pool.organization ?? 'default',
      [pool.tags?.scope === 'user' ? 'token' : 'key']: { secret: `keys/${name}` },
      tags: pool.tags ?? {},
      min: pool.min ?? 0,
      max: pool.max ?? 20,
      warm: pool.warm ?? 0,
      idleTimeout: pool.idleTimeout ?? '10m',
      dollarsPerLaunch: 0,
      ...(pool.retiring ? { retiring: true } : {}),
      ...(pool.cpu === undefined ? {} : { cpu: pool.cpu, memory: pool.cpu * 2 }),
      ...forecastSettings(pool),
    })),
  };
}

function drawPool(
  name: string,
  pool: PoolPicture,
  organization: OrganizationDocument,
  ecs: EcsDocument,
): void {
  const words = (pool.tasks ?? '').split(/\s+/).filter(Boolean);
  for (const [index, word] of words.entries()) drawTask(name, index, word, pool, organization, ecs);
  ecs.services.items.push({
    serviceArn: serviceArn(name),
    serviceName: `Stack-${name}`,
    status: 'ACTIVE',
    desiredCount: pool.desired ?? words.length,
    runningCount: words.filter((word) => word !== 'P').length,
    pendingCount: words.filter((word) => word === 'P').length,
    taskDefinition: `${name}:1`,
    deployments: [
      { id: 'one', status: 'PRIMARY', rolloutState: pool.deploying ? 'IN_PROGRESS' : 'COMPLETED' },
    ],
    tags: Object.entries({ pool: name, ...pool.overrides }).map(([key, value]) => ({
      key: `coder-autoscaler:${key}`,
      value,
    })),
  });
}

function drawTask(
  name: string,
  index: number,
  word: string,
  pool: PoolPicture,
  organization: OrganizationDocument,
  ecs: EcsDocument,
): void {
  const kind = word.slice(0, 1);
  const age = word.length > 1 ? Number.parseInt(word.slice(1), 10) * MINUTE : 0;
  const arn = taskArn(name, index);
  const isYoung = kind === 'N' || kind === 'R';
  ecs.tasks.items.push({
    taskArn: arn,
    group: `service:Stack-${name}`,
    lastStatus: kind === 'P' ? 'PENDING' : 'RUNNING',
    desiredStatus: 'RUNNING',
    taskDefinitionArn: `${name}:1`,
    createdAt: iso(isYoung || kind === 'P' ? 2 * MINUTE : 24 * 60 * MINUTE),
    ...(kind === 'P' ? {} : { startedAt: iso(isYoung ? MINUTE : (pool.ageMinutes ?? 24 * 60) * MINUTE) }),
    containers: [{ name: 'provisioner' }],
  });
  if (kind === 'P') return;
  const leftMinutes = 'BIRZ'.includes(kind) ? 47 * 60 : kind === 'L' ? 22 * 60 : undefined;
  ecs.protections.items.push({
    taskArn: arn,
    protectionEnabled: leftMinutes !== undefined,
    ...(leftMinutes === undefined ? {} : { expirationDate: iso(-leftMinutes * MINUTE) }),
  });
  if ('NRZ'.includes(kind)) return;
  const daemon = `daemon-${name}-${index}`;
  const isBusy = kind === 'B' || kind === 'L';
  const previous = `previous-${name}-${index}`;
  if (isBusy)
    organization.jobs.items.push(
      job({
        id: `running-${name}-${index}`,
        status: 'running',
        worker_id: daemon,
        organization_id: organization.id,
        tags: pool.tags ?? {},
      }),
    );
  if (age > 0)
    organization.previousJobs.items.push(
      job({
        id: previous,
        status: 'succeeded',
        worker_id: daemon,
        completed_at: iso(age),
        organization_id: organization.id,
      }),
    );
  organization.daemons.items.push({
    id: daemon,
    organization_id: organization.id,
    name: `${name}-${idOf(name, index)}`,
    created_at: iso(23 * 60 * MINUTE),
    last_seen_at: iso(kind === 'X' ? 5 * MINUTE : 20_000),
    tags: { scope: 'organization', owner: '', ...(pool.daemonTags ?? pool.tags) },
    status: kind === 'X' ? 'offline' : isBusy ? 'busy' : 'idle',
    current_job: isBusy ? { id: `running-${name}-${index}`, status: 'running' } : null,
    previous_job: age > 0 ? { id: previous, status: 'succeeded' } : null,
  });
}

function job(fields: Record<string, unknown>): Record<string, unknown> {
  return {
    created_at: iso(30 * MINUTE),
    type: 'workspace_build',
    tags: { scope: 'organization', owner: '' },
    ...fields,
  };
}

function drawJobs(row: number, picture: JobsPicture, organization: OrganizationDocument): void {
  for (let index = 0; index < (picture.jobs ?? 1); index++) {
    organization.jobs.items.push(
      job({
        id: `pending-${row}-${index}`,
        status: 'pending',
        organization_id: organization.id,
        created_at: iso((picture.ageS ?? 30) * 1000 - index * 1000),
        initiator_id: picture.prebuilds ? 'c42fdf75-3097-471c-8c33-fb52454d81c0' : 'somebody',
        tags: { scope: 'organization', owner: '', ...picture.tags },
      }),
    );
  }
}

function drawStranger(
  index: number,
  picture: { readonly tags?: Tags; readonly busy?: boolean },
  organization: OrganizationDocument,
): void {
  organization.daemons.items.push({
    id: `stranger-${index}`,
    organization_id: organization.id,
    name: `coderd-${index}`,
    created_at: iso(60 * MINUTE),
    last_seen_at: iso(10_000),
    tags: { scope: 'organization', owner: '', ...picture.tags },
    status: picture.busy ? 'busy' : 'idle',
    current_job: picture.busy ? { id: 'theirs', status: 'running' } : null,
    previous_job: null,
  });
}
