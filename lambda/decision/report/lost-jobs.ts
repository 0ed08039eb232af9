/**
 * The jobs that coderd has failed because no daemon took them in time (docs/internals/coder.md §5), for an hour: the
 * queue is empty afterwards, and nothing else tells that they were lost.
 */
import { isoTime, type PoolName, poolOfPart } from '../model/brands.ts';
import { by, groupsBy } from '../model/collections.ts';
import type { Finding } from '../model/plan.ts';
import type { Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, displayTags, normalizeTags, tagKey } from '../model/tags.ts';
import { HOUR_MS } from '../model/units.ts';
import type { PoolView } from '../supply/supply.ts';

const KEPT_MS = HOUR_MS;

/** Derives a finding for each tag set of which coderd has failed jobs. */
export function lostJobs(supply: readonly PoolView[], { coder, takenAt }: Snapshot): readonly Finding[] {
  return coder.organizations.toSorted(by(({ name }) => name)).flatMap((organization) => {
    const lost = (organization.recentJobs?.items ?? [])
      .filter(isLost)
      .filter(({ completed_at }) => takenAt - completed_at < KEPT_MS);
    return groupsBy(lost, ({ tags }) => tagKey(tags))
      .toSorted(by(([{ tags }]) => tagKey(tags)))
      .map((alike) => findingOf(alike, organization, supply));
  });
}

type LostJob = Job & { readonly completed_at: NonNullable<Job['completed_at']> };

/** A daemon that takes a job is its worker, whatever becomes of it. One that a person cancelled was not lost. */
function isLost(job: Job): job is LostJob {
  return (
    job.status === 'failed' && job.completed_at != null && job.worker_id == null && job.canceled_at == null
  );
}

function findingOf(
  alike: readonly [LostJob, ...LostJob[]],
  organization: OrganizationReadings,
  supply: readonly PoolView[],
): Finding {
  const [{ tags }] = alike;
  const at = alike.map((job) => job.completed_at).toSorted((a, b) => a - b);
  return {
    code: 'jobs-never-started',
    organization: organization.name,
    tags: displayTags(tags),
    jobs: alike.length,
    failed: {
      from: isoTime(at[0] ?? alike[0].completed_at),
      to: isoTime(at.at(-1) ?? alike[0].completed_at),
    },
    waitedMs: Math.max(...alike.map((job) => job.completed_at - job.created_at)),
    workspaces: namesOf(alike, organization),
    pool: poolFor(alike[0], organization, supply),
  };
}

function namesOf(alike: readonly LostJob[], { workspaces }: OrganizationReadings): readonly string[] {
  const names = alike.flatMap(({ metadata }) => {
    const { workspace_id: id, workspace_name: name } = metadata ?? {};
    return name || workspaces?.items.find((workspace) => workspace.id === id)?.name || [];
  });
  return [...new Set(names)].sort();
}

function poolFor(
  { tags }: LostJob,
  organization: OrganizationReadings,
  supply: readonly PoolView[],
): PoolName | null {
  const wanted = normalizeTags(tags);
  const able = supply.find((view) => view.organization === organization && covers(view.tags, wanted));
  return able === undefined ? null : poolOfPart(able.pool.name);
}
