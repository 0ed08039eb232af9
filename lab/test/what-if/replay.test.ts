/** Tests when the jobs of a trace enter coderd's queue, and with which fields. */
import { describe, expect, it } from 'vitest';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { Replay, type ReplayedJob } from '../../what-if/replay/replay.ts';
import { EXECUTOR_KINDS, JOB_KINDS, type TraceJob } from '../../what-if/trace/trace.ts';
import { Random } from '../../world/base/random.ts';
import { World } from '../../world/world.ts';
import { aTraceJob, atSecond, NINE } from './support.ts';

const HOUR_S = 3600;

/** The jobs and the world at 12:00. The two pools have 15 daemons each from `daemonsAt` on. */
function replayIn(
  jobs: readonly TraceJob[],
  daemonsAt = plusMs(NINE, -10 * MINUTE_MS),
  past: readonly TraceJob[] = [],
): { readonly world: World; readonly replayed: readonly ReplayedJob[] } {
  const world = new World({
    ...{ start: plusMs(NINE, -15 * MINUTE_MS), seed: 3, organizations: ['default', 'data'] },
    pools: [
      { name: 'gpu', organization: 'default', tags: { gpu: 'a10' }, image: 'bare', desiredCount: 0 },
      { name: 'plain', organization: 'default', tags: {}, image: 'bare', desiredCount: 0 },
    ],
  });
  const replayed = new Replay(world, jobs, past);
  world.timeline.advanceTo(daemonsAt);
  for (const pool of ['gpu', 'plain']) world.ecs.setDesiredCount(world.service(pool).identity.name, 15);
  world.timeline.advanceTo(atSecond(3 * HOUR_S));
  replayed.end();
  return { world, replayed: replayed.jobs() };
}

const replay = (...given: Parameters<typeof replayIn>): readonly ReplayedJob[] => replayIn(...given).replayed;

/** Seconds after 9:00 at which coderd inserted the jobs. */
function insertedAt(jobs: readonly ReplayedJob[]): readonly (number | undefined)[] {
  return jobs.map(({ record }) => record && (record.createdAt - NINE) / 1000);
}

