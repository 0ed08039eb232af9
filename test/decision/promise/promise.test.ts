/** The promised starts of a plan: a time for each pending job, or a reason. */
import { describe, expect, it } from 'vitest';
import type { PendingJob, PromisedPlan } from '../../../lambda/decision/model/promise.ts';
import { NOW } from '../../support/parts.ts';
import { draw, idOf, type Picture, taskArn } from '../../support/picture.ts';
import { planSnapshot } from '../../support/plan-snapshot.ts';
import { all, type Change, failing, iso, listIs, organizationIn, withBuilds } from '../../support/planned.ts';
import { table } from '../../support/table.ts';
import { pictureOf } from '../../support/world-in-words.ts';

/** Tasks that started in these seconds, ten of them until RUNNING, and have stopped since. */
const withStarts =
  (...seconds: readonly number[]): Change =>
  (snapshot) => {
    for (const [index, took] of seconds.entries()) {
      const arn = taskArn('cpu', 200 + index);
      snapshot.ecs.tasks.items.push({
        ...{ taskArn: arn, group: 'service:Stack-cpu', lastStatus: 'STOPPED', desiredStatus: 'STOPPED' },
        ...{ createdAt: iso(1800), startedAt: iso(1800 - took + 8), stoppedAt: iso(600), containers: [] },
        stopCode: 'ServiceSchedulerInitiated',
      });
      organizationIn(snapshot).daemons.items.push({
        ...{
          id: `earlier-${index}`,
          organization_id: 'org-default',
          name: `cpu-${idOf('cpu', 200 + index)}`,
        },
        ...{ created_at: iso(1800 - took), last_seen_at: iso(600), status: 'offline', tags: {} },
      });
    }
  };

const promised = (picture: Picture, change: Change = () => {}): PromisedPlan => {
  const { snapshot, config } = draw(picture);
  change(snapshot, config);
  return planSnapshot(snapshot, config);
};

/** The interval in seconds from now, or the reason. */
const startOf = ({ startsAt, why }: PendingJob): readonly number[] | string | null =>
  startsAt === null
    ? why
    : [startsAt.p5, startsAt.p50, startsAt.p95].map((at) => (Date.parse(at) - NOW) / 1000);

const NO_RULE = { free: 0, spareMs: 0, afterBuildMs: null, countsBusy: false };
const NOTHING_LEARNED = { builds: 0, hours: 0, tasks: 0, waiting: 0, others: [] };
const within =
  ([from = 0, to = 0]: readonly number[]) =>
  (value: number): boolean =>
    value >= from && value <= to;

const STARTS = withStarts(44, 48, 50, 52, 56);
const BUILDS = withBuilds(50, 55, 60, 65, 70, 75);

describe('why no start is promised', () => {
  it.each(table<{ scenario: string; world: string; change?: Change; why: string }>`
    world                   | change                                                   | why                | scenario
    cpu; job [os=bsd]       |                                                          | unschedulable      | no pool has the tags of the job
    cpu, retiring; job      |                                                          | unschedulable      | the only pool with these tags is retiring
    cpu, paused; job        | ${STARTS}                                                | pool-held          | the pool is paused and has no daemon
    cpu B, max 1; job       | ${STARTS}                                                | build-length-unknown | no similar build is known of the one that runs
    cpu; gpu B [gpu]; job; maxTasks 1 | ${STARTS}                                                | no-room            | another pool has all the tasks that the limits allow
    cpu I1m; job            | ${listIs('jobs', { status: 'truncated' })}               | readings-in-doubt  | the list of jobs is truncated
    cpu B; job              | ${listIs('tasks', { status: 'failed', error: 'no answer' })} | readings-in-doubt  | the tasks of ECS are unknown
    cpu; job                | ${all(STARTS, failing('cpu', 3))}                        | starts-failing     | three starts have failed
    cpu B, max 1; job 1700s | ${all(STARTS, withBuilds(3000, 3100, 3200, 3300, 3400))} | fails-first        | coderd fails the job before the build in front of it can end
  `)('is $why if $scenario', ({ world, change, why }) => {
    const { pendingJobs } = promised(pictureOf(world), change);
    expect(pendingJobs.map(startOf)).toEqual([why]);
    expect(pendingJobs[0]?.startsAt).toBeNull();
  });
});

