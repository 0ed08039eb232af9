import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { table } from '../../../../test/support/table.ts';
import { AGENT_SCALER, instancesFor } from '../../../what-if/policies/agent-scaler.ts';
import { defaultsOf, makePolicyWorld } from './policy-world.ts';

const STACK = defaultsOf(AGENT_SCALER);
const ONE_POOL = [{ name: 'cpu' }];

describe('instancesFor', () => {
  it.each(table<{ jobs: number; instanceBuffer: number; minSize: number; expected: number; because: string }>`
    jobs | instanceBuffer | minSize | expected | because
    0    | 0              | 0       | 0        | there are no jobs
    7    | 0              | 0       | 7        | each instance has one agent
    7    | 3              | 0       | 10       | it adds the buffer
    1    | 3              | 0       | 2        | the buffer is at most the number of jobs
    0    | 3              | 0       | 0        | without jobs there is no buffer
    0    | 0              | 2       | 2        | MinSize is the minimum
    40   | 3              | 0       | 20       | MaxSize is the maximum
  `)('wants $expected instances for $jobs jobs: $because', ({ jobs, expected, ...given }) => {
    expect(instancesFor(jobs, { ...given, maxSize: 20 })).toBe(expected);
  });
});

describe("Buildkite's agent scaler", () => {
  it('adds all missing instances at once, and adds again only after its cooldown', () => {
    const { start, passTo, submit, changes } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, STACK);
    passTo(1);
    for (let job = 0; job < 4; job++) submit(3600);
    passTo(61);
    submit(3600);
    passTo(400);
    expect(changes).toEqual([
      [10, 'cpu', 4],
      [310, 'cpu', 5],
    ]);
  });

  it('adds instances at every run when it has no cooldown', () => {
    const { start, passTo, submit, changes } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, { ...STACK, scaleOutCooldownS: 0 });
    submit(3600);
    passTo(61);
    submit(3600);
    passTo(400);
    expect(changes).toEqual([
      [0, 'cpu', 1],
      [70, 'cpu', 2],
    ]);
  });

  it('adds the missing instances times the factor, rounded up', () => {
    const { start, passTo, submit, changes } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, { ...STACK, scaleOutFactor: 1.5 });
    for (let job = 0; job < 3; job++) submit(3600);
    passTo(100);
    expect(changes).toEqual([[0, 'cpu', 5]]);
  });

  it('removes the instance of an agent that was idle for long enough, without a replacement', () => {
    const { start, passTo, submit, changes, world } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, STACK);
    submit(60);
    submit(1200);
    passTo(3600);
    // both daemons connect at 44 s (1 s to react, 40 s to boot, 3 s to connect); the jobs end at
    // 104 s and 1,244 s
    expect(changes).toEqual([
      [0, 'cpu', 2],
      [710, 'cpu', 1],
      [1850, 'cpu', 0],
    ]);
    expect(world.figures()).toMatchObject({ tasks: { running: 0, launched: 2 }, killed: 0 });
  });

  it('gives no build to an agent that exits', () => {
    const { start, passTo, submit, world } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, STACK);
    submit(60);
    passTo(710);
    // an agent that ECS stops would still have one second to take a job, and 120 s to run
    submit(600);
    passTo(1800);
    expect(world.coderd.jobs().map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });

  it('begins its cooldown again while too few instances are in service, although the missing ones boot', () => {
    const { start, passTo, submit, changes } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, { ...STACK, scaleOutCooldownS: 20 });
    submit(3600);
    passTo(61);
    submit(3600);
    passTo(91);
    submit(3600);
    passTo(200);
    // instances are in service at 41 s and 112 s; at 90 s only one of two is, so 100 s is within
    // the cooldown
    expect(changes).toEqual([
      [0, 'cpu', 1],
      [70, 'cpu', 2],
      [110, 'cpu', 3],
    ]);
  });

  it('keeps MinSize instances when all agents are idle', () => {
    const { start, passTo, desired, world } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, { ...STACK, minPercent: 2 });
    passTo(7200);
    expect(desired('cpu')).toBe(2);
    expect(world.figures().tasks).toEqual({ running: 2, launched: 2, peak: 2 });
  });

  it('adds no instances during an outage of coderd, while idle agents still exit', () => {
    const { start, passTo, submit, desired, setOutage } = makePolicyWorld([
      { name: 'cpu' },
      { name: 'gpu', tags: { gpu: 'yes' } },
    ]);
    start(AGENT_SCALER, STACK);
    submit(60);
    passTo(200);
    setOutage(true);
    submit(600, { gpu: 'yes' });
    passTo(900);
    expect([desired('cpu'), desired('gpu')]).toEqual([0, 0]);
    setOutage(false);
    passTo(910);
    expect([desired('cpu'), desired('gpu')]).toEqual([0, 1]);
  });

  it('calls coderd at every run, and EC2 only if coderd answers', () => {
    const { start, passTo, calls, setOutage } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, STACK);
    passTo(59);
    setOutage(true);
    passTo(119);
    expect(calls()).toEqual({ ticks: 12, coderd: 12, ecs: 6 });
  });

  it('never kills a build, with random jobs and settings', () => {
    const job = fc.record({ atS: fc.nat(3600), seconds: fc.integer({ min: 1, max: 1500 }) });
    fc.assert(
      fc.property(
        fc.array(job, { maxLength: 25 }),
        fc.record({
          idleS: fc.integer({ min: 1, max: 300 }),
          bufferPercent: fc.constantFrom(0, 1, 5),
        }),
        fc.nat(),
        (jobs, settings, seed) => {
          const { start, passTo, submit, world, desired } = makePolicyWorld(ONE_POOL, { seed });
          start(AGENT_SCALER, { ...STACK, ...settings, scaleOutCooldownS: 0 });
          for (const { atS, seconds } of jobs) world.timeline.after(atS * 1000, () => submit(seconds));
          passTo(4 * 3600);
          expect(world.kills()).toEqual([]);
          expect(world.coderd.jobs().map(({ status }) => status)).toEqual(jobs.map(() => 'succeeded'));
          expect({ desired: desired('cpu'), running: world.figures().tasks.running }).toEqual({
            desired: 0,
            running: 0,
          });
        },
      ),
      runs(100),
    );
  });
});
