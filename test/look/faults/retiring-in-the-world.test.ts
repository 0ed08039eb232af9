/**
 * A pool retires under load. All daemons leave, and no build is killed, with real looks and
 * clients.
 */
import { describe, expect, it } from 'vitest';
import type { Config } from '../../../lambda/decision/model/config.ts';
import type { Plan } from '../../../lambda/decision/model/plan.ts';
import { submit } from '../../support/builds.ts';
import { cleanLook, type Lab, type LabPool, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

const cpu: LabPool = {
  name: 'cpu',
  organization: 'default',
  tags: { os: 'linux' },
  desiredCount: 0,
  min: 2,
  warm: 1,
};

/** The configuration in which the pool `cpu` is retiring. */
const retired = ({ config }: Lab): Config => ({
  ...config,
  pools: config.pools.map((pool) => (pool.name === 'cpu' ? { ...pool, retiring: true } : pool)),
});

/**
 * Looks every 30 s with the pool retiring. Returns the last plan. `jobs`: the number of new jobs
 * every 5 minutes.
 */
async function retire(own: Lab, minutes: number, jobs = 0): Promise<Plan | undefined> {
  const ports = own.ports();
  let plan: Plan | undefined;
  for (let look = 0; look < 2 * minutes; look++) {
    if (look % 10 === 0) submit(own, jobs, (index) => 1 + index, cpu.tags);
    own.pass(30);
    ({ plan } = await cleanLook(ports, retired(own)));
  }
  return plan;
}

const tasksIn = ({ world }: Lab, pool: string): number => world.service(pool).tasks.size;
const why = (plan: Plan | undefined) => plan?.pools.find(({ name }) => name === 'cpu')?.why;

const unserved = (plan: Plan | undefined) => plan?.unserved.map(({ why: reason }) => reason);
const unfinished = ({ world }: Lab): number =>
  world.coderd.jobs().filter(({ status }) => status !== 'succeeded').length;

function expectNobodyLeft(own: Lab, plan: Plan | undefined): void {
  expect(why(plan)).toEqual([{ code: 'retired' }]);
  expect(tasksIn(own, 'cpu')).toBe(0);
  expect(own.world.service('cpu').state.desiredCount).toBe(0);
  expect(own.world.figures().killed).toBe(0);
}

describe('a retiring pool under load', () => {
  it.each(rows([1, 2, 3], 1))('drains while another pool runs the jobs, seed %i', async (seed) => {
    const next: LabPool = { ...cpu, name: 'next', tags: { ...cpu.tags, generation: '2' }, min: 0, warm: 0 };
    const lab = await startLongLab({ pools: [cpu, next], victims: 'worst', readLagMs: 3_000, seed });
    submit(lab, 8, (index) => 5 + 4 * index, cpu.tags);
    await lab.run(300);
    expectNobodyLeft(lab, await retire(lab, 60, 3));
    await retire(lab, 10);
    expect(unfinished(lab)).toBe(0);
  });

  it('drains after its running jobs end, and reports jobs that no other pool can run', async () => {
    const lab = await startLongLab({ pools: [cpu], victims: 'worst', readLagMs: 3_000 });
    submit(lab, 6, (index) => 5 + 4 * index, cpu.tags);
    await lab.run(300);
    submit(lab, 4, () => 1, cpu.tags);
    const plan = await retire(lab, 20);
    expectNobodyLeft(lab, await retire(lab, 20, 2));
    const first = lab.world.coderd.jobs().slice(0, 6);
    expect(first.map(({ status }) => status)).toEqual(Array(6).fill('succeeded'));
    expect(unserved(plan)).toEqual(['pool-is-retiring']);
  });
});
