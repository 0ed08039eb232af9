/** A morning from zero. Daemons are ready for the autostarts at nine, and leave soon after. */
import { describe, expect, it } from 'vitest';
import type { NewTemplate } from '../../../lab/world/coderd/tables/templates.ts';
import type { NewWorkspace } from '../../../lab/world/coderd/tables/workspace-records.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { type Lab, type LabPool, startLongLab, timeOf } from '../../support/lab.ts';
import { IS_FULL } from '../../support/runs.ts';
import { startWatched, type Watch } from '../../support/watch.ts';

const NINE = timeOf('2026-03-02T09:00:00Z');

type Morning = { readonly pool?: Partial<LabPool>; readonly autostarts: number; readonly phaseS?: number };

/** A world at 8:30, with workspaces that have been stopped since the day before. */
async function startMorning({ pool, autostarts, phaseS = 20 }: Morning): Promise<Lab & { watched: Watch }> {
  const started = await startWatched({
    start: plusMs(NINE, -30 * MINUTE_MS),
    phaseS,
    maxTasks: 300,
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 250, ...pool }],
  });
  const { coderd } = started.world;
  const template = coderd.addTemplate({ organization: 'default' });
  for (let index = 0; index < autostarts; index++)
    coderd.workspaces.add({ template, schedule: '0 9 * * 1-5', since: plusMs(NINE, -15 * 60 * MINUTE_MS) });
  return started;
}

/** The wait of each job for its daemon, the shortest first. */
function waitsMs({ world }: Lab): readonly number[] {
  return world.coderd
    .jobs()
    .map(({ createdAt, startedAt = Number.POSITIVE_INFINITY }) => startedAt - createdAt)
    .toSorted((a, b) => a - b);
}

function expectAllWell({ world }: Lab, jobs: number): void {
  expect(world.coderd.jobs().map(({ status }) => status)).toEqual(Array(jobs).fill('succeeded'));
  expect(world.figures()).toMatchObject({ killed: 0, tasks: { running: 0 } });
}

it('runs all autostarts of nine within one look, although the invocation comes just before the executor', async () => {
  const starts = IS_FULL ? 200 : 60;
  const morning = await startMorning({ autostarts: starts, phaseS: 59 });
  const { world, watched } = morning;
  await morning.invoke(40);
  expect(new Set(world.coderd.jobs().map(({ createdAt }) => createdAt))).toEqual(new Set([NINE]));
  expect(waitsMs(morning).at(-1)).toBeLessThanOrEqual(10_000);
  expectAllWell(morning, starts);
  // no daemon is early, each job has one daemon, and no daemon stays
  expect(watched.mostRunning(plusMs(NINE, -30 * MINUTE_MS), plusMs(NINE, -4 * MINUTE_MS))).toBe(0);
  expect(world.figures().tasks).toMatchObject({ launched: starts, peak: starts });
  expect(watched.mostRunning(plusMs(NINE, 6 * MINUTE_MS), plusMs(NINE, 10 * MINUTE_MS))).toBe(0);
  // at most 3 min before nine, 1 min for the build and 4 min until the task has stopped
  expect(watched.taskMinutes()).toBeLessThan(starts * 8);
});

describe('starts whose jobs have other tags than the gate', () => {
  const pools = ['us', 'eu'].map((region) => ({
    name: region,
    tags: { region },
    organization: 'default',
    desiredCount: 0,
  }));
  type Row = {
    readonly workspace: Omit<NewWorkspace, 'template'>;
    readonly template?: Omit<NewTemplate, 'organization' | 'tags'>;
    /** The tags of another version, which becomes active before nine. */
    readonly pushed?: Tags;
    readonly most: Readonly<Record<string, number>>;
    readonly because: string;
  };

  it.each<Row>([
    {
      workspace: { ownTags: { region: 'eu' } },
      most: { us: 1, eu: 3 },
      because: 'a parameter of the workspace sets the tag, and the gate asks for the version’s',
    },
    {
      workspace: { keepsVersion: true },
      pushed: { region: 'eu' },
      most: { us: 3, eu: 1 },
      because: 'the workspace keeps its version, and the gate asks for the active one',
    },
    {
      workspace: { keepsVersion: true },
      template: { requireActiveVersion: true },
      pushed: { region: 'eu' },
      most: { us: 0, eu: 3 },
      because: 'the template requires the active version',
    },
    {
      workspace: {},
      pushed: { region: 'eu' },
      most: { us: 0, eu: 3 },
      because: 'the workspace updates by itself',
    },
  ])(
    'get at most $most daemons with their own tags: $because',
    async ({ workspace, template, pushed, most }) => {
      const started = await startLongLab({ start: plusMs(NINE, -10 * MINUTE_MS), pools });
      const { coderd, timeline } = started.world;
      const added = coderd.addTemplate({ organization: 'default', ...template, tags: { region: 'us' } });
      for (let index = 0; index < 3; index++)
        coderd.workspaces.add({ template: added, schedule: '0 9 * * 1-5', ...workspace });
      if (pushed !== undefined) coderd.pushVersion(added, pushed);
      const looks = await started.invoke(20);
      expect(timeline.now()).toBeGreaterThan(NINE);
      const wantedOf = (name: string): number =>
        Math.max(...looks.map(({ plan }) => plan.pools.find((pool) => pool.name === name)?.desired.to ?? 0));
      expect({ us: wantedOf('us'), eu: wantedOf('eu') }).toEqual(most);
      expect(waitsMs(started)).toEqual([0, 0, 0]);
      expect(started.world.coderd.jobs().map(({ status }) => status)).toEqual(Array(3).fill('succeeded'));
    },
  );
});
