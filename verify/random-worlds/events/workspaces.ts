/**
 * Plans workspaces that people start, use for a while and leave running. coderd has to stop them by
 * itself, once a daemon is there.
 */
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { WorkspaceRecord } from '../../../simulator/coderd/tables/workspace-records.ts';
import type { World } from '../../../simulator/world.ts';
import type { PlannedPool, WorldPlan } from '../world/plan.ts';

const MOST_WORKSPACES = 12;

type WorkspacesContext = { readonly world: World; readonly plan: WorldPlan; readonly random: Random };

/** Creates the workspaces of a world. People start and use them until `end` is called. */
export function planWorkspaces({ world, plan, random }: WorkspacesContext): { readonly end: () => void } {
  let isOver = false;
  const planVisits = (workspace: WorkspaceRecord): void => {
    world.timeline.after(random.whole(0, 3 * HOUR_MS), () => {
      if (isOver) return;
      visit(world, workspace, random);
      planVisits(workspace);
    });
  };
  for (const pool of plan.pools)
    for (const workspace of addWorkspaces(world, pool, random)) planVisits(workspace);
  return {
    end: () => {
      isOver = true;
    },
  };
}

/**
 * Number of workspaces whose latest build is a start, in organizations whose scale-in is not on
 * hold. coderd needs a daemon to stop each.
 */
export function running(world: World, isHeld: (organization: OrganizationId) => boolean): number {
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

/**
 * A person starts the workspace, or uses it if it runs. Nothing happens while a build is in
 * progress.
 */
function visit(world: World, workspace: WorkspaceRecord, random: Random): void {
  const { transition, job } = workspace.latestBuild;
  if (job.completedAt === undefined) return;
  if (transition === 'start' && job.status === 'succeeded') world.coderd.workspaces.use(workspace.id);
  else world.coderd.build(workspace, 'start', { willFail: random.next() < 0.1 });
}
