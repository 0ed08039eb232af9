import { RememberedJobs } from '../../lambda/adapters/coderd/job-record.ts';
import { parseSnapshot, snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import type { Fleet, FleetOrganization } from './fleet.ts';
import { CLUSTER } from './tasks.ts';

/** The snapshot document of a generated deployment, as `autoscaler snapshot` would write it. */
export function documentOf(fleet: Fleet): unknown {
  const existing = fleet.members.filter(({ task }) => task.lastStatus === 'RUNNING');
  const hasForecast = fleet.organizations.some(({ workspaces }) => workspaces.length > 0);
  const read = parseSnapshot({
    version: 1,
    takenAt: fleet.takenAt,
    coder: {
      buildInfo: { version: fleet.version },
      organizations: fleet.organizations.map((organization) => ({
        id: organization.id,
        name: organization.name,
        jobs: { ...ok(organization.jobs), limit: 0 },
        daemons: { ...ok(organization.daemons), limit: 0 },
        previousJobs: ok(organization.previousJobs),
        ...(hasForecast ? forecastOf(organization, fleet.takenAt) : {}),
      })),
    },
    ecs: {
      cluster: CLUSTER,
      services: ok(fleet.services),
      tasks: ok(fleet.members.map(({ task }) => task)),
      protections: ok(existing.map(({ protection }) => protection)),
    },
  });
  return snapshotToJson(withRecord(read));
}

/**
 * Adds the recent jobs that a new function knows: open jobs, previous jobs and the latest builds.
 */
function withRecord(snapshot: Snapshot): Snapshot {
  const { coder, takenAt: now } = snapshot;
  const record = new RememberedJobs();
  const organizations = coder.organizations.map((organization) => ({
    ...organization,
    recentJobs: record.recentJobs(organization.id, { ...organization, now }),
  }));
  return { ...snapshot, coder: { ...coder, organizations } };
}

function forecastOf({ workspaces, templates }: FleetOrganization, takenAt: string) {
  return {
    workspaces: { ...ok(workspaces), takenAt },
    templates: { ...ok(templates.map(({ listed }) => listed)), takenAt },
    activeVersionTags: Object.fromEntries(
      templates.map(({ listed, activeVersion }) => [listed.id, activeVersion.job.tags]),
    ),
    members: { ...ok([]), takenAt },
    offlineDaemons: { ...ok([]), takenAt, limit: 1000 },
  };
}

const ok = <T>(items: readonly T[]) => ({ status: 'ok', items });
