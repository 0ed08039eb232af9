/** coderd's clock differs from AWS's: nothing is scaled in, and only pending jobs launch tasks. */
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import { type Lab, type LabPool, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

const cpu: LabPool = {
  name: 'cpu',
  organization: 'default',
  tags: {},
  desiredCount: 0,
  idleTimeout: '60s',
  max: 40,
};

const start = (coderdAheadMs: number, pool: LabPool = cpu): Promise<Lab> =>
  startLongLab({ pools: [pool], coderdAheadMs });

const submit = ({ world }: Lab, count: number): void => {
  for (let index = 0; index < count; index++)
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 120_000 });
};

describe.each(rows([25, 3, -3, -25], 2))("coderd's clock is %i hours ahead", (hours) => {
  it('launches one task for one job and runs the job', async () => {
    const started = await start(hours * HOUR_MS);
    submit(started, 1);
    const looks = await started.run(1800);
    expect(started.world.ecs.counts().launched).toBe(1);
    expect(started.world.coderd.jobs().map(({ status }) => status)).toEqual(['succeeded']);
    expect(looks.at(-1)?.plan.findings).toContainEqual({
      code: 'clocks-differ',
      where: 'coderd',
      seconds: hours * 3600,
    });
  });

  it('keeps tasks and launches none for floors', async () => {
    const started = await start(hours * HOUR_MS, { ...cpu, min: 5, warm: 3 });
    submit(started, 2);
    await started.run(1800);
    expect(started.world.ecs.counts()).toMatchObject({ launched: 2, running: 2 });
    expect(started.world.figures().killed).toBe(0);
  });
});

it('tolerates a difference of half a minute', async () => {
  const started = await start(30_000, { ...cpu, min: 2 });
  const looks = await started.run(300);
  expect(started.world.ecs.counts().running).toBe(2);
  expect(looks.flatMap(({ plan }) => plan.findings).map(({ code }) => code)).not.toContain('clocks-differ');
});

it.each([61_000, -61_000])(
  'starts no pool with a difference of %i ms and reports the reason',
  async (aheadMs) => {
    const { world, invoke } = await start(aheadMs);
    const template = world.coderd.addTemplate({ organization: 'default' });
    world.coderd.workspaces.add({ template, schedule: '10 9 * * *' });
    const { plan } = (await invoke(30)).at(-1) ?? {};
    expect(world.ecs.counts().launched).toBe(0);
    expect(plan?.pools[0]?.why).toContainEqual({ code: 'launching-for-jobs-only', wanted: 1 });
    expect(plan?.findings.map(({ code }) => code)).toEqual(['clocks-differ', 'transitions-late']);
  },
);