describe('Replay', () => {
  it.each([...EXECUTOR_KINDS])('inserts jobs of kind %s at the full minute at which they are due', (kind) => {
    const times = [90, 120, 120.001, 179.999, 0, 0.5];
    const jobs = times.map((seconds) => aTraceJob({ at: atSecond(seconds), kind }));
    expect(insertedAt(replay(jobs))).toEqual([120, 120, 180, 180, 0, 60]);
  });

  it.each(['user', 'prebuild', 'import'] as const)('inserts jobs of kind %s at their time', (kind) => {
    const times = [90, 120.001, 0];
    const jobs = times.map((seconds) => aTraceJob({ at: atSecond(seconds), kind }));
    expect(insertedAt(replay(jobs))).toEqual(times);
  });

  it('inserts jobs of the executor late when coderd sees no daemon', () => {
    const jobs = [...EXECUTOR_KINDS, 'user' as const].map((kind) => aTraceJob({ at: atSecond(90), kind }));
    const [autostart = 0, ...others] = insertedAt(replay(jobs, atSecond(600)));
    // a task takes half a minute to a minute
    expect(autostart).toBeGreaterThanOrEqual(660);
    expect(autostart).toBeLessThanOrEqual(720);
    expect(others).toEqual([autostart, autostart, 90]);
  });

  it('never inserts jobs of the executor that no pool can run', () => {
    const [other, tagged] = [{ organization: 'data' }, { tags: { gpu: 'h100' } }];
    const jobs = [...EXECUTOR_KINDS].flatMap((kind) => [
      aTraceJob({ kind, ...other }),
      aTraceJob({ kind, ...tagged }),
    ]);
    expect(insertedAt(replay(jobs))).toEqual(jobs.map(() => undefined));
  });

  it('shows the builds that ended before, with their reasons, but of no workspace that was deleted', () => {
    const { world, replayed } = replayIn(
      [],
      undefined,
      [
        { workspace: 'ada', at: atSecond(-7200), seconds: 90 },
        { workspace: 'ada', at: atSecond(-5400), kind: 'autostop' as const },
        { workspace: 'ada', at: atSecond(-3600), kind: 'autostart' as const },
        { workspace: 'bob', at: atSecond(-3600) },
        { workspace: 'bob', at: atSecond(-3000), transition: 'delete' as const },
        { workspace: 'carl', at: atSecond(-3600), kind: 'prebuild' as const },
        { workspace: 'dora', at: atSecond(-1000), seconds: 7200 },
        { at: atSecond(-3600) },
      ].map((job) => aTraceJob(job)),
    );
    expect(replayed).toEqual([]);
    const builds = world.coderd.workspaces
      .all()
      .flatMap(({ id }) => world.coderd.buildsOf(id))
      .map(({ reason, transition, job: { createdAt, completedAt = createdAt, status } }) => {
        const seconds = (completedAt - createdAt) / 1000;
        return `${(createdAt - NINE) / 1000} ${reason} ${transition} ${status} in ${seconds} s`;
      });
    const usual = aTraceJob({}).seconds;
    expect(builds).toEqual([
      '-7200 initiator start succeeded in 90 s',
      `-5400 autostop stop succeeded in ${usual} s`,
      `-3600 autostart start succeeded in ${usual} s`,
    ]);
  });

  it('inserts each job once, with its tags, type and duration', () => {
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

describe('a workspace that the trace names', () => {
  const job = (second: number, kind: TraceJob['kind'], workspace: string | undefined, seconds = 60) =>
    aTraceJob({ at: atSecond(second), kind, seconds, workspace });
  /** Reason, second at which it was created, and state of the latest build of each workspace. */
  const listed = (jobs: readonly TraceJob[]) =>
    replayIn(jobs)
      .world.coderd.workspaces.all()
      .map(({ latestBuild: { reason, createdAt, job } }) => [reason, (createdAt - NINE) / 1000, job.status]);

  it('stays in the list with its latest build', () => {
    expect(listed([job(0, 'user', 'a'), job(90.5, 'user', 'b'), job(300, 'user', 'a')])).toEqual([
      ['initiator', 300, 'succeeded'],
      ['initiator', 90.5, 'succeeded'],
    ]);
  });

  it("shows the builds of coderd's executor", () => {
    expect(listed([job(0, 'user', 'a'), job(600, 'autostop', 'a'), job(900, 'autostart', 'b')])).toEqual([
      ['autostop', 600, 'succeeded'],
      ['autostart', 900, 'succeeded'],
    ]);
  });

  it('leaves the list when it is deleted, and its name can be used again', () => {
    const deleted = { ...job(300, 'user', 'a'), transition: 'delete' as const };
    expect(listed([job(0, 'user', 'a'), deleted])).toEqual([]);
    expect(listed([job(0, 'user', 'a'), deleted, job(300.5, 'user', 'a')])).toEqual([
      ['initiator', 300.5, 'succeeded'],
    ]);
    expect(listed([deleted, job(900, 'autostop', 'a'), job(1800, 'user', 'a')])).toHaveLength(1);
  });

  it('has one job for each job of the trace, although they overlap', () => {
    const replayed = replay([job(0, 'user', 'a', 600), job(60, 'user', 'a', 60)]);
    expect(new Set(replayed.map(({ record }) => record?.id)).size).toBe(2);
    expect(replayed.map(({ record }) => record?.status)).toEqual(['succeeded', 'succeeded']);
    expect(listed([job(0, 'user', 'a', 600), job(60, 'user', 'a', 60)])).toEqual([
      ['initiator', 60, 'succeeded'],
    ]);
  });

  it('does not stay in the list after a job without a workspace name', () => {
    expect(listed([job(0, 'user', undefined), job(600, 'autostop', undefined)])).toEqual([]);
  });

  it('is a different one in each organization', () => {
    const [first, second] = [job(0, 'user', 'a'), { ...job(30, 'user', 'a'), organization: 'data' }];
    expect(listed([first, second])).toHaveLength(2);
  });

  it("shows its latest build until the executor's next one, and invents no build of a person", () => {
    const jobs = [job(0, 'user', 'a'), job(7200, 'autostop', 'a'), job(7200, 'autostop', 'b')];
    const world = new World({
      ...{ start: plusMs(NINE, -15 * MINUTE_MS), seed: 3, organizations: ['default'] },
      pools: [{ name: 'plain', organization: 'default', tags: {}, image: 'bare', desiredCount: 1 }],
    });
    const replayed = new Replay(world, jobs);
    world.timeline.advanceTo(atSecond(3600));
    const [record] = replayed.jobs().map((each) => each.record);
    const byPeople = world.coderd.workspaces
      .all()
      .filter(({ latestBuild }) => latestBuild.reason === 'initiator')
      .map(({ latestBuild }) => latestBuild.job.id);
    expect(new Set(byPeople)).toEqual(new Set([record?.id]));
  });
});

const dueAt = ({ at, kind }: TraceJob): number =>
  EXECUTOR_KINDS.has(kind) ? Math.ceil(at / MINUTE_MS) * MINUTE_MS : at;

/** Eighty jobs of all kinds in two hours, of 0 s to half an hour. */
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
