/**
 * coderd's own transitions happen on time although the pools are at zero. With `wake` off they do
 * not happen at all.
 */
import { describe, expect, it } from 'vitest';
import type { NewTemplate } from '../../../lab/world/coderd/tables/templates.ts';
import type { NewWorkspace, WorkspaceRecord } from '../../../lab/world/coderd/tables/workspace-records.ts';
import type { World } from '../../../lab/world/world.ts';
import { MOST_DELAY_MS } from '../../../lambda/decision/forecast/wake-demand.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { expectNoHarm } from '../../support/builds.ts';
import { type LabPool, START } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';
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

/** The pools whose desired count was above zero. */
function wokenPools(looks: readonly LookResult[]): readonly string[] {
  const wanted = looks.flatMap(({ plan }) => plan.pools.filter(({ desired }) => (desired.to ?? 0) > 0));
  return [...new Set(wanted.map(({ name }) => name))].sort();
}

describe('autostops scattered over an evening', () => {
  /** Minutes from the start, with pairs and long gaps. */
  const DEADLINES = [1, 15, 16, 44, 75, 76, 110];
  /**
   * By deadline: how many minutes before it the workspace is used. The use moves the deadline to an
   * hour later.
   */
  const USED = new Map([
    [15, 10],
    [75, 1],
  ]);

  it.each(rows([5, 55], 1))(
    'happen within ten minutes and share starts of the pool if an invocation begins %i s after the executor',
    async (phaseS) => {
      const { world, watched, invoke } = await startWatched({ pools: [cpu], phaseS });
      const { coderd, timeline } = world;
      const template = coderd.addTemplate({ organization: 'default', activityBumpMs: HOUR_MS });
      for (const minutes of DEADLINES) {
        // some seconds after the full minute
        const ttlMs = 3 * HOUR_MS + minutes * MINUTE_MS + minutes * 700;
        const since = plusMs(START, -3 * HOUR_MS);
        const workspace = coderd.workspaces.add({ template, running: true, since, ttlMs });
        const usedBefore = USED.get(minutes);
        if (usedBefore !== undefined)
          timeline.after((minutes - usedBefore) * MINUTE_MS, () => coderd.workspaces.use(workspace.id));
      }
      await invoke(150);
      expect(watched.late()).toEqual([]);
      expect(coderd.workspaces.all().map(({ latestBuild }) => latestBuild.reason)).toEqual(
        DEADLINES.map(() => 'autostop'),
      );
      expect(coderd.jobs()).toHaveLength(DEADLINES.length);
      expectNoHarm({ world });
      // the pool is at zero in long gaps
      for (const minutes of [30, 55, 95, 125, 148]) {
        const at = plusMs(START, minutes * MINUTE_MS);
        expect(watched.mostRunning(at, at)).toBe(0);
      }
      expect(watched.taskMinutes()).toBeLessThan(DEADLINES.length * 10);
    },
  );

  it('are at most ten minutes late if they were unforeseeable', async () => {
    const { world, watched, invoke } = await startWatched({ pools: [cpu], phaseS: 1 });
    const { coderd, timeline } = world;
    const template = coderd.addTemplate({ organization: 'default' });
    // as if a person had moved a workspace's deadline to now
    for (const minutes of [12, 45.1, 77.5, 110.9])
      timeline.after(minutes * MINUTE_MS, () => {
        const since = plusMs(timeline.now(), -HOUR_MS);
        coderd.workspaces.add({ template, running: true, ttlMs: HOUR_MS, since });
      });
    await invoke(150);
    expect(coderd.workspaces.all().map(({ latestBuild }) => latestBuild.reason)).toEqual(
      Array(4).fill('autostop'),
    );
    const delaysMs = watched.left.map(({ at, dueAt }) => at + MINUTE_MS - dueAt);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(MOST_DELAY_MS);
    expectNoHarm({ world });
  });
});

