import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGENT_SCALER, instancesFor } from '../../../backtest/policies/agent-scaler.ts';
import { runs } from '../../support/runs.ts';
import { defaultsOf, makeStage } from './stage.ts';

const STACK = defaultsOf(AGENT_SCALER);
const ONE_POOL = [{ name: 'cpu' }];

describe('the rule of scaling_calculator.go and scaler.go', () => {
  it.each([
    { jobs: 0, instanceBuffer: 0, minSize: 0, expected: 0, because: 'nobody waits' },
    { jobs: 7, instanceBuffer: 0, minSize: 0, expected: 7, because: 'one agent an instance' },
    { jobs: 7, instanceBuffer: 3, minSize: 0, expected: 10, because: 'the buffer comes on top' },
    { jobs: 1, instanceBuffer: 3, minSize: 0, expected: 2, because: 'the buffer is no more than the jobs' },
    { jobs: 0, instanceBuffer: 3, minSize: 0, expected: 0, because: 'no jobs, no buffer' },
    { jobs: 0, instanceBuffer: 0, minSize: 2, expected: 2, because: 'MinSize' },
    { jobs: 40, instanceBuffer: 3, minSize: 0, expected: 20, because: 'MaxSize' },
  ])('wants $expected instances for $jobs jobs: $because', ({ jobs, expected, ...given }) => {
    expect(instancesFor(jobs, { ...given, maxSize: 20 })).toBe(expected);
  });
});

describe("Buildkite's agent scaler", () => {
  it('adds what is missing at once, and again after its cooldown only', () => {
    const { start, passTo, submit, changes } = makeStage(ONE_POOL);
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

  it('adds at each look without a cooldown', () => {
    const { start, passTo, submit, changes } = makeStage(ONE_POOL);
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

  it('adds the missing ones times the factor, rounded up', () => {
    const { start, passTo, submit, changes } = makeStage(ONE_POOL);
    start(AGENT_SCALER, { ...STACK, scaleOutFactor: 1.5 });
    for (let job = 0; job < 3; job++) submit(3600);
    passTo(100);
    expect(changes).toEqual([[0, 'cpu', 5]]);
  });

  it('lets an agent that was idle for long enough take its instance along, and nothing comes in its place', () => {
    const { start, passTo, submit, changes, world } = makeStage(ONE_POOL);
    start(AGENT_SCALER, STACK);
    submit(60);
    submit(1200);
    passTo(3600);
    // both have daemons at 44 s (1 s to react, 40 to boot, 3 to connect); they are done at 104 s and 1,244 s
    expect(changes).toEqual([
      [0, 'cpu', 2],
      [710, 'cpu', 1],
      [1850, 'cpu', 0],
    ]);
    expect(world.figures()).toMatchObject({ tasks: { running: 0, launched: 2 }, killed: 0 });
  });

  it('gives no build to an agent that is on its way out', () => {
    const { start, passTo, submit, world } = makeStage(ONE_POOL);
    start(AGENT_SCALER, STACK);
    submit(60);
    passTo(710);
    // one that was told by ECS to stop would still have a second to take it, and 120 s to live
    submit(600);
    passTo(1800);
    expect(world.coderd.jobs().map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });

  it('begins its cooldown anew at each look that finds too few in service, though all that it needs boot', () => {
    const { start, passTo, submit, changes } = makeStage(ONE_POOL);
    start(AGENT_SCALER, { ...STACK, scaleOutCooldownS: 20 });
    submit(3600);
    passTo(61);
    submit(3600);
    passTo(91);
    submit(3600);
    passTo(200);
    // in service at 41 and 112 s; at 90 s one of two is, so 100 s is too soon after it
    expect(changes).toEqual([
      [0, 'cpu', 1],
      [70, 'cpu', 2],
      [110, 'cpu', 3],
    ]);
  });

  it('keeps MinSize, however idle', () => {
    const { start, passTo, desired, world } = makeStage(ONE_POOL);
    start(AGENT_SCALER, { ...STACK, minPercent: 2 });
    passTo(7200);
    expect(desired('cpu')).toBe(2);
    expect(world.figures().tasks).toEqual({ running: 2, launched: 2, peak: 2 });
  });

  it('adds nothing while coderd answers nobody; idle agents go all the same', () => {
    const { start, passTo, submit, desired, setOutage } = makeStage([
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

  it('asks coderd at each look, and EC2 where coderd answered', () => {
    const { start, passTo, calls, setOutage } = makeStage(ONE_POOL);
    start(AGENT_SCALER, STACK);
    passTo(59);
    setOutage(true);
    passTo(119);
    expect(calls()).toEqual({ ticks: 12, coderd: 12, ecs: 6 });
  });

  it('never kills a build, whatever comes when', () => {
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
          const { start, passTo, submit, world, desired } = makeStage(ONE_POOL, { seed });
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
