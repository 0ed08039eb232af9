/** Rows that cannot be read, with real looks: nothing is concluded from their absence, and other pools scale on. */
import { expect, it } from 'vitest';
import type { LookResult } from '../../../lambda/look/look.ts';
import { lookAndAct } from '../../../lambda/look/look.ts';
import { startLab } from '../../support/lab.ts';

const POOL = { tags: {}, desiredCount: 0, idleTimeout: '30s', max: 4 };
const POOLS = [
  { ...POOL, name: 'a', organization: 'default' },
  { ...POOL, name: 'b', organization: 'data' },
] as const;

it.each(['task', 'daemon', 'job'] as const)(
  'the row of a busy %s holds its pool, kills nothing, and leaves the other pool as it is',
  async (kind) => {
    const { world, ports, config, run, pass } = await startLab({ pools: POOLS, overHttp: false });
    for (const organization of ['default', 'default', 'data'])
      world.coderd.submitJob({ organization, tags: {}, durationMs: 900_000 });
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 120_000 });
    await run(180);
    const count = (pool: string): number => world.service(pool).state.desiredCount;
    expect([count('a'), count('b')]).toEqual([3, 1]);
    const busy = world.coderd.jobs().find(({ status }) => status === 'running');
    const [task] = [...world.service('a').tasks].filter(({ isBusy }) => isBusy);
    if (kind === 'task') world.ecs.unreadable.add(task?.identity.id ?? '');
    else world.coderd.unreadable.add((kind === 'job' ? busy?.id : busy?.workerId) ?? '');
    const looks: LookResult[] = [];
    for (let passed = 0; passed < 1_200; passed += 30) {
      pass(30);
      looks.push(await lookAndAct(ports(), config));
      if (passed < 600) expect(count('a')).toBe(3);
    }
    const codes = new Set(looks.flatMap(({ plan }) => plan.findings.map(({ code }) => code)));
    expect(codes).toContain(`${kind}s-truncated`);
    expect(count('b')).toBe(0);
    expect(world.figures().killed).toBe(0);
    world.ecs.unreadable.clear();
    world.coderd.unreadable.clear();
    await run(300);
    expect([count('a'), count('b')]).toEqual([0, 0]);
  },
);
