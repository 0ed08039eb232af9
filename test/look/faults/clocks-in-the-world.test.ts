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
});
