/** Limits over all pools while the service of one pool cannot be read, with real looks. */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { type LookResult, lookAndAct } from '../../../lambda/look/look.ts';
import { type Lab, type LabPool, startLab } from '../../support/lab.ts';

const pool = (name: string): LabPool => ({
  ...{ name, organization: 'default', tags: { pool: name }, desiredCount: 0, max: 20 },
});

const submit = ({ world }: Lab, name: string, count: number, minutes: number) => {
  for (let job = 0; job < count; job++)
    world.coderd.submitJob({
      organization: 'default',
      tags: { pool: name },
      durationMs: minutes * MINUTE_MS,
    });
};

/** `a` has eight busy tasks when its service is hidden, and eight jobs come for `b`. At most ten tasks may run. */
async function hide(how: 'left out' | 'in no list', hasMemory: boolean) {
  const lab = await startLab({ pools: [pool('a'), pool('b')], maxTasks: 10, overHttp: false });
  const { world, config, run, pass } = lab;
  submit(lab, 'a', 8, 60);
  const before = lab.ports();
  await run(180, before, 10);
  const { name } = world.service('a').identity;
  if (how === 'left out') world.ecs.unreadable.add(name);
  else world.ecs.unlisted.add(name);
  submit(lab, 'b', 8, 60);
  const looks: LookResult[] = [];
  const ports = hasMemory ? before : lab.ports();
  let most = 0;
  for (let passed = 0; passed < 600; passed += 10) {
    pass(10);
    looks.push(await lookAndAct(ports, config));
    most = Math.max(most, world.ecs.counts().running);
  }
  const why = looks.at(-1)?.plan.pools.find((each) => each.name === 'b')?.why ?? [];
  return { most, why, killed: world.figures().killed };
}

describe('a service that cannot be read', () => {
  it.each([
    { how: 'left out', hasMemory: true },
    { how: 'left out', hasMemory: false },
    { how: 'in no list', hasMemory: true },
    { how: 'in no list', hasMemory: false },
  ] as const)('counts against maxTasks with its tasks ($how, known before: $hasMemory)', async (row) => {
    const { most, why, killed } = await hide(row.how, row.hasMemory);
    expect(most).toBe(10);
    expect(why).toContainEqual(expect.objectContaining({ code: 'capped-at-max-tasks', maxTasks: 10 }));
    const counted = { code: 'counts-unread-pools', pools: [{ pool: 'a', tasks: 8, from: 'tasks' }] };
    if (row.how === 'left out') expect(why).toContainEqual(counted);
    expect(killed).toBe(0);
  });
});
