/** The wake-up from zero: schedules start workspaces of an empty pool (docs/internals/coder.md §10). */
import type { WorkspaceRecord } from '../simulator/coderd/tables/workspace-records.ts';
import type { World } from '../simulator/world.ts';

const POOL = { name: 'web', organization: 'default', tags: { team: 'web' } } as const;
const WORKSPACES = 5;
const BUILD_MS = 30_000;
/** Simulated time since the start of the demo, which is a full hour. */
const AT_MINUTE = 3;
const LOOK_MS = 1_000;

/** A pool at zero: the demo submits no jobs for it. */
export const SLEEPING_POOL = { ...POOL, max: 6, desiredCount: 0 };
export const AUTOSTARTS_MS = AT_MINUTE * 60_000;

export type Autostarts = {
  readonly due: number;
  /** Workspaces that coderd started and whose build succeeded. */
  readonly started: number;
};

/** Creates stopped workspaces with a schedule. `announce` gets a line when coderd starts them. */
export function planAutostarts(world: World, announce: (line: string) => void): void {
  const { organization, tags, name } = POOL;
  const template = world.coderd.addTemplate({ organization, tags, buildMs: { start: BUILD_MS } });
  for (let index = 0; index < WORKSPACES; index++)
    world.coderd.workspaces.add({ template, schedule: `CRON_TZ=UTC ${AT_MINUTE} * * * *` });
  announce(
    `${WORKSPACES} workspaces of pool ${name} start by schedule at 09:0${AT_MINUTE}; nobody submits a job for them`,
  );
  const look = world.timeline.every(LOOK_MS, () => {
    const inserted = world.coderd.workspaces.all().filter(isAutostarted).length;
    if (inserted === 0) return;
    look.cancel();
    announce(`coderd starts ${inserted} workspaces of pool ${name} by schedule`);
  });
}

export function countAutostarts(world: World): Autostarts {
  const workspaces = world.coderd.workspaces.all();
  const started = workspaces.filter(
    (workspace) => isAutostarted(workspace) && workspace.latestBuild.job.status === 'succeeded',
  );
  return { due: workspaces.length, started: started.length };
}

function isAutostarted({ latestBuild }: WorkspaceRecord): boolean {
  return latestBuild.reason === 'autostart';
}
