/** Builds that die with their tasks, with real looks: each cause, and what the looks say of it. */
import { describe, expect, it } from 'vitest';
import type { WorkspaceRecord } from '../../../lab/world/coderd/tables/workspace-records.ts';
import type { World } from '../../../lab/world/world.ts';
import type { DeadBuild } from '../../../lambda/decision/model/plan.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { type Lab, type LabOptions, startLongLab } from '../../support/lab.ts';

const MINUTE_S = 60;
const CPU = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 1, min: 1, max: 4 } as const;

/** A pool with one daemon, which has been starting alice's workspace for a minute. */
async function building(options: Partial<LabOptions> = {}, buildMs = 20 * MINUTE_MS) {
  const own = await startLongLab({ pools: [CPU], coderVersion: 'v2.33.2', ...options });
  const { world } = own;
  await own.run(4 * MINUTE_S);
  const template = world.coderd.addTemplate({ organization: 'default', tags: {}, name: 'linux' });
  const workspace = world.coderd.workspaces.add({ template, name: 'dev' });
  await own.run(6 * MINUTE_S);
  world.coderd.build(workspace, 'start', { durationMs: buildMs });
  await own.run(MINUTE_S);
  const [task] = [...world.service('cpu').tasks].filter(({ identity }) => world.guard(identity.id)?.isBusy());
  if (task === undefined) throw new Error('no task runs the build');
  return { own, world, workspace, id: task.identity.id, job: workspace.latestBuild.job.id };
}

type Built = { readonly own: Lab; readonly world: World; readonly workspace: WorkspaceRecord };

const deathsIn = (looks: readonly LookResult[]): readonly DeadBuild[] =>
  looks.flatMap(({ plan }) =>
    plan.findings.flatMap((finding) => (finding.code === 'build-died-with-task' ? finding.builds : [])),
  );
/** The looks of these minutes, without what a build's end makes coderd do to the workspace. */
const looksFor = ({ own }: Pick<Built, 'own'>, minutes: number): Promise<readonly LookResult[]> =>
  own.run(minutes * MINUTE_S);

describe('a build dies with its task', () => {
  it.each<{
    readonly cause: string;
    readonly kill: (world: World, id: string) => unknown;
    readonly reason: string;
  }>([
    {
      cause: 'spot',
      kill: ({ ecs }, id) => ecs.spotInterruption(id),
      reason: 'Your Spot Task was interrupted.; exit code 137',
    },
    {
      cause: 'memory',
      kill: (world, id) => world.ecs.outOfMemory(id, () => void world.guard(id)?.daemon?.crash(1)),
      reason:
        'Essential container in task exited; OutOfMemoryError: Container killed due to memory usage; exit code 1',
    },
    {
      cause: 'maintenance',
      kill: ({ ecs }, id) =>
        ecs.retireHost(id, 'ServiceSchedulerInitiated', 'Task stopped during instance draining'),
      reason: 'Task stopped during instance draining; exit code 137',
    },
  ])('by $cause, whatever a sidecar did: $reason', async ({ cause, kill, reason }) => {
    const built = await building({ sidecar: 'running' });
    const { world, id, job, own } = built;
    kill(world, id);
    const looks = await looksFor(built, 12);
    const [first] = deathsIn(looks);
    expect(first).toMatchObject({ job, task: id, cause, reason, workspace: 'dev', transition: 'start' });
    expect(first?.template).toBe('linux');
    expect(new Set(deathsIn(looks).map((death) => death.job))).toEqual(new Set([job]));
    // the finding ends with the list of stopped tasks
    own.pass(58 * MINUTE_S);
    expect(deathsIn(await looksFor(built, 1))).toEqual([]);
  });
});

it('a build whose daemon lost its row with its key is reported by a process that saw its daemon', async () => {
  const { own, world, id, job } = await building();
  const warm = own.ports();
  await own.run(10, warm);
  world.deleteKey('cpu');
  world.ecs.hostFailure(id);
  world.renewKey('cpu');
  expect(deathsIn(await own.run(4 * MINUTE_S, warm))).toContainEqual(expect.objectContaining({ job }));
});
