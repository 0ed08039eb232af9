/**
 * A pool with `capacity: [spot, on-demand]`: two services behind one name. AWS takes Spot tasks back,
 * and has no Spot capacity for a while.
 */
import { describe, expect, it } from 'vitest';
import { explainPool } from '../../../cli/explain/explain-pool.ts';
import { deliberate } from '../../../lambda/decision/decide.ts';
import { planText } from '../../../lambda/explain/text.ts';
import { type LookResult, lookAndAct } from '../../../lambda/look/look.ts';
import { observe } from '../../../lambda/look/observe.ts';
import { type LabPool, startLongLab } from '../../support/lab.ts';

const CAPACITY = 'Capacity is unavailable at this time. Please try again later.';
const cpu: LabPool = {
  name: 'cpu',
  organization: 'default',
  tags: {},
  desiredCount: 0,
  idleTimeout: '60s',
  max: 6,
  capacity: ['spot', 'on-demand'],
};

async function start(pool: Partial<LabPool> = {}) {
  const lab = await startLongLab({ pools: [{ ...cpu, ...pool }] });
  const { world } = lab;
  const service = (part: string) => world.service(part);
  return {
    ...lab,
    failSpot: (reason?: string) => world.ecs.failPlacement(service('cpu/spot').identity.name, reason),
    addJobs: (count: number, minutes = 1) => {
      for (let index = 0; index < count; index++)
        world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: minutes * 60_000 });
    },
    /** Desired counts on demand and on Spot. */
    counts: () => [service('cpu').state.desiredCount, service('cpu/spot').state.desiredCount],
    running: (part: string) =>
      [...service(part).tasks].filter(({ state }) => state.lastStatus === 'RUNNING').length,
    statuses: () => Object.groupBy(world.coderd.jobs(), ({ status }) => status),
  };
}

const rowOf = (look: LookResult | undefined) => look?.plan.pools.find(({ name }) => name === 'cpu');
const part = (look: LookResult | undefined, capacity: 'spot' | 'on-demand') =>
  rowOf(look)?.parts?.find((each) => each.capacity === capacity);
const codes = (look: LookResult | undefined, capacity: 'spot' | 'on-demand') =>
  part(look, capacity)?.why.map(({ code }) => code);

describe('a pool on Spot and on demand', () => {
  it('launches on demand while ECS cannot place Spot tasks, within one max, and then on Spot again', async () => {
    const { run, addJobs, counts, failSpot, statuses, world } = await start();
    failSpot(CAPACITY);
    addJobs(8, 3);
    const looks = await run(120);
    expect(world.service('cpu').state.desiredCount).toBe(6);
    expect(codes(looks.at(-1), 'on-demand')).toContain('on-demand-instead');
    // the pool scales out, so nothing is broken
    expect(rowOf(looks.at(-1))?.daemons.failing).toBe(0);
    expect(looks.at(-1)?.plan.findings.map(({ code }) => code)).not.toContain('placement-failing');
    await run(600);
    expect(statuses().succeeded).toHaveLength(8);
    failSpot();
    addJobs(2, 10);
    await run(300);
    addJobs(2);
    await run(300);
    expect(counts()[1]).toBeGreaterThan(0);
    await run(1_800);
    addJobs(3);
    await run(30);
    expect(counts()).toEqual([0, 3]);
    expect(world.figures().killed).toBe(0);
  });

  it('moves its floor to on demand and back', async () => {
    const { run, running, failSpot, world } = await start({ min: 2 });
    const looks = await run(240);
    expect(looks.at(-1)?.plan.findings).toEqual([]);
    expect([running('cpu'), running('cpu/spot')]).toEqual([0, 2]);
    failSpot(CAPACITY);
    for (const { identity } of [...world.service('cpu/spot').tasks]) world.ecs.spotInterruption(identity.id);
    await run(600);
    expect(running('cpu')).toBe(2);
    failSpot();
    await run(3_900);
    expect([running('cpu'), running('cpu/spot')]).toEqual([0, 2]);
  });

  it('leaves Spot for an hour after interruptions that cost more than Spot saves', async () => {
    const { run, addJobs, counts, world } = await start();
    addJobs(2, 30);
    await run(180);
    for (const { identity } of [...world.service('cpu/spot').tasks]) world.ecs.spotInterruption(identity.id);
    await run(60);
    // ECS itself replaces the tasks that it lost, and these take two of the jobs
    addJobs(4, 5);
    const looks = await run(120);
    expect(counts()).toEqual([2, 2]);
    expect(part(looks.at(-1), 'on-demand')?.why).toContainEqual(
      expect.objectContaining({ code: 'on-demand-instead', because: 'interrupted', interruptions: 2 }),
    );
    await run(4_200);
    addJobs(2);
    await run(60);
    expect(counts()).toEqual([0, 2]);
    expect(world.figures()).toMatchObject({ killedByUs: 0, killedByOthers: 2 });
  });

  it('is one row of text, with the reasons of each service', async () => {
    const { run, addJobs, failSpot, config, ports } = await start();
    failSpot(CAPACITY);
    addJobs(2, 10);
    const looks = await run(60);
    const plan = looks.at(-1)?.plan;
    const [row = ''] = plan === undefined ? [] : planText(plan).split('\n').slice(2);
    expect(row).toMatch(
      /cpu .*on demand .*: launching on demand: ECS cannot place Spot tasks.*; Spot .*: ECS has failed to place/,
    );
    const snapshot = await observe(ports(), config);
    const explained = explainPool('cpu', deliberate(snapshot, config), snapshot) ?? '';
    expect(explained.match(/^pool ".*" of/gm)).toEqual(['pool "cpu" of', 'pool "cpu/spot" of']);
  });

  it('drains its service on Spot with capacity: [on-demand]', async () => {
    const { run, addJobs, world, counts, config, ports, pass } = await start();
    addJobs(2, 10);
    await run(180);
    expect(counts()).toEqual([0, 2]);
    const after = {
      ...config,
      pools: config.pools.map((pool) => ({ ...pool, capacity: ['on-demand'] as const })),
    };
    addJobs(1);
    let last: LookResult | undefined;
    for (let look = 0; look < 120; look++) {
      pass(10);
      last = await lookAndAct(ports(), after);
    }
    expect(codes(last, 'spot')).toContain('retired');
    expect(rowOf(last)).toMatchObject({ retiring: false });
    expect(rowOf(last)?.why.map(({ code }) => code)).not.toContain('retired');
    expect(world.coderd.jobs().map(({ status }) => status)).toEqual(Array(3).fill('succeeded'));
    expect(world.figures().killed).toBe(0);
  });
});
