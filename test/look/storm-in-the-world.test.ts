/** More builds at once than the pool can run within half an hour: what is told, and what then happens. */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import { type LabOptions, startLongLab } from '../support/lab.ts';

const cpu = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };

/** 90 builds of five minutes at once. `deployed`: the `max` that a person deploys seven minutes later. */
async function storm(given: Partial<LabOptions> & { max?: number; known?: number; deployed?: number }) {
  const { max = 6, known = 5, deployed, ...options } = given;
  const lab = await startLongLab({ pools: [{ ...cpu, max }], ...options });
  const { world, config } = lab;
  const submit = (jobs: number) =>
    Array.from({ length: jobs }, () =>
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 5 * MINUTE_MS }),
    );
  const ports = lab.ports();
  submit(known);
  await lab.run(15 * 60, ports, 30);
  const ids = new Set(submit(90));
  const looks: LookResult[] = [];
  const look = async (minutes: number) => looks.push(...(await lab.run(60 * minutes, ports, 30)));
  await look(7);
  Object.assign(config, { pools: config.pools.map((pool) => ({ ...pool, max: deployed ?? max })) });
  await look(50);
  const failed = world.coderd.jobs().filter((job) => ids.has(job.id) && job.status === 'failed').length;
  const findingAt = (minute: number) =>
    looks[2 * minute - 1]?.plan.findings.find(({ code }) => code === 'jobs-about-to-fail');
  return { failed, findingAt };
}

describe('a storm of builds', () => {
  it('is told from its second minute on, with about the number of jobs that fail', async () => {
    const { failed, findingAt } = await storm({});
    expect(failed).toBeGreaterThan(30);
    for (const minute of [2, 10, 20, 29])
      expect(findingAt(minute), `at minute ${minute}`).toMatchObject({
        failsAt: '2026-03-02T09:45:00.000Z',
        jobs: expect.closeTo(failed, -1),
        limits: ['capped-at-max'],
        assumedMs: null,
      });
    expect(findingAt(2)).toMatchObject({ tasks: 18 });
  });

  it('fails no job if the max that is told at its second minute is deployed five minutes later', async () => {
    const { failed } = await storm({ deployed: 18 });
    expect(failed).toBe(0);
  });

  it('is told with an assumption after five minutes, if no such build has ended before', async () => {
    const { failed, findingAt } = await storm({ known: 0 });
    expect(findingAt(2)).toBeUndefined();
    expect(findingAt(5)).toMatchObject({ assumedMs: expect.any(Number) });
    for (const minute of [10, 20])
      expect(findingAt(minute), `at minute ${minute}`).toMatchObject({ jobs: expect.closeTo(failed, -1) });
  });

  it('names maxTasks where a larger max would change nothing', async () => {
    const { findingAt } = await storm({ max: 40, maxTasks: 6 });
    expect(findingAt(2)).toMatchObject({ limits: ['capped-at-max', 'capped-at-max-tasks'], tasks: 18 });
  });
});