describe('a promised start that waits for room', () => {
  it.each(table<{ world: string; p50: readonly number[]; because: string }>`
    world                          | p50           | because
    gpu [gpu]; cpu I20m            | ${[135, 185]} | the idle daemon is asked now, and coderd lists it for 90 s more
    gpu [gpu]; cpu L               | ${[190, 270]} | the daemon leaves after its build
    gpu [gpu]; cpu X               | ${[65, 110]}  | only the count is still to be lowered
    gpu [gpu]; cpu B               | ${[200, 300]} | its build ends first
    cpu B; gpu [gpu], organization b | ${[200, 300]} | all organizations share the limit
  `)('comes within $p50 s for $world: $because', ({ world, p50 }) => {
    const organization = world.includes('organization b') ? ' of b' : '';
    const picture = pictureOf(`${world}; job${organization} [gpu]; maxTasks 1; no workspaces`);
    const { pendingJobs } = promised(picture, BUILDS);
    expect((pendingJobs.map(startOf)[0] as number[])[1]).toSatisfy(within(p50));
    expect(pendingJobs[0]?.pool).toBe('gpu');
  });

  it('is unknown if min keeps the daemon', () => {
    const picture = pictureOf('gpu [gpu]; cpu I20m, min 1; job [gpu]; maxTasks 1; no workspaces');
    expect(promised(picture, BUILDS).pendingJobs.map(startOf)).toEqual(['no-room']);
  });
});

