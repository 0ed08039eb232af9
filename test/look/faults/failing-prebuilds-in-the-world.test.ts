/**
 * Presets whose prebuilds fail. coderd counts the failures and does not tell: the findings must say
 * the same.
 */
import { describe, expect, it } from 'vitest';
import type { LookResult } from '../../../lambda/look/look.ts';
import { lookEvent } from '../../../lambda/look/look-event.ts';
import { Random } from '../../../simulator/base/random.ts';
import { type LabOptions, type LabPool, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

const tags = { is_prebuild: 'true' };
const pool: LabPool = {
  ...{ name: 'pre', organization: 'default', tags, desiredCount: 0, max: 5 },
  dollarsPerLaunch: 0,
};

type Given = Omit<Partial<LabOptions>, 'pools'> & {
  readonly instances?: number;
  readonly willFail?: boolean;
  readonly buildMs?: number;
};

async function start({ instances = 2, willFail = false, buildMs = 60_000, ...options }: Given = {}) {
  const lab = await startLongLab({ pools: [pool], ...options });
  const { coderd } = lab.world;
  const template = coderd.addTemplate({ organization: 'default', tags, buildMs: { start: buildMs } });
  const preset = coderd.addPreset({ template, instances, willFail });
  return { ...lab, coderd, template, preset };
}

/** The findings about prebuilds, each time they change. */
const toldIn = (looks: readonly LookResult[]): readonly string[] =>
  looks
    .map(({ plan }) =>
      plan.findings
        .filter(({ code }) => code.startsWith('prebuilds-'))
        .map((found) => ('failed' in found ? `${found.code} ${found.failed} (${found.reaped})` : found.code))
        .join(', '),
    )
    .filter((told, index, all) => told !== all[index - 1]);

describe('a preset', () => {
  it('that builds well, and whose prebuilds people claim, is no finding', async () => {
    const { invoke, coderd, preset, world } = await start();
    for (let time = 0; time < 4; time++) {
      expect(toldIn(await invoke(20))).toEqual(['']);
      const [first] = coderd.prebuilds.of(preset);
      expect(coderd.prebuilds.of(preset)).toHaveLength(2);
      if (first !== undefined) coderd.workspaces.claim(first.id, coderd.addUser());
    }
    expect(world.figures().killed).toBe(0);
  });

  it('of which one build has failed is no finding', async () => {
    const { invoke, coderd, preset } = await start();
    await invoke(10);
    preset.willFail = true;
    const [first] = coderd.prebuilds.of(preset);
    if (first !== undefined) coderd.workspaces.claim(first.id, coderd.addUser());
    const failing = await invoke(2);
    preset.willFail = false;
    expect(toldIn([...failing, ...(await invoke(60))])).toEqual(['']);
    const builds = coderd.prebuilds.of(preset).map(({ latestBuild }) => latestBuild.job.status);
    expect(builds.toSorted()).toEqual(['failed', 'succeeded', 'succeeded']);
  });

  it('that fails is reported before coderd stops, and then until somebody deletes its failed prebuilds', async () => {
    const { invoke, coderd, preset } = await start({ instances: 1, willFail: true });
    const looks = await invoke(60);
    expect(toldIn(looks)).toEqual(['', 'prebuilds-failing 2 (0)', 'prebuilds-stopped 3 (0)']);
    const { preset: name, template } = { preset: preset.name, template: preset.template.name };
    expect(looks.at(-1)?.plan.findings).toContainEqual(expect.objectContaining({ preset: name, template }));
    preset.willFail = false;
    for (const failed of coderd.prebuilds.of(preset)) coderd.build(failed, 'delete', { willFail: false });
    expect(toldIn(await invoke(30))).toEqual(['prebuilds-stopped 3 (0)', '']);
    expect(coderd.prebuilds.of(preset)).toHaveLength(1);
  });

  it('that fails is no finding any more once another version is active', async () => {
    const { invoke, coderd, template } = await start({ instances: 4, willFail: true });
    expect(toldIn(await invoke(30)).at(-1)).toBe('prebuilds-stopped 4 (0)');
    coderd.pushVersion(template, tags);
    coderd.addPreset({ template, instances: 4 });
    expect(toldIn(await invoke(30)).at(-1)).toBe('');
  });

  it('whose prebuilds no daemon takes in time is reported with the limit that holds them back', async () => {
    const { invoke } = await start({ instances: 60, buildMs: 300_000 });
    const looks = await invoke(60);
    expect(toldIn(looks.slice(0, 3))).toEqual(['']);
    const [first] = looks.flatMap(({ plan }) =>
      plan.findings.filter(({ code }) => code === 'prebuilds-waiting'),
    );
    expect(first).toMatchObject({ pool: 'pre', failsAt: '2026-03-02T09:31:00.000Z' });
    expect(first).toMatchObject({ limits: expect.arrayContaining(['capped-at-prebuilds-max-tasks']) });
    expect(toldIn(looks).join()).toMatch(/prebuilds-(failing|stopped) \d+ \([1-9]/);
    expect(looks.flatMap(({ failures }) => failures)).toEqual([]);
  });

  it('adds nothing to the log event while all is well', async () => {
    const { invoke } = await start();
    const looks = await invoke(30);
    const events = looks.map((result) => lookEvent({ result, calls: {}, durationMs: 0 }));
    expect(events.flatMap(({ findings }) => findings).join()).not.toMatch(/prebuild/);
  });
});

it.each(rows([1, 2], 1))(
  'says that coderd has stopped when it has, and only then (seed %i)',
  async (seed) => {
    const random = new Random(seed);
    const { run, pass, coderd, template, preset } = await start({ instances: 2, overHttp: false });
    let current = preset;
    const told = { fresh: 0, stopped: 0, right: 0 };
    /** What people do in a minute: claim or delete a prebuild, or activate another version. */
    const disturb = () => {
      current.willFail = random.next() < 0.6;
      const chance = random.next();
      const [ended] = coderd.prebuilds.of(current).filter(({ latestBuild: { job } }) => job.completedAt);
      const isReady = ended?.latestBuild.job.status === 'succeeded';
      if (ended !== undefined && isReady && chance < 0.3) coderd.workspaces.claim(ended.id, coderd.addUser());
      else if (ended !== undefined && chance < 0.08) coderd.build(ended, 'delete', { willFail: false });
      if (chance < 0.98) return;
      coderd.pushVersion(template, tags);
      current = coderd.addPreset({ template, instances: 2 });
    };
    for (let minute = 0; minute < 150; minute++) {
      disturb();
      pass(50);
      const [look] = await run(10);
      if (look?.snapshot.coder.organizations[0]?.workspaces?.takenAt !== look?.snapshot.takenAt) continue;
      const isStopped = coderd.prebuilds.isAtLimit(current);
      told.fresh++;
      told.stopped += Number(isStopped);
      told.right += Number(
        toldIn(look ? [look] : [])
          .join()
          .includes('prebuilds-stopped') === isStopped,
      );
    }
    expect(told).toEqual({ ...told, right: told.fresh });
    expect(Math.min(told.stopped, told.fresh - told.stopped)).toBeGreaterThan(5);
  },
);
