/** ECS's own wait after an outage of the registry: what is told of it, and what ends it. */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { startLongLab } from '../../support/lab.ts';

const cpu = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };

const throttledIn = ({ plan }: LookResult) =>
  plan.findings.find((finding) => finding.code === 'starts-throttled');

/** Starts fail for so long while a job comes each four minutes. Three more come a minute after the end. */
async function outage(minutes: number) {
  const lab = await startLongLab({ pools: [cpu] });
  const { world } = lab;
  const ports = lab.ports();
  const submit = (jobs: number) =>
    Array.from({ length: jobs }, () =>
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE_MS }),
    );
  const look = async (count: number) => lab.run(60 * count, ports, 10);
  submit(3);
  await look(5);
  const { name } = world.service('cpu').identity;
  world.ecs.failStarts(name, 'CannotPullContainerError: pull image manifest has been retried 7 time(s)');
  const looks: LookResult[] = [];
  for (let passed = 0; passed < minutes; passed += 4) {
    submit(1);
    looks.push(...(await look(4)));
  }
  world.ecs.failStarts(name);
  looks.push(...(await look(1)));
  const last = new Set(submit(3));
  /** The longest wait of these three in seconds; infinite while one waits. */
  const wait = (): number => {
    const own = world.coderd.jobs().filter(({ id }) => last.has(id));
    return (
      Math.max(...own.map(({ createdAt, startedAt = Number.POSITIVE_INFINITY }) => startedAt - createdAt)) /
      1000
    );
  };
  return { ...lab, looks, look, wait };
}

describe('an outage of the registry for forty minutes', () => {
  it('is told with the age of the wait of ECS, which makes jobs wait for 26 minutes more', async () => {
    const on = await outage(40);
    const found = [];
    for (const minutes of [1, 18]) found.push((await on.look(minutes)).at(-1));
    const [second, twentieth] = found.map((look) => look && throttledIn(look));
    const stopped = on.world.ecs.tasks().flatMap(({ state }) => state.stoppedAt ?? []);
    const failedAt = new Date(Math.max(...stopped)).toISOString();
    expect(second).toMatchObject({ since: failedAt, before: [] });
    expect(twentieth).toMatchObject({ since: failedAt, before: [] });
    expect((twentieth?.waitedMs ?? 0) - (second?.waitedMs ?? 0)).toBe(18 * MINUTE_MS);
    expect(findingLines(second ? [second] : [])[0]).toMatch(/for 2 min now and 27 min at most/);
    expect(on.wait()).toBe(Number.POSITIVE_INFINITY);
    await on.look(10);
    expect(on.wait()).toBeGreaterThan(1_500);
    expect(on.wait()).toBeLessThan(1_700);
  });

  it('costs the jobs two minutes, and a start, if a person deploys as told two minutes after its end', async () => {
    const on = await outage(40);
    const [look] = (await on.look(1)).slice(-1);
    expect(look && throttledIn(look)).toMatchObject({
      before: [],
      service: on.world.service('cpu').identity.name,
    });
    const service = on.world.service('cpu');
    service.deploy(service.state.primary.definition);
    const after = await on.look(10);
    expect(on.wait()).toBeLessThan(60 + 150);
    expect(after.flatMap((each) => throttledIn(each) ?? [])).toEqual([]);
  });

  it('prints the command only while no task lives and the only deployment is completed', async () => {
    const lab = await startLongLab({ pools: [{ ...cpu, desiredCount: 1, min: 1 }] });
    const { world } = lab;
    const ports = lab.ports();
    await lab.run(180, ports, 10);
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60 * MINUTE_MS });
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE_MS });
    const service = world.service('cpu');
    world.ecs.failStarts(service.identity.name, 'CannotPullContainerError');
    const found = (await lab.run(20 * 60, ports, 10)).flatMap((look) => throttledIn(look) ?? []);
    expect(found.length).toBeGreaterThan(20);
    for (const { before } of found) expect(before).toContain('tasks-have-stopped');
  });
});
