/** What the plan tells beside its actions: who serves which jobs, which jobs nobody serves, what looks wrong. */
import type { Assignment } from './assignment.ts';
import type { TaskArn } from './brands.ts';
import type { TagGroup } from './demand.ts';
import { by } from './order.ts';
import type { AssignmentRow, Finding, UnservedRow } from './plan.ts';
import type { Sight } from './sight.ts';
import type { Snapshot } from './snapshot.ts';
import { hasOtherTags, type PoolSight, type TaskSight } from './supply.ts';
import { displayTags, normalizeTags, type Tags } from './tags.ts';

/** One row for each tag group and place, in the order in which they are served. */
export function reportAssignment({ assigned }: Assignment): readonly AssignmentRow[] {
  return assigned.map(({ group, offer, jobs }) => ({
    organization: group.organization,
    tags: displayTags(group.tags),
    for: group.for,
    jobs,
    pool: offer.pool,
    served: offer.served,
  }));
}

/** The jobs that nothing can run, each with the pool that comes closest. */
export function reportUnserved(
  { unserved }: Assignment,
  pools: readonly PoolSight[],
): readonly UnservedRow[] {
  return unserved.map((group) => {
    const near = pools.filter(({ organization }) => organization?.id === group.organizationId);
    return {
      organization: group.organization,
      tags: displayTags(group.tags),
      jobs: group.jobs,
      oldest: new Date(group.oldest).toISOString(),
      why: near.length > 0 ? 'no-pool-has-these-tags' : 'no-pool-in-this-organization',
      closest: closestPool(group, near),
    };
  });
}

function closestPool(group: TagGroup, pools: readonly PoolSight[]): UnservedRow['closest'] {
  const [closest] = pools
    .map(({ pool }) => ({ pool: pool.name, ...compareTags(normalizeTags(pool.tags), group.tags) }))
    .toSorted(
      by(
        ({ missing }) => Object.keys(missing).length,
        ({ surplus }) => Object.keys(surplus).length,
        ({ pool }) => pool,
      ),
    );
  return closest ?? null;
}

/** `missing`: what the job has and the pool lacks or has otherwise; `surplus`: what only the pool has. */
function compareTags(pool: Tags, job: Tags): { readonly missing: Tags; readonly surplus: Tags } {
  const pick = (tags: Tags, isPicked: (name: string, value: string) => boolean): Tags =>
    Object.fromEntries(Object.entries(tags).filter(([name, value]) => isPicked(name, value)));
  return {
    missing: pick(job, (name, value) => pool[name] !== value),
    surplus: pick(pool, (name) => !Object.hasOwn(job, name)),
  };
}

/** Everything that a person should look at. */
export function reportFindings(
  pools: readonly PoolSight[],
  sight: Sight,
  { coder, ecs }: Snapshot,
): readonly Finding[] {
  const canMiss = ecs.services.status === 'ok';
  const version: readonly Finding[] = coder.buildInfo === undefined ? [{ code: 'version-unknown' }] : [];
  return [
    ...version,
    ...sight.findings,
    ...pools.flatMap((pool) => [...serviceFindings(pool, canMiss), ...taskFindings(pool)]),
  ];
}

function serviceFindings({ pool, rivals, service }: PoolSight, canMiss: boolean): readonly Finding[] {
  if (rivals.length > 0) {
    const services = rivals.map(({ serviceName }) => serviceName).sort();
    return [{ code: 'service-ambiguous', pool: pool.name, services }];
  }
  return service === undefined && canMiss ? [{ code: 'service-missing', pool: pool.name }] : [];
}

function taskFindings({ pool, tasks }: PoolSight): readonly Finding[] {
  const found: Finding[] = [];
  const stray = tasks.filter((task) => hasOtherTags(task, pool)).flatMap(({ daemon }) => daemon?.name ?? []);
  if (stray.length > 0) found.push({ code: 'daemon-tags-differ', pool: pool.name, daemons: stray });
  const unguarded = arns(tasks.filter(({ state }) => state === 'unguarded'));
  if (unguarded.length > 0) found.push({ code: 'tasks-unguarded', pool: pool.name, tasks: unguarded });
  const silent = arns(tasks.filter(({ state, use }) => state === 'working' && use === 'silent'));
  if (silent.length > 0) found.push({ code: 'tasks-without-daemon', pool: pool.name, tasks: silent });
  return found;
}

function arns(tasks: readonly TaskSight[]): readonly TaskArn[] {
  return tasks.map(({ task }) => task.taskArn);
}
