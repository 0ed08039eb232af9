import { afterAll, describe, expect, it } from 'vitest';
import { CoderdAdapter } from '../../../lambda/adapters/coderd/coderd.ts';
import { License } from '../../../lambda/adapters/coderd/license.ts';
import { SecretMetadata } from '../../../lambda/adapters/secrets/secret-metadata.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { observe } from '../../../lambda/look/observe.ts';
import { Random } from '../../../simulator/base/random.ts';
import { Timeline } from '../../../simulator/base/timeline.ts';
import { VirtualScheduler } from '../../../simulator/base/virtual-scheduler.ts';
import { InProcessCoderd } from '../../../simulator/coderd/routes/in-process.ts';
import { inProcessSecrets } from '../../../simulator/in-process/aws-clients.ts';
import { inProcessPorts } from '../../../simulator/in-process/ports.ts';
import {
  type ConnectionFaults,
  FaultyConnection,
} from '../../../verify/random-worlds/world/faulty-connection.ts';
import { type Lab, START, startLab } from '../../support/lab.ts';

let lab: Lab | undefined;
afterAll(() => lab?.close());

function connectionTo(options: { faults?: ConnectionFaults; isCutOff?: () => boolean } = {}) {
  const timeline = new Timeline(START);
  const scheduler = new VirtualScheduler(timeline);
  const { faults = { failing: 0, losing: 0 }, isCutOff = () => false } = options;
  const connection = new FaultyConnection({
    scheduler,
    random: new Random(1),
    latency: [100, 100],
    faults: () => faults,
    isCutOff,
  });
  return { connection, scheduler, pass: (ms: number) => scheduler.advanceTo(plusMs(timeline.now(), ms)) };
}

describe('inProcessPorts', () => {
  it('observes the same snapshot as the real clients do over HTTP', async () => {
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
    const { scheduler, connection } = connectionTo();
    const http = new InProcessCoderd(world.coderd, (act) => connection.call(act));
    const inProcess = inProcessPorts(world, {
      scheduler,
      secrets: new SecretMetadata(inProcessSecrets(world.secrets, (act) => connection.call(act))),
      coderd: new CoderdAdapter(http, { license: new License(http) }),
      ecs: (act) => connection.call(act),
    })();
    const [seen] = await Promise.all([
      observe(inProcess, config),
      scheduler.advanceTo(plusMs(START, 60_000)),
    ]);
    const { coder, ...rest } = await observe(ports(), config);
    // In process there is no sign-in, so the snapshot has neither a token nor the member that it
    // belongs to.
    const { token: _, ...withoutToken } = coder;
    const owners = new Set(world.coderd.users().map(({ id }) => id));
    const withoutSelf = (all: Snapshot['coder']): Snapshot['coder'] => ({
      ...all,
      organizations: all.organizations.map(({ members = { status: 'ok', items: [] }, ...sight }) => ({
        ...sight,
        members: { ...members, items: members.items.filter(({ user_id }) => owners.has(user_id)) },
      })),
    });
    // Answers of AWS have no date in process.
    const { takenAt: __, ...services } = rest.ecs.services;
    expect({ ...seen, coder: withoutSelf(seen.coder) }).toEqual({
      ...rest,
      clock: seen.clock,
      // a list of secrets has the time of the clock
      secrets: { ...rest.secrets, takenAt: seen.secrets?.takenAt },
      ecs: { ...rest.ecs, services },
      coder: withoutSelf(withoutToken),
    });
    expect(seen.ecs.tasks.items.length).toBeGreaterThan(100);
    expect(seen.coder.organizations.flatMap(({ previousJobs }) => previousJobs.items).length).toBeGreaterThan(
      0,
    );
  });
});

describe('FaultyConnection', () => {
  const outcomes = async (faults: ConnectionFaults) => {
    const { connection, pass } = connectionTo({ faults });
    let acts = 0;
    const seen = connection
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
  ])('gives $expected with the faults $faults', async ({ faults, expected }) => {
    expect(await outcomes(faults)).toEqual(expected);
  });

  it('loses answers after the call has taken effect, once or twice', async () => {
    const { acts, seen } = await outcomes({ failing: 0, losing: 1 });
    expect(seen).toBe('failed');
    expect(acts).toBeGreaterThan(0);
  });

  it('lets a call take effect after half of the latency, and answers after all of it', async () => {
    const { connection, pass } = connectionTo();
    const seen: string[] = [];
    void connection.call(() => seen.push('effect')).then(() => seen.push('answer'));
    await pass(49);
    expect(seen).toEqual([]);
    await pass(1);
    expect(seen).toEqual(['effect']);
    await pass(50);
    expect(seen).toEqual(['effect', 'answer']);
  });

  it('makes no call after it is cut off, and never answers', async () => {
    let calls = 0;
    const { connection, pass } = connectionTo({ isCutOff: () => ++calls > 1 });
    const seen: number[] = [];
    void connection
      .call(() => seen.push(1))
      .then(() => connection.call(() => seen.push(2)))
      .then(() => seen.push(3));
    await pass(10_000);
    expect(seen).toEqual([1]);
  });
});

describe('VirtualScheduler', () => {
  it('ends waits in order of time, one after the other, with the world at that time', async () => {
    const timeline = new Timeline(START);
    const scheduler = new VirtualScheduler(timeline);
    const seen: string[] = [];
    const log = (name: string): void => void seen.push(`${name} ${timeline.now() - START}`);
    const twice = async (name: string, ms: number): Promise<void> => {
      await scheduler.wait(ms);
      log(name);
      await scheduler.wait(ms);
      log(name);
    };
    timeline.after(15, () => log('world'));
    void twice('slow', 20);
    void twice('quick', 10);
    await scheduler.advanceTo(plusMs(START, 30));
    expect(seen).toEqual(['quick 10', 'world 15', 'slow 20', 'quick 20']);
    expect(timeline.now() - START).toBe(30);
  });
});
