/** Reads one snapshot of coderd, ECS and Secrets Manager, with parallel requests where possible. */

import { MOST_DELAY_MS } from '../decision/forecast/wake-demand.ts';
import { type EpochMs, type JobId, lastPart, type OrganizationId } from '../decision/model/brands.ts';
import type { Config, PoolConfig } from '../decision/model/config.ts';
import { secretsOf } from '../decision/model/secrets.ts';
import { poolOfService } from '../decision/model/service-tags.ts';
import type {
  Daemon,
  ForecastReadings,
  Job,
  OrganizationReadings,
  Reading,
  Service,
  Snapshot,
  Task,
} from '../decision/model/snapshot.ts';
import { MINUTE_MS } from '../decision/model/units.ts';
import { partsOf } from '../decision/settings/parts.ts';
import { LATE_UNTIL_MS, nameInParts } from '../decision/supply/rows/daemons.ts';
import type { Clock, Coderd, NamedService, Organization, Ports, ReadableEcs, WantedSecret } from './ports.ts';
import { TimeLimit } from './time-limit.ts';

/** Takes one snapshot. Does not throw: each reading has a status. */
export async function observe(
  { coderd, ecs, secrets: list, clock }: Ports,
  config: Config,
  limit = new TimeLimit({ startTimer: clock.startTimer }),
): Promise<Snapshot> {
  const startedAt = clock.now();
  const parts = config.pools.flatMap(partsOf).map(({ name }) => name);
  const aws = observeEcs(limit.ecs(ecs), startedAt, parts);
  const limited = limit.coderd(coderd);
  const [read, cluster, secrets] = await Promise.all([
    observeCoder({ coderd: limited, clock }, config),
    aws,
    list &&
      aws.then((ecs) => {
        const now = ecs.services.takenAt ?? startedAt;
        return list.entries(secretsWanted(config.pools, ecs), now, limit.signal);
      }),
  ]);
  const isDoubted = read.license !== 'not_entitled' && isAnyUnconnected(read, cluster);
  const coder = isDoubted ? { ...read, ...(await limited.license(timeOf(read) ?? startedAt, true)) } : read;
  limit.end();
  // coderd's clock: the decision compares it with times that coderd wrote
  const takenAt = timeOf(coder) ?? cluster.services.takenAt ?? clock.now();
  return {
    ...{ version: 1, takenAt, clock: startedAt, coder, ecs: cluster },
    ...(secrets === undefined ? {} : { secrets }),
  };
}

/**
 * The earliest time of this look's answers. A clock that is ahead does not count, and the decision
 * detects that the clocks differ.
 */
function timeOf({ organizations }: Snapshot['coder']): EpochMs | undefined {
  const times = organizations
    .flatMap(({ jobs, daemons, previousJobs }) => [jobs, daemons, previousJobs])
    .flatMap(({ takenAt }) => (takenAt === undefined ? [] : [takenAt]));
  return times.length === 0 ? undefined : (Math.min(...times) as EpochMs);
}

/** Whether a task holds a lease and coderd lists no daemon of it: coderd may have refused it. */
function isAnyUnconnected({ organizations }: Snapshot['coder'], { protections }: Snapshot['ecs']): boolean {
  if (organizations.some(({ daemons }) => daemons.status !== 'ok')) return false;
  const rows = organizations.flatMap(({ daemons }) => daemons.items);
  const connected = new Set(rows.map(({ name }) => nameInParts(name).ending));
  return protections.items.some((item) => item.protectionEnabled && !connected.has(lastPart(item.taskArn)));
}

/** Reads everything from coderd. Does not throw. */
export async function observeCoder(
  { coderd, clock }: { readonly coderd: Coderd; readonly clock: Pick<Clock, 'now'> },
  config: Config,
): Promise<Snapshot['coder']> {
  const [build, known] = await Promise.all([coderd.buildInfo(), coderd.organizations()]);
  const buildInfo = build.items[0];
  const names = [...new Set(config.pools.map(({ organization }) => organization))].sort();
  const found = names.map((name) => known.items.find((item) => isNamed(item, name)) ?? name);
  const now = build.takenAt ?? clock.now();
  const [expiresAt, license, forecast, ...organizations] = await Promise.all([
    coderd.tokenExpiry(now),
    coderd.license(now, false),
    forecastOf(coderd, known.items, config.pools, { now, build: buildInfo }),
    ...[...new Set(found)].map((item) =>
      typeof item === 'string'
        ? unknownOrganization(item, known)
        : observeOrganization(coderd, item, buildInfo),
    ),
  ]);
  return {
    ...(buildInfo === undefined ? {} : { buildInfo }),
    ...(expiresAt === undefined ? {} : { token: { expiresAt } }),
    ...license,
    organizations: organizations
      .map((view) => ({ ...view, ...forecast.get(view.id) }))
      .map((view) => (known.items.some(({ id }) => id === view.id) ? recorded(coderd, view, now) : view)),
  };
}

function isNamed({ id, name }: Organization, nameOrId: string): boolean {
  return name === nameOrId || id === nameOrId;
}

/** A transition that a list was too old for is seen, and its daemon started, in time. */
const REFRESH_MS = MOST_DELAY_MS / 3;

/** Reads the forecast of the organizations that have a pool with `wake`. */
async function forecastOf(
  coderd: Coderd,
  known: readonly Organization[],
  pools: readonly PoolConfig[],
  at: { readonly now: EpochMs; readonly build: Snapshot['coder']['buildInfo'] },
): Promise<ReadonlyMap<OrganizationId, ForecastReadings>> {
  const waking = pools.filter(({ wake }) => wake);
  const organizations = known.filter((item) => waking.some((pool) => isNamed(item, pool.organization)));
  if (organizations.length === 0) return new Map();
  return coderd.forecast(organizations, { ...at, refreshMs: REFRESH_MS });
}