describe('a pool at zero', () => {
  /** Daemons of other pools do not open the gate for its workspaces. */
  const team: LabPool = { ...cpu, name: 'team', tags: { team: 'a' } };
  const minutes = (count: number): number => count * MINUTE_MS;

  /** One workspace for each kind of transition, due every 20 minutes. */
  function addWorkspaces(world: World): Readonly<Record<string, WorkspaceRecord>> {
    const failed = addOne(world, { failureTtlMs: minutes(120) });
    world.coderd.build(failed, 'start', { willFail: true });
    return {
      autostart: addOne(world, { tags: team.tags }, { schedule: '20 9 * * *' }),
      autostop: addOne(world, { defaultTtlMs: minutes(40) }, { running: true }),
      dormancy: addOne(world, { timeTilDormantMs: minutes(60) }, { running: true }),
      'dormancy of a stopped one': addOne(world, { timeTilDormantMs: minutes(80) }),
      deletion: addOne(world, { timeTilDormantAutodeleteMs: minutes(100) }, { dormantAt: START }),
      'clean-up': failed,
    };
  }

  /** What happened to a workspace. */
  function fate({ latestBuild, dormantAt }: WorkspaceRecord): string {
    const { reason, transition } = latestBuild;
    const build = reason === 'initiator' ? [] : [`${transition} for ${reason}`];
    const mark = dormantAt === undefined || dormantAt === START ? [] : ['dormant'];
    return [...build, ...mark].join(', ') || 'nothing';
  }

  const STARTS = { autostart: 'start for autostart' };
  const OTHERS = {
    autostop: 'stop for autostop',
    dormancy: 'stop for dormancy, dormant',
    'dormancy of a stopped one': 'dormant',
    deletion: 'delete for autodelete',
    'clean-up': 'stop for autostop',
  };
  const NOTHING = Object.fromEntries(Object.keys({ ...STARTS, ...OTHERS }).map((kind) => [kind, 'nothing']));

  it.each<{
    wake: boolean;
    expected: Readonly<Record<string, string>>;
    left: readonly string[];
    because: string;
  }>([
    { wake: true, expected: { ...STARTS, ...OTHERS }, left: [], because: 'it is on by default' },
    {
      wake: false,
      expected: NOTHING,
      left: ['autodelete', 'autostart', 'autostop', 'dormancy'],
      because: 'coderd does nothing without a daemon: the trap',
    },
  ])('makes the transitions of wake $wake: $because', async ({ wake, expected, left }) => {
    const { world, watched, invoke } = await startWatched({
      pools: [cpu, team].map((pool) => ({ ...pool, wake })),
    });
    const workspaces = addWorkspaces(world);
    await invoke(130);
    const fates = Object.entries(workspaces).map(([kind, workspace]) => [kind, fate(workspace)]);
    expect(Object.fromEntries(fates)).toEqual(expected);
    const late = watched.late().map(({ reason }) => reason);
    expect([...new Set(late)].sort()).toEqual(left);
    // the pools are at zero before each transition
    for (const third of [1, 2, 3, 4, 5, 6]) {
      const at = plusMs(START, third * minutes(20) - minutes(10));
      expect(watched.mostRunning(at, plusMs(at, minutes(5)))).toBe(0);
    }
    const statuses = world.coderd.jobs().map(({ status }) => status);
    expect(statuses).toEqual(['failed', ...Array(statuses.length - 1).fill('succeeded')]);
    expect(world.figures()).toMatchObject({ killed: 0, tasks: { running: 0 } });
  });
});

it.each<{ transition: string; template: Partial<NewTemplate>; workspace: Partial<NewWorkspace> }>([
  {
    transition: 'stop dormancy',
    template: { timeTilDormantMs: 20 * MINUTE_MS },
    workspace: { running: true },
  },
  { transition: 'stop autostop', template: { failureTtlMs: 20 * MINUTE_MS }, workspace: { running: true } },
  {
    transition: 'delete autodelete',
    template: { timeTilDormantAutodeleteMs: 20 * MINUTE_MS },
    workspace: { dormantAt: START },
  },
])('makes the $transition of a deprecated template on time', async (row) => {
  const { world, watched, invoke } = await startWatched({ pools: [cpu] });
  const workspace = addOne(world, row.template, row.workspace);
  world.coderd.deprecate(workspace.template);
  if (row.template.failureTtlMs !== undefined) world.coderd.build(workspace, 'start', { willFail: true });
  await invoke(45);
  const { transition, reason } = workspace.latestBuild;
  expect(`${transition} ${reason}`).toBe(row.transition);
  expect(watched.late()).toEqual([]);
  expect(world.figures()).toMatchObject({ killed: 0, tasks: { running: 0 } });
});

