/**
 * How far the sight of each pool can be trusted. Any doubt holds scale-in; scale-out goes on upon what is
 * seen, which is a lower bound.
 */
import { holdsWorker, indexDaemons } from './daemons.ts';
import { by } from './order.ts';
import type { Doubt, Finding, ReadingName } from './plan.ts';
import type { OrganizationSight, Reading, Snapshot } from './snapshot.ts';
import type { PoolSight } from './supply.ts';

export type Sight = {
  /** All that makes a pool's sight less than full; empty = full sight. */
  readonly doubtsOf: (sight: PoolSight) => readonly Doubt[];
  /** What a person should know about the readings. */
  readonly findings: readonly Finding[];
};

/** Judges the readings of one look. */
export function judgeSight(pools: readonly PoolSight[], snapshot: Snapshot): Sight {
  const { organizations } = snapshot.coder;
  const ofOrganization = new Map(
    organizations.map((organization) => {
      const contradictions = organizationContradictions(organization, pools, snapshot);
      return [
        organization,
        [...readingFindings(organizationReadings(organization), organization.name), ...contradictions],
      ];
    }),
  );
  const ofCluster = readingFindings(clusterReadings(snapshot));
  return {
    doubtsOf: (sight) => {
      const { organization } = sight;
      const own =
        organization === undefined ? [unknownOrganization(sight)] : (ofOrganization.get(organization) ?? []);
      return [...own, ...ofCluster, ...countContradictions(sight)].map(({ code }) => code);
    },
    findings: [
      ...unknownOrganizations(pools),
      ...organizations
        .toSorted(by(({ name }) => name))
        .flatMap((organization) => ofOrganization.get(organization) ?? []),
      ...ofCluster,
      ...pools.flatMap(countContradictions),
    ],
  };
}

type DoubtFinding = Extract<Finding, { readonly code: Doubt }>;

type Named = { readonly name: ReadingName; readonly reading: Reading<unknown> };

function readingFindings(readings: readonly Named[], organization?: string): readonly DoubtFinding[] {
  return readings.flatMap(({ name, reading: { status, error } }) =>
    status === 'ok'
      ? []
      : [
          {
            code: `${name}-${status}` as const,
            ...(organization === undefined ? {} : { organization }),
            error,
          },
        ],
  );
}

function unknownOrganization({ pool }: PoolSight): DoubtFinding {
  return { code: 'organization-unknown', organization: pool.organization };
}

function unknownOrganizations(pools: readonly PoolSight[]): readonly DoubtFinding[] {
  const unknown = pools.filter(({ organization }) => organization === undefined);
  return [...Map.groupBy(unknown, ({ pool }) => pool.organization).values()]
    .flatMap(([first]) => (first === undefined ? [] : [unknownOrganization(first)]))
    .toSorted(by((finding) => JSON.stringify(finding)));
}

/** Answers that can't all be true, or that coderd gives when something was deleted. */
function organizationContradictions(
  organization: OrganizationSight,
  pools: readonly PoolSight[],
  snapshot: Snapshot,
): readonly DoubtFinding[] {
  const found: DoubtFinding[] = [];
  const { name, jobs, daemons } = organization;
  const leased = pools
    .filter((sight) => sight.organization === organization)
    .flatMap(({ tasks }) => tasks)
    .filter(({ state }) => state === 'working' || state === 'leaving').length;
  if (daemons.status === 'ok' && daemons.items.length === 0 && leased > 0)
    found.push({ code: 'daemons-empty-while-leased', organization: name, tasks: leased });
  const busy = busyDaemons(organization, snapshot);
  if (jobs.status === 'ok' && jobs.items.length === 0 && busy > 0)
    found.push({ code: 'jobs-empty-while-busy', organization: name, daemons: busy });
  const strangers = jobsOfUnknownWorkers(organization);
  if (strangers > 0) found.push({ code: 'worker-unknown', organization: name, jobs: strangers });
  return found;
}

function busyDaemons(organization: OrganizationSight, snapshot: Snapshot): number {
  const index = indexDaemons(organization, snapshot.takenAt);
  return organization.daemons.items.filter((daemon) => index.isAlive(daemon) && daemon.current_job != null)
    .length;
}

/** A deleted key takes its daemons' rows with it, and their jobs run on (contract §3). */
function jobsOfUnknownWorkers({ jobs, daemons }: OrganizationSight): number {
  if (daemons.status !== 'ok') return 0;
  const known = new Set(daemons.items.map(({ id }) => id));
  return jobs.items.filter((job) => holdsWorker(job) && job.worker_id != null && !known.has(job.worker_id))
    .length;
}

/** ECS counts more tasks than it lists: the list is older than the count, or not whole. */
function countContradictions(sight: PoolSight): readonly DoubtFinding[] {
  if (sight.service === undefined) return [];
  const counted = sight.service.runningCount + sight.service.pendingCount;
  return counted > sight.listed
    ? [{ code: 'tasks-fewer-than-counted', pool: sight.pool.name, counted, seen: sight.listed }]
    : [];
}

function organizationReadings({ jobs, daemons, previousJobs }: OrganizationSight): readonly Named[] {
  return [
    { name: 'jobs', reading: jobs },
    { name: 'daemons', reading: daemons },
    { name: 'previous-jobs', reading: previousJobs },
  ];
}

function clusterReadings({ ecs }: Snapshot): readonly Named[] {
  return [
    { name: 'services', reading: ecs.services },
    { name: 'tasks', reading: ecs.tasks },
    { name: 'protections', reading: ecs.protections },
  ];
}
