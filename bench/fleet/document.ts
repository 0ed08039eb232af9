import { parseSnapshot, snapshotToJson } from '../../lambda/adapters/snapshot/schema.ts';
import type { Fleet } from './fleet.ts';
import { CLUSTER } from './tasks.ts';

/** The snapshot document of a generated deployment, as `autoscaler snapshot` would write it. */
export function documentOf(fleet: Fleet): unknown {
  const ok = <T>(items: readonly T[]) => ({ status: 'ok', items });
  const existing = fleet.members.filter(({ task }) => task.lastStatus === 'RUNNING');
  return snapshotToJson(
    parseSnapshot({
      version: 1,
      takenAt: fleet.takenAt,
      coder: {
        buildInfo: { version: fleet.version },
        organizations: fleet.organizations.map(({ jobs, daemons, previousJobs, ...organization }) => ({
          ...organization,
          jobs: { ...ok(jobs), limit: 0 },
          daemons: { ...ok(daemons), limit: 0 },
          previousJobs: ok(previousJobs),
        })),
      },
      ecs: {
        cluster: CLUSTER,
        services: ok(fleet.services),
        tasks: ok(fleet.members.map(({ task }) => task)),
        protections: ok(existing.map(({ protection }) => protection)),
      },
    }),
  );
}