it('starts a workspace after dormancy at its next time, although coderd reports that time late', async () => {
  const { world, watched, invoke } = await startWatched({ pools: [cpu], phaseS: 5 });
  const workspace = addOne(
    world,
    {},
    { schedule: '11 9 * * *', since: plusMs(START, -HOUR_MS), dormantAt: START },
  );
  // a look reads the workspaces 4 s later, coderd computes the next start a minute later, and a
  // later look reads it
  world.timeline.after(8 * MINUTE_MS + 1_000, () => world.coderd.workspaces.markActive(workspace.id));
  await invoke(30);
  expect(workspace.latestBuild).toMatchObject({
    reason: 'autostart',
    createdAt: plusMs(START, 11 * MINUTE_MS),
  });
  expect(watched.late()).toEqual([]);
  expectNoHarm({ world });
});

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

  it('sees a daemon at the second try if no build shows its interval', async () => {
    const { world, invoke } = await startWatched({ start: begin, pools: [cpu], autobuildPollMs: POLL_MS });
    // a minute after a poll
    const workspace = addOne(world, {}, { schedule: '35 9 * * *' });
    await invoke(130);
    expect(workspace.latestBuild).toMatchObject({
      reason: 'autostart',
      createdAt: plusMs(begin, 7 * POLL_MS),
    });
    expect(world.figures().tasks.running).toBe(0);
    expectNoHarm({ world });
  });
});

describe('a failed stop', () => {
  it.each([
    { coderVersion: 'v2.34.1', reasons: ['initiator'], because: 'it cleans up failed starts only' },
    { coderVersion: 'v2.34.2', reasons: ['initiator', 'autostop'], because: 'it stops the workspace again' },
  ])('wakes the pool according to coderd $coderVersion: $because', async ({ coderVersion, reasons }) => {
    const { world, watched, invoke } = await startWatched({ pools: [cpu], coderVersion });
    const workspace = addOne(world, { failureTtlMs: 20 * MINUTE_MS }, { running: true });
    world.coderd.build(workspace, 'stop', { willFail: true });
    await invoke(90);
    expect(world.coderd.buildsOf(workspace.id).map(({ reason }) => reason)).toEqual([
      'initiator',
      ...reasons,
    ]);
    expect(world.figures().tasks).toMatchObject({ launched: reasons.length, running: 0 });
    expect(watched.late()).toEqual([]);
    expect(world.figures().killed).toBe(0);
  });
});

describe('a wake demand of several pools', () => {
  const gpu: LabPool = { ...cpu, name: 'gpu', tags: { gpu: 'yes' } };
  const gpuEu: LabPool = { ...cpu, name: 'gpu-eu', tags: { gpu: 'yes', region: 'eu' } };
  const inHalfAnHour = { running: true, ttlMs: 30 * MINUTE_MS } as const;

  it('wakes one of two suitable pools', async () => {
    const { world, watched, invoke } = await startWatched({ pools: [cpu, gpuEu, gpu] });
    addOne(world, { tags: gpu.tags }, inHalfAnHour);
    expect(wokenPools(await invoke(45))).toEqual(['gpu']);
    expect(watched.late()).toEqual([]);
    expect(world.figures().tasks).toMatchObject({ launched: 1, running: 0 });
    expectNoHarm({ world });
  });

  it('wakes the pool that opens both gates', async () => {
    const { world, watched, invoke } = await startWatched({ pools: [cpu, gpu, gpuEu] });
    for (const { tags } of [gpu, gpuEu])
      addOne(world, { tags, buildMs: { stop: 10 * MINUTE_MS } }, inHalfAnHour);
    const looks = await invoke(55);
    // until coderd inserts the stops. Then the other pool starts for its own job
    const inserted = world.coderd.jobs()[0]?.createdAt ?? START;
    const before = looks.filter(({ plan }) => Date.parse(plan.takenAt) < inserted);
    expect(wokenPools(before)).toEqual(['gpu-eu']);
    expect(watched.mostRunning(START, inserted)).toBe(1);
    expect(watched.late()).toEqual([]);
    expectNoHarm({ world });
  });

  it.each([
    { keepsVersion: false, expected: ['gpu'], because: 'coderd builds the active version' },
    {
      keepsVersion: true,
      expected: ['cpu', 'gpu'],
      because: 'the gate asks for the active version, the job is of the old one',
    },
  ])('wakes the pool with the tags of the active version: $because', async ({ keepsVersion, expected }) => {
    const { world, watched, invoke } = await startWatched({ pools: [cpu, gpu] });
    const workspace = addOne(world, {}, { ...inHalfAnHour, keepsVersion });
    const [template] = world.coderd.templates();
    if (template !== undefined) world.coderd.pushVersion(template, gpu.tags);
    const looks = await invoke(45);
    const inserted = world.coderd.jobs()[0]?.createdAt ?? START;
    expect(wokenPools(looks.filter(({ plan }) => Date.parse(plan.takenAt) < inserted))).toEqual(['gpu']);
    expect(wokenPools(looks)).toEqual(expected);
    expect(workspace.latestBuild.reason).toBe('autostop');
    expect(watched.late()).toEqual([]);
    expectNoHarm({ world });
  });
});
