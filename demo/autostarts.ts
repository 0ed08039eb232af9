/**
 * The wake-up from zero: workspaces that start by their schedule, of a pool that sleeps. No job
 * shows them before (docs/coder.md §10).
 */
import { reasonSentence } from '../lambda/explain/reason-text.ts';
import type { WorkspaceRecord } from '../simulator/coderd/tables/workspace-records.ts';
import type { World } from '../simulator/world.ts';
import type { DeployedFunction } from './deployed-function.ts';

const POOL = { name: 'web', organization: 'default', tags: { team: 'web' } } as const;
const WORKSPACES = 5;
const BUILD_MS = 30_000;
/** World time since the beginning, which is a whole hour. */
const AT_MINUTE = 3;
const LOOK_MS = 1_000;

/** Nothing was ever submitted for it. */
export const SLEEPING_POOL = { ...POOL, max: 6, desiredCount: 0 };
export const AUTOSTARTS_MS = AT_MINUTE * 60_000;

export type Autostarts = {
  readonly due: number;
  /** Those whose build, made by coderd itself, has succeeded. */
  readonly started: number;
};

/** Makes the workspaces, stopped. `announce` gets a line when coderd starts them. */
export function planAutostarts(world: World, announce: (line: string) => void): void {
  const { organization, tags, name } = POOL;
  const template = world.coderd.addTemplate({ organization, tags, buildMs: { start: BUILD_MS } });
  for (let index = 0; index < WORKSPACES; index++)
    world.coderd.addWorkspace({ template, schedule: `CRON_TZ=UTC ${AT_MINUTE} * * * *` });
  announce(
    `pool ${name} sleeps; ${WORKSPACES} workspaces are to start at 09:0${AT_MINUTE}, and nobody submits a job for them`,
  );
  const look = world.timeline.every(LOOK_MS, () => {
    const inserted = world.coderd.workspaces().filter(isAutostarted).length;
    if (inserted === 0) return;
    look.cancel();
    announce(`coderd starts ${inserted} workspaces of pool ${name} by their schedule`);
  });
}

/** Asks the function itself, once the pool is woken, what it is awake for: a dry run. */
export function announceWakeUp(
  world: World,
  { dryRun }: Pick<DeployedFunction, 'dryRun'>,
  announce: (line: string) => void,
): void {
  const look = world.timeline.every(LOOK_MS, () => {
    if (world.service(POOL.name).state.desiredCount === 0) return;
    look.cancel();
    dryRun().then(
      ({ pools }) => {
        const why = pools.find(({ name }) => name === POOL.name)?.why ?? [];
        announce(`pool ${POOL.name}: ${why.map(reasonSentence).join('; ')}`);
      },
      (error: unknown) => announce(`the dry run failed: ${String(error)}`),
    );
  });
}

/** How many are due in all, and how many have been started. */
export function countAutostarts(world: World): Autostarts {
  const workspaces = world.coderd.workspaces();
  const started = workspaces.filter(
    (workspace) => isAutostarted(workspace) && workspace.latestBuild.job.status === 'succeeded',
  );
  return { due: workspaces.length, started: started.length };
}

function isAutostarted({ latestBuild }: WorkspaceRecord): boolean {
  return latestBuild.reason === 'autostart';
}
