/**
 * Capacity that ECS cannot place. Jobs go to pools that can have tasks, the count goes down, and
 * the plan has the reason.
 */
import { describe, expect, it } from 'vitest';
import { VirtualScheduler } from '../../../lab/world/base/virtual-scheduler.ts';
import { inProcessPorts } from '../../../lab/world/in-process/ports.ts';
import { type LookResult, lookAndAct } from '../../../lambda/look/look.ts';
import { type LabOptions, type LabPool, startLongLab } from '../../support/lab.ts';

const CAPACITY =
  'Capacity is unavailable at this time. Please try again later or in a different availability zone.';
const cheap: LabPool = {
  name: 'cheap',
  organization: 'default',
  tags: { size: 's' },
  desiredCount: 0,
  idleTimeout: '60s',
  max: 4,
};
const other: LabPool = { ...cheap, name: 'other', tags: { size: 's', disk: 'ssd' } };

const poolOf = (look: LookResult | undefined, name: string) =>
  look?.plan.pools.find((pool) => pool.name === name);
const codes = (look: LookResult | undefined, name: string) => poolOf(look, name)?.why.map(({ code }) => code);

async function start(pools: readonly LabPool[], options: Omit<LabOptions, 'pools'> = {}) {
  const lab = await startLongLab({ pools, ...options });
  const { world } = lab;
  const name = (pool: string): string => world.service(pool).identity.name;
  return {
    ...lab,
    failPlacement: (pool: string, reason?: string) => world.ecs.failPlacement(name(pool), reason),
    addJobs: (count: number, tags = { size: 's' }) => {
      for (let index = 0; index < count; index++)
        world.coderd.submitJob({ organization: 'default', tags, durationMs: 60_000 });
    },
    desired: (pool: string) => world.service(pool).state.desiredCount,
    succeeded: () => world.coderd.jobs().filter(({ status }) => status === 'succeeded').length,
  };
}

describe('a pool whose tasks ECS cannot place', () => {
  it('leaves its jobs to another pool with the tags', async () => {
    const { run, failPlacement, addJobs, desired, succeeded, world } = await start([cheap, other], {
      maxTasks: 3,
    });
    failPlacement('cheap', CAPACITY);
    addJobs(3);
    const looks = await run(60);
    expect(desired('cheap') + desired('other')).toBeLessThanOrEqual(4);
    const told = looks.find((look) => codes(look, 'cheap')?.includes('placement-failing'));
    expect(told?.plan.findings).toContainEqual(
      expect.objectContaining({ code: 'placement-failing', pool: 'cheap', tasks: 3 }),
    );
    expect(poolOf(told, 'cheap')?.daemons).toMatchObject({ starting: 0, failing: 3 });
    await run(600);
    expect(succeeded()).toBe(3);
    expect(desired('cheap')).toBe(0);
    expect(world.figures().killed).toBe(0);
  });

  it('keeps its old tasks and a steady count while a deployment waits for it', async () => {
    const pool = { ...cheap, min: 4 };
    const { run, failPlacement, desired, world } = await start([pool], { deploymentBlocked: 'off' });
    await run(180);
    failPlacement('cheap', CAPACITY);
    world.deploy('cheap');
    await run(60);
    const counts = new Set<number>();
    for (const look of await run(120)) {
      counts.add(desired('cheap'));
      expect(look.plan.actions).toEqual([]);
    }
    expect([...counts]).toEqual([5]);
    expect(world.figures().tasks.running).toBe(4);
    failPlacement('cheap');
    await run(900);
    expect(world.service('cheap').state).toMatchObject({ older: [], primary: { rolloutState: 'COMPLETED' } });
    expect(world.figures().killed).toBe(0);
  });
});

describe('a pool whose tasks ECS neither creates nor mentions', () => {
  async function startSilent(pools: readonly LabPool[], options: Omit<LabOptions, 'pools'> = {}) {
    const started = await start(pools, options);
    started.failPlacement('cheap', CAPACITY);
    started.world.service('cheap').tellsEvents = false;
    return started;
  }

  it('counts as starting for some minutes, then leaves its jobs to another pool', async () => {
    const { run, addJobs, desired, succeeded } = await startSilent([cheap, other]);
    addJobs(4);
    const early = (await run(240, undefined, 10)).at(-1);
    expect(poolOf(early, 'cheap')?.daemons).toMatchObject({ starting: 4, failing: 0 });
    const looks = await run(600);
    expect(looks.flatMap(({ plan }) => plan.findings)).toContainEqual({
      ...{ code: 'placement-failing', pool: 'cheap', tasks: 4 },
      ...{ since: '2026-03-02T09:00:20.000Z', reason: 'ECS wrote no service event that says why' },
    });
    expect(succeeded()).toBe(4);
    expect(desired('cheap')).toBe(0);
  });

  it('leaves its jobs to another pool also where no process of the function lives for two looks', async () => {
    const { world, config, pass, addJobs, succeeded } = await startSilent([cheap, other], {
      overHttp: false,
    });
    addJobs(4);
    const looks: LookResult[] = [];
    for (let passed = 0; passed < 900; passed += 10) {
      pass(10);
      const ports = inProcessPorts(world, { scheduler: new VirtualScheduler(world.timeline) });
      looks.push(await lookAndAct(ports(), config));
    }
    const told = looks.findIndex(({ plan }) =>
      plan.findings.some(({ code }) => code === 'placement-failing'),
    );
    expect(told * 10).toBeGreaterThan(290);
    expect(told * 10).toBeLessThan(330);
    expect(succeeded()).toBe(4);
    expect(world.ecs.counts().launched).toBeLessThanOrEqual(5);
  });
});