describe('a promised start', () => {
  it('of a job for a new task is the start time of the pool', () => {
    const { pendingJobs } = promised({ pools: { cpu: {} }, pending: [{}] }, STARTS);
    const [p5 = 0, p50 = 0, p95 = 0] = pendingJobs.map(startOf)[0] as number[];
    expect(p5).toBeGreaterThan(30);
    expect(p50).toBeGreaterThan(47);
    expect(p50).toBeLessThan(57);
    expect(p95).toBeLessThan(80);
    expect(pendingJobs[0]?.pool).toBe('cpu');
  });

  it.each([
    { from: 'the setting startTime', lastMs: undefined, p50: [40, 70], p95: [90, 180] },
    { from: 'the last start that a process has seen', lastMs: 28_000, p50: [16, 28], p95: [30, 60] },
  ])('of a pool without a start in the last hour comes from $from', ({ lastMs, p50, p95 }) => {
    const kept: Change = (snapshot) => {
      const choice = { organizationId: 'org-default', pools: ['cpu'], rule: NO_RULE, startMs: lastMs };
      Object.assign(snapshot, { stock: { tagSets: [], choices: [{ ...choice, ...NOTHING_LEARNED }] } });
    };
    const [start] = promised({ pools: { cpu: {} }, pending: [{}] }, kept).pendingJobs.map(startOf);
    const [, middle, end] = start as number[];
    expect([middle, end]).toEqual([expect.toSatisfy(within(p50)), expect.toSatisfy(within(p95))]);
  });

  it.each([
    { age: 20, start: 'within half a minute', because: 'the first daemon registers' },
    { age: 600, start: 'readings-in-doubt', because: 'a daemon should have registered long ago' },
  ])('of a first task with a lease for $age s is $start: $because', ({ age, start }) => {
    const unregistered: Change = (snapshot) => {
      organizationIn(snapshot).daemons.items.length = 0;
      for (const task of snapshot.ecs.tasks.items)
        Object.assign(task, { createdAt: iso(age + 30), startedAt: iso(age) });
    };
    const { pendingJobs } = promised({ pools: { cpu: { tasks: 'I1m' } }, pending: [{}] }, unregistered);
    const [found] = pendingJobs.map(startOf);
    if (start === 'readings-in-doubt') expect(found).toBe(start);
    else expect((found as number[])[1]).toBeLessThan(30);
  });

  it('is now if a daemon is free, even if no start of the pool was seen', () => {
    const { pendingJobs } = promised({ pools: { cpu: { tasks: 'I1m' } }, pending: [{ ageS: 1 }] });
    expect(pendingJobs.map(startOf)).toEqual([[0, 0, 0]]);
  });

  it.each(table<{ world: string; p95: number | string; isPolled?: boolean; because: string }>`
    world                          | p95                     | isPolled | because
    cpu I1m; gpu I1m [gpu]; job 1s   | ${28}                   | ${true}  | the poll comes within 29 s
    cpu I1m; gpu B [gpu]; job 20s    | ${10}                   | ${true}  | the other daemon may have been idle at its posting
    cpu I1m; gpu I1m [gpu]; job 50s  | ${'daemon-may-have-left'} | ${undefined} | more than a poll has passed
    cpu I1m; gpu [gpu]; job 1s       | ${0}                    | ${undefined} | no other daemon could be woken
    cpu I1m; gpu I1m [gpu]; job 1s [gpu] | ${0}                | ${undefined} | the untagged daemon is not woken for a tag that it lacks
  `)('of a job beside an idle daemon is by $p95 in $world: $because', ({ world, p95, isPolled }) => {
    const [job] = promised(pictureOf(`${world}; no workspaces`)).pendingJobs;
    const start = job && startOf(job);
    expect(typeof start === 'string' ? start : start?.[2]).toBe(p95);
    expect(job?.isPolled).toBe(isPolled);
  });

  it('does not count on an idle daemon that has left a job waiting for half a minute', () => {
    const picture: Picture = { pools: { cpu: { tasks: 'I1m', max: 1 } }, pending: [{ ageS: 30 }] };
    expect(promised(picture, STARTS).pendingJobs.map(startOf)).toEqual(['daemon-may-have-left']);
  });

  it('of a job behind running builds comes from the times of similar builds', () => {
    const picture: Picture = { pools: { cpu: { tasks: 'B B', max: 2 } }, pending: [{ ageS: 5 }] };
    const started: Change = (snapshot) => {
      for (const job of organizationIn(snapshot).jobs.items)
        if (job.status === 'running') Object.assign(job, { started_at: iso(40) });
    };
    const [start] = promised(picture, all(STARTS, BUILDS, started)).pendingJobs.map(startOf);
    const [p5 = 0, , p95 = 99] = start as number[];
    expect(p5).toBeGreaterThan(1);
    expect(p95).toBeLessThan(45);
  });

  it('of a job behind a build like none that is known comes from all builds, in a wide interval', () => {
    const [start] = promised(pictureOf('gpu B [gpu], max 1; job [gpu]'), BUILDS).pendingJobs.map(startOf);
    const [p5 = 0, , p95 = 0] = start as number[];
    expect(p95).toBeGreaterThan(3 * p5);
    expect([p5, p95]).toSatisfy(([from = 0, to = 0]) => from > 5 && to < 240);
  });

  it('is later for each job of the queue, and prebuilds come last', () => {
    const picture: Picture = {
      pools: { cpu: { tasks: 'B', max: 1 } },
      pending: [
        { jobs: 1, ageS: 60, prebuilds: true },
        { jobs: 2, ageS: 30 },
      ],
    };
    const { pendingJobs } = promised(picture, all(STARTS, BUILDS));
    const medians = pendingJobs.map((row) => (startOf(row) as number[])[1]);
    expect(medians).toEqual(medians.toSorted((a = 0, b = 0) => a - b));
    expect(pendingJobs.map(({ createdAt }) => createdAt)).toEqual([iso(30), iso(29), iso(60)]);
  });

  it('is the same for jobs of the same second, as coderd may take any of them first', () => {
    const picture: Picture = { pools: { cpu: { tasks: 'B', max: 1 } }, pending: [{ jobs: 4, ageS: 20 }] };
    const sameTime: Change = (snapshot) => {
      for (const job of organizationIn(snapshot).jobs.items)
        if (job.status === 'pending') Object.assign(job, { created_at: iso(20) });
    };
    const starts = promised(picture, all(STARTS, BUILDS, sameTime)).pendingJobs.map(startOf) as number[][];
    const last = starts.map(([, , p95 = 0]) => p95);
    expect(Math.max(...last) - Math.min(...last)).toBeLessThan(60);
    expect(Math.min(...last)).toBeGreaterThan(180);
  });

  it('gets later if tasks take longer to start than the starts before', () => {
    const young: Picture = { pools: { cpu: { tasks: 'P P P' } }, pending: [{ ageS: 5 }] };
    const startsAfter = (seconds: number): number => {
      const aged: Change = ({ ecs }) => {
        for (const task of ecs.tasks.items)
          if (task.lastStatus === 'PENDING') Object.assign(task, { createdAt: iso(seconds) });
      };
      const [start] = promised(young, all(STARTS, aged)).pendingJobs.map(startOf);
      return seconds + ((start as number[])[1] ?? 0);
    };
    expect(startsAfter(200)).toBeGreaterThan(startsAfter(10) + 100);
  });

  it('does not depend on the order of the lists', () => {
    const picture: Picture = {
      pools: { cpu: { tasks: 'B P N B', max: 4 } },
      pending: [{ jobs: 5, ageS: 40 }],
    };
    const change = all(STARTS, BUILDS);
    const reversed: Change = (snapshot) => {
      const organization = organizationIn(snapshot);
      for (const { items } of [organization.jobs, organization.daemons, snapshot.ecs.tasks]) items.reverse();
    };
    expect(promised(picture, all(change, reversed)).pendingJobs).toEqual(
      promised(picture, change).pendingJobs,
    );
  });

  it('is given to the first 1,000 jobs of an organization, and the others are counted', () => {
    const plan = promised(
      { pools: { cpu: {} }, pending: [{ jobs: 1_200, ageS: 1_500 }] },
      all(STARTS, BUILDS),
    );
    expect(plan.pendingJobs).toHaveLength(1_000);
    expect(plan.pendingJobsLeftOut).toBe(200);
    expect(plan.pendingJobs[0]?.createdAt).toBe(iso(1_500));
  });
});
