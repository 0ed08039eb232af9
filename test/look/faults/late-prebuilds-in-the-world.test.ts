/** Prebuilds that no daemon takes in time. */
import { expect, it } from 'vitest';
import { startLongLab } from '../../support/lab.ts';

it('reports a preset whose prebuilds no daemon takes in time with the limit that holds them back', async () => {
  const tags = { is_prebuild: 'true' };
  const pool = { name: 'pre', organization: 'default', tags, desiredCount: 0, max: 5, dollarsPerLaunch: 0 };
  const { world, invoke } = await startLongLab({ pools: [pool] });
  const template = world.coderd.addTemplate({
    organization: 'default',
    tags,
    buildMs: { start: 300_000 },
  });
  world.coderd.addPreset({ template, instances: 60 });
  const looks = await invoke(60);
  const told = looks.map(({ plan }) => plan.findings.filter(({ code }) => code === 'prebuilds-waiting'));
  expect(told.slice(0, 3).flat()).toEqual([]);
  const [first] = told.flat();
  expect(first).toMatchObject({ pool: 'pre', failsAt: '2026-03-02T09:31:00.000Z' });
  expect(first).toMatchObject({ limits: expect.arrayContaining(['capped-at-prebuilds-max-tasks']) });
  expect(looks.flatMap(({ failures }) => failures)).toEqual([]);
});
