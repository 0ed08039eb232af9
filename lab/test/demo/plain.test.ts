/** The demo's jobs on services whose count follows the jobs. */
import { describe, expect, it } from 'vitest';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { killedByLowering, playPlain } from '../../demo/plain.ts';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

describe('a service that lowers its count without protection', () => {
  it('has killed each build that coderd has to give up, and no other', () => {
    for (const seed of SEEDS) {
      const jobs = playPlain(seed).coderd.jobs();
      const givenUp = jobs.filter(({ failedBy }) => failedBy === 'hung-reaper');
      expect(killedByLowering(seed)).toBe(givenUp.length);
      expect(jobs.filter(({ status }) => status === 'failed')).toEqual(givenUp);
      expect(jobs.filter(({ status }) => status === 'running')).toEqual([]);
    }
    expect(sum(SEEDS, killedByLowering)).toBeGreaterThan(0);
  });

  it('kills only what ECS chose for a scale-in, 30 s after SIGTERM', () => {
    const kills = SEEDS.flatMap((seed) => playPlain(seed).kills());
    for (const { by, at, task } of kills) {
      expect(by).toBe('us');
      expect(task.state.stopCode).toBe('ServiceSchedulerInitiated');
      expect(at - (task.state.stoppingAt ?? 0)).toBe(30_000);
    }
  });

  it('kills no build once the guard protects its tasks', () => {
    for (const seed of SEEDS) {
      const world = playPlain(seed, 'guarded');
      expect(sum(world.ecs.services(), ({ state }) => state.desiredCount)).toBe(0);
      expect(world.kills()).toEqual([]);
      expect(world.coderd.jobs().filter(({ status }) => status === 'failed')).toEqual([]);
    }
  });
});