async function observeOrganization(
  coderd: Coderd,
  organization: Organization,
  build: Snapshot['coder']['buildInfo'],
): Promise<OrganizationReadings> {
  const [jobs, daemons] = await Promise.all([
    coderd.jobs(organization, build),
    coderd.daemons(organization, build),
  ]);
  const previous = daemons.items.flatMap((daemon) =>
    previousJobToRead(daemon, { coderd, organization, daemons }),
  );
  const ids = [...previous, ...coderd.gone(organization, jobs)];
  const previousJobs: Reading<Job> =
    ids.length === 0
      ? { status: 'ok', items: [] }
      : await coderd.jobsByIds(organization, [...new Set(ids)].sort());
  return { ...organization, jobs, daemons, previousJobs };
}

/** A stopped task is listed for an hour (docs/internals/aws.md §2), and its daemon was seen until its end. */
const GONE_FOR_MS = 65 * MINUTE_MS;

/**
 * Its previous job, if it is needed: of an idle daemon, to know since when it is idle; of one that
 * has just gone, if the job failed and no look knows when. It may have died with its task.
 */
function previousJobToRead(
  daemon: Daemon,
  {
    coderd,
    organization,
    daemons,
  }: {
    readonly coderd: Coderd;
    readonly organization: Organization;
    readonly daemons: Reading<Daemon>;
  },
): readonly JobId[] {
  const { status, current_job, previous_job, last_seen_at } = daemon;
  if (current_job != null || previous_job == null) return [];
  const unseenMs = (daemons.takenAt ?? 0) - (last_seen_at ?? 0);
  if (status !== 'offline' || unseenMs <= LATE_UNTIL_MS) return [previous_job.id];
  // older servers list the offline rows of seven days
  const isRecent = unseenMs < GONE_FOR_MS;
  if (!isRecent || previous_job.status !== 'failed') return [];
  return coderd.knowsEnd(organization, previous_job.id) ? [] : [previous_job.id];
}

/** Adds the jobs that are known from this look and earlier ones. */
function recorded(coderd: Coderd, view: OrganizationReadings, now: EpochMs): OrganizationReadings {
  const { jobs, previousJobs, workspaces } = view;
  return { ...view, recentJobs: coderd.recentJobs(view, { jobs, previousJobs, workspaces, now }) };
}

/**
 * An organization of the configuration that coderd does not list stays in the snapshot, as unread.
 * Its id is the configured name or UUID, so that it differs from all other ids.
 */
function unknownOrganization(name: string, known: Reading<Organization>): OrganizationReadings {
  const missing: Reading<Job & Daemon> =
    known.status === 'ok'
      ? {
          status: 'forbidden',
          error: unlisted(name, known.items),
          items: [],
        }
      : { status: known.status === 'truncated' ? 'failed' : known.status, error: known.error, items: [] };
  return { id: name as OrganizationId, name, jobs: missing, daemons: missing, previousJobs: missing };
}

/** The error for an organization that coderd does not list. */
export function unlisted(name: string, known: readonly Organization[]): string {
  const seen = known.map((item) => `"${item.name}"`).join(', ') || 'none';
  return `finding organization "${name}": coderd lists ${seen}; check the name, and that the token's user is a member`;
}

/** The services whose rows could not be read: their tasks count against the limits. */
function hiddenIn({ leftOut = [] }: Reading<Service>): readonly NamedService[] {
  return leftOut.flatMap(({ row }) => (row.startsWith('arn:') ? [{ serviceName: lastPart(row) }] : []));
}

/** Reads services, tasks and protections of the cluster. Does not throw. */
export async function observeEcs(
  ecs: ReadableEcs,
  now?: EpochMs,
  pools?: readonly string[],
): Promise<Snapshot['ecs']> {
  const services = await ecs.services(undefined, now, pools);
  const named = [...services.items, ...hiddenIn(services)];
  const tasks = await ecs.tasks(named);
  // tasks of services that no list has are only counted
  const groups = new Set(named.map(({ serviceName }) => `service:${serviceName}`));
  const running = tasks.items.filter(
    ({ group = '', lastStatus, desiredStatus }) =>
      groups.has(group) && lastStatus === 'RUNNING' && desiredStatus === 'RUNNING',
  );
  const protections = await ecs.protections(running.map(({ taskArn }) => taskArn));
  const { cluster, stack, ownsCluster } = ecs;
  return {
    ...{ cluster, services, tasks, protections },
    ...(stack === undefined ? {} : { stack }),
    ...(ownsCluster ? { ownsCluster } : {}),
  };
}

/** The secrets that the pools' tasks get. */
function secretsWanted(pools: readonly PoolConfig[], ecs: Snapshot['ecs']): readonly WantedSecret[] {
  return pools.flatMap((pool) => wantedBy(pool, ecs));
}

function wantedBy(pool: PoolConfig, ecs: Snapshot['ecs']): readonly WantedSecret[] {
  const created = tasksOf(pool, ecs).flatMap(({ createdAt }) => createdAt ?? []);
  const oldestTaskAt = created.length === 0 ? undefined : (Math.min(...created) as EpochMs);
  return secretsOf(pool).map((used) => ({ ...used, pool: pool.name, stack: ecs.stack, oldestTaskAt }));
}

function tasksOf({ name }: PoolConfig, { services, tasks }: Snapshot['ecs']): readonly Task[] {
  const groups = services.items
    .filter((service) => poolOfService(service) === name)
    .map(({ serviceName }) => `service:${serviceName}`);
  return tasks.items.filter(
    ({ group, lastStatus }) => lastStatus !== 'STOPPED' && groups.includes(group ?? ''),
  );
}
