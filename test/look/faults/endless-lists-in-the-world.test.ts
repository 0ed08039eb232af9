/** Lists of ECS that never end, with real looks: builds are served, and no pool scales in until the list is whole. */
import { describe, expect, it } from 'vitest';
import type { LookResult } from '../../../lambda/look/look.ts';
import { lookAndAct } from '../../../lambda/look/look.ts';
import { startLab } from '../../support/lab.ts';

const cpu = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, idleTimeout: '30s', max: 4 };

describe.each(['ListServices', 'ListTasks'])('%s', (operation) => {
  it.each(['same-token', 'new-token'] as const)('that never ends, with %s, serves builds', async (kind) => {
    const lab = await startLab({ pools: [cpu], overHttp: false, throttling: false });
    const { world, ports, config, run, pass } = lab;
    // from the first look on: later ones keep a list of services that was whole
    world.ecs.endlessLists.set(operation, kind);
    pass(60);
    for (let build = 0; build < 3; build += 1)
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const looks: LookResult[] = [];
    for (let passed = 0; passed < 1_200; passed += 30) {
      pass(30);
      looks.push(await lookAndAct(ports(), config));
    }
    expect(world.coderd.jobs().map(({ status }) => status)).toEqual(Array(3).fill('succeeded'));
    expect(world.service('cpu').state.desiredCount).toBe(3);
    expect(world.ecs.counts().launched).toBe(3);
    const list = operation === 'ListServices' ? 'services' : 'tasks';
    expect(looks.map(({ failures }) => failures.map(({ message }) => message))).toEqual(
      looks.map(() => [expect.stringMatching(`${operation} .+, so the rest is not read$`)]),
    );
    expect(looks.at(-1)?.plan.findings.map(({ code }) => code)).toContain(`${list}-truncated`);
    world.ecs.endlessLists.clear();
    pass(60);
    await run(300);
    expect(world.service('cpu').state.desiredCount).toBe(0);
    expect(world.figures().killed).toBe(0);
  });
});
