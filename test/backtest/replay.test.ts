/** When the jobs of a trace get into coderd's queue, and as what. */
import { describe, expect, it } from 'vitest';
import { Replay, type ReplayedJob } from '../../lab/backtest/replay.ts';
import { Random } from '../../lab/random.ts';
import { EXECUTOR_KINDS, JOB_KINDS, type TraceJob } from '../../lab/trace/trace.ts';
import { World } from '../../lab/world.ts';
import { type EpochMs, plusMs } from '../../lambda/core/brands.ts';
import { normalizeTags } from '../../lambda/core/tags.ts';
import { aTraceJob, atSecond, NINE } from './support.ts';

const MINUTE_MS = 60_000;
const HOUR_S = 3600;

/** What has become of the jobs three hours after nine; the pool has 30 daemons from `daemonsAt` on. */
function replay(
  jobs: readonly TraceJob[],
  daemonsAt = plusMs(NINE, -10 * MINUTE_MS),
): readonly ReplayedJob[] {
  const world = new World({
    ...{ start: plusMs(NINE, -15 * MINUTE_MS), seed: 3, organizations: ['default', 'data'] },
    pools: [
      { name: 'gpu', organization: 'default', tags: { gpu: 'a10' }, image: 'bare', desiredCount: 0 },
      { name: 'plain', organization: 'default', tags: {}, image: 'bare', desiredCount: 0 },
    ],
  });
  const replayed = new Replay(world, jobs);
  world.timeline.advanceTo(daemonsAt);
  for (const pool of ['gpu', 'plain']) world.ecs.setDesiredCount(world.service(pool).identity.name, 15);
  world.timeline.advanceTo(atSecond(3 * HOUR_S));
  replayed.end();
  return replayed.jobs();
}

/** Seconds after nine at which they were inserted. */
function insertedAt(jobs: readonly ReplayedJob[]): readonly (number | undefined)[] {
  return jobs.map(({ record }) => record && (record.createdAt - NINE) / 1000);
}

describe('jobs of a trace', () => {
  it.each([...EXECUTOR_KINDS])('that are an %s enter at the full minute at which they are due', (kind) => {
    const times = [90, 120, 120.001, 179.999, 0, 0.5];
    const jobs = times.map((seconds) => aTraceJob({ at: atSecond(seconds), kind }));
    expect(insertedAt(replay(jobs))).toEqual([120, 120, 180, 180, 0, 60]);
  });

  it.each(['user', 'prebuild', 'import'] as const)('that are of kind %s enter at their time', (kind) => {
    const times = [90, 120.001, 0];
    const jobs = times.map((seconds) => aTraceJob({ at: atSecond(seconds), kind }));
    expect(insertedAt(replay(jobs))).toEqual(times);
  });

  it('enter late where they need a daemon and none is seen', () => {
    const jobs = [...EXECUTOR_KINDS, 'user' as const].map((kind) => aTraceJob({ at: atSecond(90), kind }));
    const [autostart = 0, ...others] = insertedAt(replay(jobs, atSecond(600)));
    // a task takes half a minute to a minute
    expect(autostart).toBeGreaterThanOrEqual(660);
    expect(autostart).toBeLessThanOrEqual(720);
    expect(others).toEqual([autostart, autostart, 90]);
  });

  it('never enter where they need a daemon that no pool has', () => {
    const [other, tagged] = [{ organization: 'data' }, { tags: { gpu: 'h100' } }];
    const jobs = [...EXECUTOR_KINDS].flatMap((kind) => [
      aTraceJob({ kind, ...other }),
      aTraceJob({ kind, ...tagged }),
    ]);
    expect(insertedAt(replay(jobs))).toEqual(jobs.map(() => undefined));
  });

  it('enter once each, as what they are, and run for as long as they say', () => {
    const jobs = manyJobs();
    const replayed = replay(jobs);
    expect(new Set(replayed.map(({ record }) => record?.id)).size).toBe(jobs.length);
    for (const [index, { job, record }] of replayed.entries()) {
      expect(job).toBe(jobs[index]);
      expect(record).toMatchObject({
        tags: normalizeTags(job.tags),
        type: job.kind === 'import' ? 'template_version_import' : 'workspace_build',
        status: 'succeeded',
      });
      expect(record?.createdAt).toBe(dueAt(job));
      expect((record?.completedAt ?? 0) - (record?.startedAt ?? 0)).toBe(Math.round(job.seconds * 1000));
    }
  });
});

const dueAt = ({ at, kind }: TraceJob): number =>
  EXECUTOR_KINDS.has(kind) ? Math.ceil(at / MINUTE_MS) * MINUTE_MS : at;

/** Eighty in two hours, of all kinds, of 0 s to half an hour. */
function manyJobs(): readonly TraceJob[] {
  const random = new Random(5);
  const jobs = Array.from({ length: 80 }, () =>
    aTraceJob({
      at: plusMs(NINE, random.whole(0, 2 * HOUR_S * 1000)) as EpochMs,
      tags: random.pick([{}, { gpu: 'a10' }]) ?? {},
      seconds: random.pick([0, 0.5, random.whole(1, 1800)]) ?? 0,
      kind: random.pick(JOB_KINDS) ?? 'user',
    }),
  );
  return jobs.toSorted((a, b) => a.at - b.at);
}
