/**
 * Generates provisioner jobs as coderd lists them (docs/internals/coder.md §1), with all fields, so
 * that answers have a realistic size.
 */

import { normalizeTags, type Tags, tagKey } from '../../lambda/decision/model/tags.ts';
import type { Random } from '../../simulator/base/random.ts';
import { PREBUILDS_USER } from '../../simulator/coderd/tables/jobs.ts';
import type { FleetPool } from './pools.ts';

export type FleetJob = ReturnType<typeof makeJob>;

export type TagGroup = { readonly organization: string; readonly tags: Tags };

type JobFacts = TagGroup & {
  readonly organizationId: string;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly workerId?: string;
};

const iso = (time: number): string => new Date(time).toISOString();

/** One job. One in five belongs to the prebuilds user. */
export function makeJob(facts: JobFacts, random: Random) {
  const { organizationId, tags, createdAt, startedAt, completedAt, workerId } = facts;
  return {
    id: random.uuid(),
    created_at: iso(createdAt),
    ...(startedAt === undefined ? {} : { started_at: iso(startedAt) }),
    ...(completedAt === undefined ? {} : { completed_at: iso(completedAt) }),
    status: completedAt !== undefined ? 'succeeded' : startedAt !== undefined ? 'running' : 'pending',
    ...(workerId === undefined ? {} : { worker_id: workerId, worker_name: '' }),
    file_id: random.uuid(),
    tags: normalizeTags(tags),
    queue_position: 0,
    queue_size: 0,
    organization_id: organizationId,
    initiator_id: random.next() < 0.2 ? PREBUILDS_USER : random.uuid(),
    input: { workspace_build_id: random.uuid() },
    type: 'workspace_build',
    metadata: {
      template_version_name: 'wonderful_albattani1',
      template_id: random.uuid(),
      template_name: 'kubernetes',
      template_display_name: 'Kubernetes (Deployment)',
      template_icon: '/icon/k8s.png',
      workspace_id: random.uuid(),
      workspace_name: 'development',
    },
    logs_overflowed: false,
  };
}

/**
 * Tag sets for this number of jobs or workspaces. Each is a part of the tags of a pool, so several
 * pools often fit.
 */
export function makeGroups(
  pools: readonly FleetPool[],
  forMany: number,
  random: Random,
): readonly TagGroup[] {
  const groups = new Map<string, TagGroup>();
  // 30 for 100 jobs, 300 for 10,000
  const wanted = Math.round(3 * Math.sqrt(forMany));
  for (let tries = 0; tries < wanted * 50 && groups.size < wanted; tries++) {
    const { organization, tags: all } = random.pick(pools) ?? { organization: '', tags: {} };
    const tags = Object.fromEntries(Object.entries(all).filter(() => random.next() < 0.5));
    groups.set(`${organization} ${tagKey(tags)}`, { organization, tags });
  }
  return [...groups.values(), { organization: 'default', tags: { cluster: 'nobody-has-this' } }];
}
