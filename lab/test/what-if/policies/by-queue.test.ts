import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { AGENT_SCALER, FROM_ZERO } from '../../../what-if/policies/by-queue.ts';
import { makePolicyWorld } from './policy-world.ts';

const STACK = { idleS: 600 };
const ONE_POOL = [{ name: 'cpu' }];

describe("Buildkite's agent scaler", () => {
  it('adds what its jobs need at every run', () => {
    const { start, passTo, submit, changes } = makePolicyWorld(ONE_POOL);
    start(AGENT_SCALER, STACK);
    submit(3600);
    passTo(61);
    submit(3600);
    passTo(400);
    expect(changes).toEqual([
      [0, 'cpu', 1],
      [70, 'cpu', 2],
    ]);
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

  it('never kills a build, with random jobs and settings', () => {
    const job = fc.record({ atS: fc.nat(3600), seconds: fc.integer({ min: 1, max: 1500 }) });
    fc.assert(
      fc.property(
        fc.array(job, { maxLength: 25 }),
        fc.record({ idleS: fc.integer({ min: 0, max: 300 }) }),
        fc.nat(),
        (jobs, settings, seed) => {
          const { start, passTo, submit, world, desired } = makePolicyWorld(ONE_POOL, { seed });
          start(AGENT_SCALER, settings);
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

it('from zero launches a task for each build, which exits a minute after it', () => {
  const { start, passTo, submit, changes, world } = makePolicyWorld(ONE_POOL);
  start(FROM_ZERO, { idleS: 60 });
  submit(60);
  submit(120);
  passTo(600);
  // the daemons connect at 44 s, and the jobs end at 104 s and 164 s
  expect(changes).toEqual([
    [0, 'cpu', 2],
    [170, 'cpu', 1],
    [230, 'cpu', 0],
  ]);
  expect(world.figures()).toMatchObject({ tasks: { running: 0, launched: 2 }, killed: 0 });
});
