/** A coderd that seldom looks for due transitions finds a daemon when it does. */
import { describe, expect, it } from 'vitest';
import type { NewTemplate } from '../../../lab/world/coderd/tables/templates.ts';
import type { NewWorkspace, WorkspaceRecord } from '../../../lab/world/coderd/tables/workspace-records.ts';
import type { World } from '../../../lab/world/world.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { expectNoHarm } from '../../support/builds.ts';
import { type LabPool, START } from '../../support/lab.ts';
import { startWatched } from '../../support/watch.ts';

/** Its launches are cheap, so it goes to zero in each gap. */
const cpu: LabPool = {
  ...{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, idleTimeout: '60s' },
  dollarsPerLaunch: 0,
};

/** A template with one workspace. */
function addOne(
  { coderd }: World,
  template: Omit<NewTemplate, 'organization'>,
  workspace: Omit<NewWorkspace, 'template'> = {},
): WorkspaceRecord {
  const added = coderd.addTemplate({ organization: 'default', ...template });
  return coderd.workspaces.add({ template: added, ...workspace });
}

describe('a coderd that polls for due transitions every 15 minutes', () => {
  const POLL_MS = 15 * MINUTE_MS;
  /** Polls start with coderd, and no schedule is due in a minute with a poll. */
  const begin = plusMs(START, 4 * MINUTE_MS);

  it.each<{ due: string; workspace: Partial<NewWorkspace> }>([
    { due: 'a start at 9:31', workspace: { schedule: '31 9 * * *' } },
    { due: 'a stop at 9:31', workspace: { running: true, ttlMs: 27 * MINUTE_MS } },
  ])('sees a daemon in time for $due, predicted from earlier builds', async ({ workspace }) => {
    const { world, invoke } = await startWatched({ start: begin, pools: [cpu], autobuildPollMs: POLL_MS });
    for (const polls of [1, 3, 4, 9])
      addOne(world, {}, { reason: 'autostop', since: plusMs(begin, -polls * POLL_MS) });
    const { latestBuild: before, id } = addOne(world, {}, workspace);
    await invoke(55);
    const [, made] = world.coderd.buildsOf(id);
    expect(made?.createdAt).toBe(begin + 2 * POLL_MS);
    expect(made?.transition).not.toBe(before.transition);
    expect(world.figures().tasks).toMatchObject({ launched: 1, running: 0 });
    expectNoHarm({ world });
  });
});
