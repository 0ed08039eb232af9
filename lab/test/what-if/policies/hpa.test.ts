import { describe, expect, it } from 'vitest';
import { HPA } from '../../../what-if/policies/hpa.ts';
import { defaultsOf, makePolicyWorld } from './policy-world.ts';

const DEFAULTS = defaultsOf(HPA);
const ONE_POOL = [{ name: 'cpu' }];

describe('KEDA and its HPA', () => {
  it('wake a pool at the next poll, then add 4 replicas, then double them', () => {
    const { start, passTo, submit, changes } = makePolicyWorld(ONE_POOL);
    start(HPA, DEFAULTS);
    passTo(1);
    for (let job = 0; job < 12; job++) submit(1200);
    passTo(300);
    // KEDA polls at 0, 30, 60 s; the HPA syncs at 7.5, 22.5, 37.5 s
    expect(changes).toEqual([
      [30, 'cpu', 1],
      [37.5, 'cpu', 5],
      [52.5, 'cpu', 10],
      [67.5, 'cpu', 12],
    ]);
  });

  it('kill long builds when they scale in, as ECS does not know which tasks are busy', () => {
    const { start, passTo, submit, changes, world } = makePolicyWorld(ONE_POOL);
    start(HPA, DEFAULTS);
    for (let job = 0; job < 3; job++) submit(60);
    for (let job = 0; job < 3; job++) submit(3600);
    passTo(900);
    // daemons connect at 44, 51.5 and 66.5 s and take the oldest jobs first; the short jobs end at
    // 104 and 111.5 s; the HPA sees 6 jobs for the last time at 97.5 s, so 300 s later it wants
    // only 3
    expect(changes).toEqual([
      [0, 'cpu', 1],
      [7.5, 'cpu', 5],
      [22.5, 'cpu', 6],
      [397.5, 'cpu', 3],
    ]);
    expect(world.kills().length).toBeGreaterThan(0);
    for (const { by, job } of world.kills())
      expect({ by, ms: job.durationMs }).toEqual({ by: 'us', ms: 3_600_000 });
    expect(world.figures().killedByUs).toBe(world.kills().length);
  });

  it('scale to zero 300 s after the last poll that saw a job', () => {
    const { start, passTo, submit, changes } = makePolicyWorld(ONE_POOL);
    start(HPA, DEFAULTS);
    submit(60);
    passTo(900);
    // the daemon connects at 44 s and its job ends at 104 s; the last poll with a job is at 90 s,
    // and the first poll after 390 s is at 420 s
    expect(changes).toEqual([
      [0, 'cpu', 1],
      [420, 'cpu', 0],
    ]);
  });

  it('keep minReplicas when there are no jobs', () => {
    const { start, passTo, changes } = makePolicyWorld(ONE_POOL);
    start(HPA, { ...DEFAULTS, minPercent: 3 });
    passTo(3600);
    expect(changes).toEqual([[0, 'cpu', 3]]);
  });

  it('keep all replicas during an outage of coderd', () => {
    const { start, passTo, submit, changes, desired, setOutage } = makePolicyWorld(ONE_POOL);
    start(HPA, DEFAULTS);
    for (let job = 0; job < 4; job++) submit(60);
    passTo(90);
    setOutage(true);
    const before = changes.length;
    passTo(3600);
    expect(changes.length).toBe(before);
    expect(desired('cpu')).toBe(4);
  });

  it('count a job once for each pool that it fits', () => {
    const { start, passTo, submit, desired } = makePolicyWorld([
      { name: 'gpu', tags: { gpu: 'yes' } },
      { name: 'big-gpu', tags: { gpu: 'yes', size: 'big' } },
    ]);
    start(HPA, DEFAULTS);
    submit(600, { gpu: 'yes' });
    passTo(10);
    expect([desired('gpu'), desired('big-gpu')]).toEqual([1, 1]);
  });

  it('call coderd at each poll, and at each sync with replicas', () => {
    const { start, passTo, submit, calls } = makePolicyWorld(ONE_POOL);
    start(HPA, DEFAULTS);
    passTo(59);
    // polls at 0 and 30 s; syncs at 7.5, 22.5, 37.5, 52.5 s
    expect(calls()).toEqual({ ticks: 6, coderd: 2, ecs: 6 });
    submit(600);
    passTo(119);
    expect(calls()).toEqual({ ticks: 12, coderd: 8, ecs: 12 });
  });

  it('never want more replicas than max', () => {
    const { start, passTo, submit, desired } = makePolicyWorld([{ name: 'cpu', max: 6 }]);
    start(HPA, DEFAULTS);
    for (let job = 0; job < 40; job++) submit(600);
    passTo(200);
    expect(desired('cpu')).toBe(6);
  });
});
