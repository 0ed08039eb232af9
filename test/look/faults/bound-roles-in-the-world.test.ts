/** `bindTaskRole` is turned on, in an AWS that accepts the condition of the new role and in one that refuses it. */
import { describe, expect, it } from 'vitest';
import type { DeploymentBlocked } from '../../../lab/world/ecs/protection.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { type LabPool, startLongLab } from '../../support/lab.ts';

const BOUND = { taskRoleArn: 'arn:aws:iam::123456789012:role/Stack-PoolCpuTaskBoundTaskRole-1A2B' };
const UNBOUND = { taskRoleArn: 'arn:aws:iam::123456789012:role/Stack-PoolCpuTaskTaskRole-1A2B' };

const cpu: LabPool = {
  ...{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 10 },
  bindTaskRole: true,
};

type Given = {
  readonly isRefused: boolean;
  /** Tasks with the earlier role, each with a lease. */
  readonly old?: number;
  readonly deploymentBlocked?: DeploymentBlocked;
};

/** A pool to which the bound role is deployed. */
async function turnOn({ isRefused, old = 0, deploymentBlocked = 'off' }: Given) {
  const pool = { ...cpu, desiredCount: old, min: old };
  const lab = await startLongLab({ pools: [pool], deploymentBlocked });
  const { world } = lab;
  const ports = lab.ports();
  const look = (seconds: number) => lab.run(seconds, ports, 5);
  await look(180);
  const before = world.ecs.counts().launched;
  world.ecs.wrong = isRefused ? 'bound-role' : undefined;
  world.deploy('cpu', BOUND);
  return {
    ...{ world, look, rest: lab.rest },
    addJobs: (count: number, minutes = 1) => {
      for (let index = 0; index < count; index++)
        world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: minutes * MINUTE_MS });
    },
    launched: () => world.ecs.counts().launched - before,
    waiting: () => world.coderd.jobs().filter(({ status }) => status === 'pending').length,
  };
}

const starting = (looks: readonly LookResult[]): readonly number[] =>
  looks.map(({ plan }) => plan.pools[0]?.daemons.starting ?? 0);

const reasons = (looks: readonly LookResult[]): readonly string[] => [
  ...new Set(looks.flatMap(({ plan }) => plan.pools[0]?.why ?? []).map(({ code }) => code)),
];

describe('an AWS that accepts the condition', () => {
  it('gets one task first, and the others once it has its lease', async () => {
    const on = await turnOn({ isRefused: false });
    on.addJobs(6);
    const first = await on.look(40);
    expect(on.launched()).toBe(1);
    expect(reasons(first)).toContain('role-untried');
    await on.look(50);
    expect(on.launched()).toBe(6);
    await on.look(180);
    expect(on.waiting()).toBe(0);
    expect(on.world.figures().killed).toBe(0);
  });

  it.each([
    { minutes: 40, first: 5, because: 'ECS still shows the task' },
    { minutes: 3 * 60, first: 1, because: 'ECS has forgotten it' },
  ])('launches $first of 5 tasks at once $minutes min after a first job: $because', async (given) => {
    const on = await turnOn({ isRefused: false });
    on.addJobs(1);
    await on.look(5 * 60);
    await on.rest(given.minutes);
    expect([...on.world.service('cpu').tasks]).toEqual([]);
    const before = on.launched();
    on.addJobs(5);
    const looks = await on.look(20);
    expect(on.launched() - before).toBe(given.first);
    expect(reasons(looks).includes('role-untried')).toBe(given.first === 1);
  });

  it('replaces old tasks as any deployment does, but for the first one', async () => {
    const on = await turnOn({ isRefused: false, old: 8 });
    const looks = await on.look(15 * 60);
    expect(Math.max(...starting(looks.slice(0, 8)))).toBe(1);
    expect(on.world.service('cpu').state.older).toEqual([]);
    expect([...on.world.service('cpu').tasks]).toHaveLength(8);
    expect(on.world.figures().killed).toBe(0);
  });
});

describe('an AWS that refuses the condition', () => {
  it('is told within three minutes, with the way back, after one task', async () => {
    const on = await turnOn({ isRefused: true });
    on.addJobs(6);
    const looks = await on.look(180);
    expect(looks.at(-1)?.plan.findings).toContainEqual(
      expect.objectContaining({ code: 'starts-failing', reason: expect.stringContaining('exit code 79') }),
    );
    expect(Math.max(...starting(looks))).toBe(1);
    expect(on.launched()).toBeLessThanOrEqual(2);
  });

  it('costs one task at a time, which ECS itself replaces', async () => {
    const on = await turnOn({ isRefused: true });
    on.addJobs(6);
    const looks = await on.look(60 * 60);
    expect(Math.max(...starting(looks))).toBe(1);
    expect(on.launched()).toBeLessThanOrEqual(36);
  });

  it.each([
    { minutes: 90, deploymentBlocked: 'off' },
    { minutes: 90, deploymentBlocked: 'new-only' },
    // then their guards drain, as in any deployment that stays open
    { minutes: 20, deploymentBlocked: 'all' },
  ] as const)(
    'keeps its old tasks, which serve all jobs for $minutes min if a deployment blocks: $deploymentBlocked',
    async ({ minutes, deploymentBlocked }) => {
      const on = await turnOn({ isRefused: true, old: 4, deploymentBlocked });
      for (let jobs = 0; jobs < minutes / 5; jobs++) {
        on.addJobs(2);
        await on.look(5 * 60);
        expect(on.waiting()).toBe(0);
      }
      const { tasks, state } = on.world.service('cpu');
      const kept = [...tasks].filter(({ isProtected }) => isProtected);
      expect(kept).toHaveLength(4);
      expect(kept.every(({ identity }) => identity.startedBy !== state.primary.id)).toBe(true);
      expect(on.world.figures().killed).toBe(0);
    },
  );

  it('serves its jobs within minutes after the setting was turned off', async () => {
    const on = await turnOn({ isRefused: true });
    on.addJobs(6);
    await on.look(10 * 60);
    on.world.deploy('cpu', UNBOUND);
    await on.look(5 * 60);
    expect(on.waiting()).toBe(0);
    const looks = await on.look(60);
    expect(looks.at(-1)?.plan.findings).toEqual([]);
  });
});
