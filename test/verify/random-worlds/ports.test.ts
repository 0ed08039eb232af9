import { afterAll, describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { observe } from '../../../lambda/look/observe.ts';
import { Random } from '../../../simulator/base/random.ts';
import { Timeline } from '../../../simulator/base/timeline.ts';
import { portsOf } from '../../../verify/random-worlds/ports.ts';
import { FaultyConnection, type LineFaults } from '../../../verify/random-worlds/world/faulty-connection.ts';
import { VirtualScheduler } from '../../../verify/random-worlds/world/virtual-scheduler.ts';
import { type Lab, START, startLab } from '../../support/lab.ts';

let lab: Lab | undefined;
afterAll(() => lab?.close());

function lineOf(options: { faults?: LineFaults; isCutOff?: () => boolean } = {}) {
  const timeline = new Timeline(START);
  const pace = new VirtualScheduler(timeline);
  const { faults = { failing: 0, losing: 0 }, isCutOff = () => false } = options;
  const line = new FaultyConnection({
    pace,
    random: new Random(1),
    latency: [100, 100],
    faults: () => faults,
    isCutOff,
  });
  return { line, pace, pass: (ms: number) => pace.advanceTo(plusMs(timeline.now(), ms)) };
}

describe('the ports in the same process', () => {
  it('see what the real clients see over HTTP', async () => {
    lab = await startLab({
      throttling: false,
      coderVersion: 'v2.35.1',
      pools: [
        { name: 'cpu', organization: 'default', tags: {}, desiredCount: 3 },
        { name: 'gpu', organization: 'data', tags: { gpu: 'yes' }, desiredCount: 120 },
      ],
    });
    const { world, config, ports, pass } = lab;
    for (let index = 0; index < 60; index++)
      world.coderd.submitJob({ organization: 'data', tags: { gpu: 'yes' }, durationMs: 20_000 * index });
    pass(400);
    world.ecs.setDesiredCount(world.service('cpu').identity.name, 1);
    world.ecs.spotInterruption([...world.service('gpu').tasks][0]?.identity.id ?? '');
    world.deploy('cpu');
    pass(20);
    const { pace, line } = lineOf();
    const inProcess = portsOf(world, { aws: line, coderd: line, pace });
    const [seen] = await Promise.all([observe(inProcess, config), pace.advanceTo(plusMs(START, 60_000))]);
    const { coder, ...rest } = await observe(ports(), config);
    // in process nobody signs in, so there is no token to tell of, and no member whose it is
    const { token: _, ...withoutToken } = coder;
    const owners = new Set(world.coderd.users().map(({ id }) => id));
    const withoutSelf = (all: Snapshot['coder']): Snapshot['coder'] => ({
      ...all,
      organizations: all.organizations.map(({ members = { status: 'ok', items: [] }, ...sight }) => ({
        ...sight,
        members: { ...members, items: members.items.filter(({ user_id }) => owners.has(user_id)) },
      })),
    });
    // nor has an answer of AWS's a date
    const { takenAt: __, ...services } = rest.ecs.services;
    expect({ ...seen, coder: withoutSelf(seen.coder) }).toEqual({
      ...rest,
      clock: seen.clock,
      ecs: { ...rest.ecs, services },
      coder: withoutSelf(withoutToken),
    });
    expect(seen.ecs.tasks.items.length).toBeGreaterThan(100);
    expect(seen.coder.organizations.flatMap(({ previousJobs }) => previousJobs.items).length).toBeGreaterThan(
      0,
    );
  });
});

describe('the line', () => {
  const outcomes = async (faults: LineFaults) => {
    const { line, pass } = lineOf({ faults });
    let acts = 0;
    const seen = line
      .call(() => ++acts)
      .then(
        () => 'answered',
        () => 'failed',
      );
    await pass(10_000);
    return { acts, seen: await seen };
  };

  it.each([
    { faults: { failing: 0, losing: 0 }, expected: { acts: 1, seen: 'answered' } },
    { faults: { failing: 1, losing: 0 }, expected: { acts: 0, seen: 'failed' } },
  ])('with $faults: $expected', async ({ faults, expected }) => {
    expect(await outcomes(faults)).toEqual(expected);
  });

  it('loses answers after the call has had its effect, maybe twice', async () => {
    const { acts, seen } = await outcomes({ failing: 0, losing: 1 });
    expect(seen).toBe('failed');
    expect(acts).toBeGreaterThan(0);
  });

  it('lets a call take effect on the way, and answers later', async () => {
    const { line, pass } = lineOf();
    const seen: string[] = [];
    void line.call(() => seen.push('effect')).then(() => seen.push('answer'));
    await pass(49);
    expect(seen).toEqual([]);
    await pass(1);
    expect(seen).toEqual(['effect']);
    await pass(50);
    expect(seen).toEqual(['effect', 'answer']);
  });

  it('makes no call once it is cut off, and never answers', async () => {
    let calls = 0;
    const { line, pass } = lineOf({ isCutOff: () => ++calls > 1 });
    const seen: number[] = [];
    void line
      .call(() => seen.push(1))
      .then(() => line.call(() => seen.push(2)))
      .then(() => seen.push(3));
    await pass(10_000);
    expect(seen).toEqual([1]);
  });
});

describe('the pace', () => {
  it('wakes what waits in order of time, each before the next, with the world at that time', async () => {
    const timeline = new Timeline(START);
    const pace = new VirtualScheduler(timeline);
    const seen: string[] = [];
    const log = (name: string): void => void seen.push(`${name} ${timeline.now() - START}`);
    const twice = async (name: string, ms: number): Promise<void> => {
      await pace.wait(ms);
      log(name);
      await pace.wait(ms);
      log(name);
    };
    timeline.after(15, () => log('world'));
    void twice('slow', 20);
    void twice('quick', 10);
    await pace.advanceTo(plusMs(START, 30));
    expect(seen).toEqual(['quick 10', 'world 15', 'slow 20', 'quick 20']);
    expect(timeline.now() - START).toBe(30);
  });
});
