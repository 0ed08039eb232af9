/** Nights in which coderd has refused daemons, so that tasks hold leases beside no daemon. */
import { describe, expect, it } from 'vitest';
import type { TaskArn } from '../../../../lambda/decision/model/brands.ts';
import { aNight, cpu } from './night.ts';

/** coderd refuses all daemons of eight jobs. No look sees that it has no license. */
async function aNightOfRefusals(max = 10) {
  const night = await aNight({ pools: [{ ...cpu, max }] });
  night.world.coderd.licence = 'open-source';
  night.submit(8);
  await night.pass(40);
  return night;
}

describe('refused daemons whose cause is mended, without a build', () => {
  it('end with one more task, an hour after the last one', async () => {
    const night = await aNightOfRefusals();
    const { coderd, ecs } = night.world;
    const { running } = ecs.counts();
    coderd.licence = 'entitled';
    const alarms = await night.pass(70);
    expect(alarms['sight-lost']?.[0]?.[1]).toBeLessThanOrEqual(40 + 60);
    expect(ecs.counts()).toMatchObject({ running: 0, launched: running + 1 });
    expect(night.sentences()).toEqual([]);
  });

  it('end sooner after a person has drained a task', async () => {
    const night = await aNightOfRefusals();
    night.world.coderd.licence = 'entitled';
    const [, arn = ''] = /--tasks (\S+)/.exec(night.sentences().join()) ?? [];
    // what the command does: a protection of 23 hours
    await night.ports().ecs.requestDrain([arn as TaskArn]);
    expect((await night.pass(17))['sight-lost']?.[0]?.[1]).toBeLessThanOrEqual(40 + 17);
  });
});

describe('refused daemons whose cause lasts', () => {
  it('get one more task an hour, and at most two above max', async () => {
    const night = await aNightOfRefusals(12);
    const { ecs } = night.world;
    const counts: number[] = [];
    for (let hour = 0; hour < 6; hour++) {
      await night.pass(60);
      counts.push(ecs.counts().launched);
    }
    expect(counts.at(-1)).toBe(12 + 2);
    expect((await night.pass(1))['sight-lost']).toEqual([[expect.any(Number), undefined]]);
  });
});
