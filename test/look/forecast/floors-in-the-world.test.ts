/** Floors hold while daemons leave, and the world settles, with real looks and clients. */
import { describe, expect, it } from 'vitest';
import { cleanLook, type Lab, type LabPool, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

const NAME = /^(.+)-[0-9a-f]{32}$/;

/**
 * The number of daemons that can take a job now: their tasks have a lease, and they are connected.
 */
function liveDaemons({ world }: Lab, pool: string): number {
  return [...world.service(pool).tasks].filter((task) => {
    const guard = world.guard(task.identity.id);
    return guard?.phase === 'working' && guard.daemon !== undefined;
  }).length;
}

type Scenario = { readonly pool: Partial<LabPool>; readonly builds: number; readonly floor: number };

describe('the number of live daemons', () => {
  it.each<Scenario>([
    { pool: { min: 1 }, builds: 4, floor: 1 },
    { pool: { warm: 1 }, builds: 4, floor: 1 },
    { pool: { min: 3, warm: 2 }, builds: 8, floor: 3 },
  ])('stays at the floor for $pool after $builds builds', async ({ pool, builds, floor }) => {
    const lab = await startLongLab({
      pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, ...pool }],
    });
    const { world } = lab;
    await lab.run(200);
    for (let index = 0; index < builds; index++)
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const ports = lab.ports();
    const seen: number[] = [];
    for (let passed = 0; passed < 900; passed += 10) {
      lab.pass(10);
      seen.push(liveDaemons(lab, 'cpu'));
      await cleanLook(ports, lab.config);
    }
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(floor);
    expect(world.coderd.jobs().every(({ status }) => status === 'succeeded')).toBe(true);
    expect(world.figures().killed).toBe(0);
    // settled: exactly the tasks of the floors
    expect(world.service('cpu').state.desiredCount).toBe(Math.max(pool.min ?? 0, pool.warm ?? 0));
  });
});

describe('a world without further jobs', () => {
  it.each(rows([1, 2, 3, 4], 2))('reaches a steady state with seed %i', async (seed) => {
    const pools: readonly LabPool[] = [
      { name: 'cpu', organization: 'default', tags: {}, min: 1 },
      { name: 'gpu', organization: 'default', tags: { cluster: 'gpu' }, max: 3 },
      { name: 'gpu-eu', organization: 'default', tags: { cluster: 'gpu', region: 'eu' }, warm: 1 },
      { name: 'data', organization: 'data', tags: { team: 'data' } },
    ];
    const lab = await startLongLab({ pools, seed, readLagMs: 3_000, maxTasks: 9 });
    const { world } = lab;
    for (let index = 0; index < 40; index++) {
      const pool = pools[(index * seed) % pools.length];
      if (pool === undefined) continue;
      const { organization, tags } = pool;
      const job = { organization, tags, durationMs: 10_000 + ((index * 7919 * seed) % 90_000) };
      world.timeline.after(((index * 104729 * seed) % 600) * 1000, () => world.coderd.submitJob(job));
    }
    await lab.run(2_400);
    const quiet = await lab.run(300);
    expect(quiet.flatMap(({ plan }) => plan.actions)).toEqual([]);
    expect(world.coderd.jobs().map(({ status }) => status)).toEqual(Array(40).fill('succeeded'));
    expect(pools.map(({ name }) => world.service(name).state.desiredCount)).toEqual([1, 0, 1, 0]);
    expect(world.figures().killed).toBe(0);
    for (const { name } of world.coderd.daemons()) expect(name).toMatch(NAME);
  });
});

describe('a pool whose tasks cannot start', () => {
  it('gets one probe at a time after three failures and scales out once one succeeds', async () => {
    const lab = await startLongLab({
      pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }],
    });
    const { world } = lab;
    const service = world.service('cpu').identity.name;
    world.ecs.failStarts(service, 'CannotPullContainerError: pull image manifest has been retried 7 time(s)');
    for (let index = 0; index < 8; index++)
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 30_000 });
    const looks = await lab.run(300);
    const last = looks.at(-1)?.plan;
    expect(last?.pools[0]?.why).toContainEqual(expect.objectContaining({ code: 'starts-failing' }));
    expect(last?.findings).toContainEqual(expect.objectContaining({ code: 'starts-failing', pool: 'cpu' }));
    expect(world.service('cpu').state.desiredCount).toBe(1);
    world.ecs.failStarts(service);
    await lab.run(1_100);
    expect(world.coderd.jobs().map(({ status }) => status)).toEqual(Array(8).fill('succeeded'));
  });
});
