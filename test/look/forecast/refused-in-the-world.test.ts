/**
 * A transition that coderd refuses again and again wakes its pool less and less often. One that
 * only waits wakes it at once.
 */
import { describe, expect, it } from 'vitest';
import type { NewTemplate } from '../../../lab/world/coderd/tables/templates.ts';
import type { NewWorkspace, WorkspaceRecord } from '../../../lab/world/coderd/tables/workspace-records.ts';
import type { World } from '../../../lab/world/world.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { expectNoHarm } from '../../support/builds.ts';
import { type LabOptions, type LabPool, START } from '../../support/lab.ts';
import { startWatched } from '../../support/watch.ts';

const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };

const start = (options: Partial<LabOptions> = {}) => startWatched({ pools: [cpu], ...options });

/** A template with one workspace. */
function addOne(
  { coderd }: World,
  workspace: Omit<NewWorkspace, 'template'>,
  template: Omit<NewTemplate, 'organization'> = {},
): WorkspaceRecord {
  const added = coderd.addTemplate({ organization: 'default', ...template });
  return coderd.workspaces.add({ template: added, ...workspace });
}

/** Adds builds that show that coderd polls every minute. */
function tellInterval(world: World): void {
  for (const minutes of [44, 31, 14, 7])
    addOne(world, { reason: 'autostop', since: plusMs(START, -minutes * MINUTE_MS) });
}

/** The minutes in which a pool without tasks got one. */
function wakeUps(looks: readonly LookResult[]): readonly number[] {
  return looks.flatMap(({ plan: { takenAt, pools } }) =>
    pools.some(({ desired }) => desired.from === 0 && (desired.to ?? 0) > 0)
      ? [Math.floor((Date.parse(takenAt) - START) / MINUTE_MS)]
      : [],
  );
}

function findingOf(looks: readonly LookResult[]): Finding | undefined {
  return looks.at(-1)?.plan.findings.find(({ code }) => code === 'transitions-refused');
}

describe('a transition that coderd refuses', () => {
  it('wakes a pool at once, after one hour, and then not for six hours: an owner of unknown status', async () => {
    const on = await start({ coderVersion: 'v2.30.0' });
    const owner = on.world.coderd.addUser({ username: 'ada', status: 'suspended' });
    const { name } = addOne(on.world, { schedule: '10 9 * * *', owner });
    tellInterval(on.world);
    const looks = await on.invoke(5 * 60);
    expect(on.world.coderd.jobs()).toEqual([]);
    const [first = 0, second = 0, ...others] = wakeUps(looks);
    expect([first, others.length]).toEqual([8, 0]);
    expect(second).toBeGreaterThanOrEqual(first + 60);
    expect(second).toBeLessThanOrEqual(first + 75);
    // without the back-off it was 35
    expect(on.watched.taskMinutes()).toBeLessThanOrEqual(10);
    expect(findingOf(looks)).toMatchObject({
      kind: 'autostart',
      transitions: 1,
      workspaces: [`ada/${name}`],
      ownersUnknown: 1,
    });
  });
});

it('wakes a pool at once for transitions that waited while the autoscaler was down', async () => {
  const on = await start();
  const workspace = addOne(on.world, { schedule: '10 9 * * *' });
  on.pass(5 * 60 * 60);
  await on.invoke(10);
  expect(workspace.latestBuild.reason).toBe('autostart');
  expectNoHarm(on);
});
