/**
 * Bursts of builds of seconds to hours, and workspaces that people start and leave running, for
 * coderd to stop once a daemon is there.
 */
import type { OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../lambda/decision/model/units.ts';
import type { Random } from '../../../world/base/random.ts';
import type { WorkspaceRecord } from '../../../world/coderd/tables/workspace-records.ts';
import type { Range } from '../../../world/ecs/parts/latencies.ts';
import type { World } from '../../../world/world.ts';
import type { PlannedPool } from '../world/plan.ts';
import type { WorldEvents } from '../world/world-events.ts';

/** The longest build that the lease protects (docs/internals/architecture.md, "The lease"). */
const LONGEST_MS = 17 * HOUR_MS;

/** The durations of ten builds that do not take hours; one is picked at random. */
const DURATIONS: readonly Range[] = [
  ...Array<Range>(5).fill([2 * SECOND_MS, 90 * SECOND_MS]),
  ...Array<Range>(4).fill([MINUTE_MS, 6 * MINUTE_MS]),
  [5 * MINUTE_MS, 40 * MINUTE_MS],
];

const MOST_WORKSPACES = 12;

export function planBuilds(events: WorldEvents): void {
  const random = events.source(2);
  const { plan } = events;
  for (const pool of plan.pools)
    events.repeat(random, plan.builds.bursts, () => submitBurst(events, random, pool));
}

function submitBurst(events: WorldEvents, random: Random, pool: PlannedPool): void {
  const size = random.next() < 0.3 ? 1 : random.whole(1, Math.ceil(pool.max * 1.3));
  const spreadMs = random.pick([0, 10 * SECOND_MS, 5 * MINUTE_MS]) ?? 0;
  for (let index = 0; index < size; index++)
    events.world.timeline.after(random.whole(0, spreadMs), () => submit(events, random, pool));
}

function submit({ world, plan }: WorldEvents, random: Random, { organization, tags }: PlannedPool): void {
  const job = world.coderd.submitJob({
    organization,
    tags: someOf(tags, random),
    durationMs: drawDuration(random, plan.builds.longShare),
    initiator: random.next() < 0.2 ? 'prebuilds' : 'user',
    willFail: random.next() < 0.1,
  });
  if (random.next() > 0.03) return;
  world.timeline.after(random.whole(0, 5 * MINUTE_MS), () => cancel(world, job));
}

/** Usually all tags of the pool. Sometimes fewer: then another pool may fit the job too, or none does. */
function someOf(tags: Tags, random: Random): Tags {
  return random.next() < 0.8
    ? tags
    : Object.fromEntries(Object.entries(tags).filter(() => random.next() < 0.5));
}

function drawDuration(random: Random, longShare: number): number {
  if (random.next() < longShare) return random.whole(HOUR_MS, LONGEST_MS);
  return random.whole(...(random.pick(DURATIONS) ?? [MINUTE_MS, MINUTE_MS]));
}

function cancel(world: World, id: Parameters<World['coderd']['cancelJob']>[0]): void {
  const job = world.coderd.jobs().findLast((it) => it.id === id);
  if (job?.completedAt === undefined && job?.canceledAt === undefined) world.coderd.cancelJob(id);
}

export function planWorkspaces(events: WorldEvents): void {
  const random = events.source(4);
  const planVisits = (workspace: WorkspaceRecord): void =>
    events.after(random.whole(0, 3 * HOUR_MS), () => {
      visit(events.world, workspace, random);
      planVisits(workspace);
    });
  for (const pool of events.plan.pools)
    for (const workspace of addWorkspaces(events.world, pool, random)) planVisits(workspace);
}

/** Workspaces whose latest build is a start, without those of held organizations. Each needs a daemon. */
export function runningWorkspaces(world: World, isHeld: (organization: OrganizationId) => boolean): number {
  return world.coderd.workspaces
    .all()
    .filter(
      ({ latestBuild, organizationId }) => latestBuild.transition === 'start' && !isHeld(organizationId),
    ).length;
}

function addWorkspaces(world: World, pool: PlannedPool, random: Random): readonly WorkspaceRecord[] {
  const template = world.coderd.addTemplate({
    organization: pool.organization,
    tags: pool.tags,
    defaultTtlMs: random.whole(5 * MINUTE_MS, 2 * HOUR_MS),
    activityBumpMs: random.pick([0, 10 * MINUTE_MS, HOUR_MS]) ?? 0,
    failureTtlMs: 20 * MINUTE_MS,
    buildMs: {
      start: random.whole(5 * SECOND_MS, 5 * MINUTE_MS),
      stop: random.whole(5 * SECOND_MS, 2 * MINUTE_MS),
    },
  });
  return Array.from({ length: random.whole(0, MOST_WORKSPACES) }, () =>
    world.coderd.workspaces.add({ template }),
  );
}

/** A person starts the workspace, or uses it if it runs. Nothing happens while a build is in progress. */
function visit(world: World, workspace: WorkspaceRecord, random: Random): void {
  const { transition, job } = workspace.latestBuild;
  if (job.completedAt === undefined) return;
  if (transition === 'start' && job.status === 'succeeded') world.coderd.workspaces.use(workspace.id);
  else world.coderd.build(workspace, 'start', { willFail: random.next() < 0.1 });
}
