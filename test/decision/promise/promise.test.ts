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

/** p50 and p95 in seconds from now, or the reason. */
const startOf = ({ startsAt, why }: PendingJob): readonly number[] | string | null =>
  startsAt === null ? why : [startsAt.p50, startsAt.p95].map((at) => (Date.parse(at) - NOW) / 1000);

const NO_RULE = { free: 0, spareMs: 0, afterBuildMs: null, countsBusy: false };
const NOTHING_LEARNED = { builds: 0, hours: 0, tasks: 0, waiting: 0, others: [] };

const STARTS = withStarts(44, 48, 50, 52, 56);
const BUILDS = withBuilds(50, 55, 60, 65, 70, 75);
/** The running builds began so many seconds ago. */
const since =
  (seconds: number): Change =>
  (snapshot) => {
    for (const job of organizationIn(snapshot).jobs.items)
      if (job.status === 'running') Object.assign(job, { started_at: iso(seconds) });
  };
/** The starting tasks were created so many seconds ago. */
const aged =
  (seconds: number): Change =>
  ({ ecs }) => {
    for (const task of ecs.tasks.items)
      if (task.lastStatus === 'PENDING') Object.assign(task, { createdAt: iso(seconds) });
  };
/** coderd has not seen the daemons for so long. */
const unseenFor =
  (seconds: number): Change =>
  (snapshot) => {
    for (const daemon of organizationIn(snapshot).daemons.items)
      Object.assign(daemon, { last_seen_at: iso(seconds) });
  };
/** The last start of the pool that an earlier process has seen. */
const lastStart =
  (seconds: number): Change =>
  (snapshot) => {
    const choiceOf = (organizationId: string, pool: string, startMs: number) => {
      return { organizationId, pools: [pool], rule: NO_RULE, startMs, ...NOTHING_LEARNED };
    };
    const others = [choiceOf('org-default', 'gpu', 1), choiceOf('org-b', 'cpu', 1)];
    const stock = { tagSets: [], choices: [...others, choiceOf('org-default', 'cpu', seconds * 1000)] };
    Object.assign(snapshot, { stock });
  };
const unlicensed: Change = ({ coder }) => {
  Object.assign(coder, { license: 'not_entitled' });
};

describe('why no start is promised', () => {
  it.each(table<{ scenario: string; world: string; change?: Change; why: string }>`
    world                   | change                                                   | why                | scenario
    cpu; job [os=bsd]       |                                                          | unschedulable      | no pool has the tags of the job
    cpu; job [os=bsd]       | ${unlicensed}                                            | unschedulable      | no pool has the tags, with or without a license
    cpu; job [os=bsd]       | ${listIs('jobs', { status: 'truncated' })}               | readings-in-doubt  | no pool has the tags, and the list of jobs is truncated
    cpu; job [os=bsd]       | ${listIs('daemons', { status: 'truncated' })}            | readings-in-doubt  | no pool has the tags, and the list of daemons is truncated
    cpu I1m, max 1; job     | ${unseenFor(100)}                                        | no-room            | the only daemon is offline
    cpu, retiring; job      |                                                          | unschedulable      | the only pool with these tags is retiring
    cpu, paused; job        | ${STARTS}                                                | pool-held          | the pool is paused and has no daemon
    cpu B, max 1; job       | ${STARTS}                                                | build-length-unknown | no similar build is known of the one that runs
    cpu B, max 1; job       | ${all(STARTS, BUILDS, since(76))}                        | build-length-unknown | the build that runs takes longer than all that have ended
    cpu; gpu B [gpu]; job; maxTasks 1 | ${STARTS}                                      | no-room            | another pool has all the tasks that the limits allow
    cpu I1m; job            | ${listIs('jobs', { status: 'truncated' })}               | readings-in-doubt  | the list of jobs is truncated
    cpu B; job              | ${listIs('tasks', { status: 'failed', error: 'no answer' })} | readings-in-doubt  | the tasks of ECS are unknown
    cpu; job                | ${all(STARTS, failing('cpu', 3))}                        | starts-failing     | three starts have failed
    cpu P; job              | ${all(STARTS, aged(20), failing('cpu', 2))}                        | starts-failing     | the last two starts have failed
    cpu, desired 1; job     | ${all(STARTS, failing('cpu', 1))}                        | starts-failing     | ECS waits before it tries again
    cpu; job                | ${unlicensed}                                            | license-missing    | coderd accepts no daemon
    cpu B, max 1; b I1m, organization b; job | ${STARTS}                               | build-length-unknown | the daemon that is free is of another organization
    cpu P; job              | ${all(STARTS, aged(100))}                                 | starts-failing     | the task that starts is silent past its start
    cpu I1m, max 1; job 30s | ${STARTS}                                                | daemon-may-have-left | the idle daemon has left the job waiting for half a minute
    cpu B, max 1; job 1700s | ${all(STARTS, withBuilds(3000, 3100, 3200, 3300, 3400))} | fails-first        | coderd fails the job before the build in front of it can end
  `)('is $why if $scenario', ({ world, change, why }) => {
    const { pendingJobs } = promised(pictureOf(`${world}; no workspaces`), change);
    expect(pendingJobs.map(startOf)).toEqual([why]);
  });
});

describe('a promised start', () => {
  it.each(table<{ world: string; change?: Change; p50: number; p95: number; because: string }>`
    world                  | change                             | p50     | p95     | because
    cpu; job               | ${STARTS}                          | ${50}   | ${100}  | a new task starts as those before did
    cpu; job               | ${lastStart(28)}                   | ${28}   | ${56}   | it starts as the last start that a process has seen
    cpu; job               |                                    | ${54}   | ${108}  | nothing is known but the setting startTime, 90 s
    cpu P; job             | ${all(STARTS, aged(20))}           | ${30}   | ${80}   | the task started 20 s ago
    cpu P; job             | ${all(STARTS, aged(51))}           | ${5}    | ${49}   | it has started for longer than most, as some did
    cpu I1m; job 1s        |                                    | ${0}    | ${0}    | a daemon is free
    cpu B, max 1; job      | ${all(STARTS, BUILDS, since(40))}  | ${20}   | ${35}   | the build ends as similar ones did
    cpu L, max 1; job      | ${all(STARTS, BUILDS)}             | ${50}   | ${100}  | a daemon that drains takes no job
    cpu P; job             | ${all(STARTS, aged(20), failing('cpu', 1))} | ${30} | ${80} | one start may fail by chance
    cpu B, max 1; job      | ${all(failing('cpu', 3), BUILDS, since(40))} | ${20} | ${35} | the running build ends, although starts fail
    cpu; job               | ${withStarts(50, 52, 54, 56, 150)} | ${54}   | ${150}  | one of six starts took long
    cpu U1m, max 1; job    | ${STARTS}                          | ${50}   | ${100}  | an idle daemon without a lease has just left
    cpu I1m, pause-until never; job 1s |                        | ${0}    | ${0}    | an override that nobody can read is no doubt about the daemon
    cpu Z, max 1; job      | ${STARTS}                          | ${50}   | ${100}  | a task without a daemon takes no job
    cpu B, max 1; 2 busy strangers [gpu]; job | ${all(STARTS, BUILDS, since(40))} | ${20} | ${35} | daemons of others without the tags count for nothing
    cpu B B, max 2; job    | ${all(STARTS, BUILDS, since(60))}  | ${10}   | ${15}   | it has run for 60 s, so it is none of the short ones
  `)('of $world is in about $p50 s, in most cases within $p95 s: $because', ({ world, change, p50, p95 }) => {
    const { pendingJobs } = promised(pictureOf(`${world}; no workspaces`), change);
    expect(pendingJobs.map(startOf)).toEqual([[p50, p95]]);
    expect(pendingJobs[0]).toMatchObject({ pool: 'cpu', runningBuilds: world.split('B').length - 1 });
  });

  it.each(table<{ world: string; change?: Change; start: unknown; because: string }>`
    world                              | change                    | start          | because
    cpu, paused; stranger; job 1s      |                           | ${[0, 0]}      | it is free
    cpu, paused; busy stranger; job 1s | ${all(BUILDS, since(40))} | ${'build-length-unknown'} | nothing tells when its build began
    cpu, retiring; stranger; job 1s    |                           | ${[0, 0]}      | it is free, and the pool is retiring
    cpu, paused; stranger; job 1s      | ${unseenFor(61)}          | ${'daemon-may-have-left'} | it has missed its heartbeat
  `)('beside a daemon of others is $start in $world: $because', ({ world, change, start }) => {
    const { pendingJobs } = promised(pictureOf(`${world}; no workspaces`), change);
    expect(pendingJobs.map(startOf)).toEqual([start]);
    expect(pendingJobs[0]?.pool).toBeNull();
  });

  it.each(table<{ world: string; start: unknown; isPolled?: boolean; because: string }>`
    world                          | start                   | isPolled | because
    cpu I1m; gpu I1m [gpu]; job 1s   | ${[15, 29]}             | ${true}  | the poll comes within 29 s
    cpu I1m; gpu B [gpu]; job 20s    | ${[5, 10]}              | ${true}  | the other daemon may have been idle at its posting
    cpu I1m; gpu I1m [gpu]; job 50s  | ${'daemon-may-have-left'} | ${undefined} | more than a poll has passed
    cpu I1m; gpu [gpu]; job 1s       | ${[0, 0]}               | ${undefined} | no other daemon could be woken
    cpu I1m; job 15s                 | ${[0, 0]}               | ${undefined} | coderd hands jobs over within 15 s
    cpu I1m; gpu I1m [gpu]; job 1s [gpu] | ${[0, 0]}           | ${undefined} | the untagged daemon is not woken for a tag that it lacks
  `)('of a job beside an idle daemon is $start in $world: $because', ({ world, start, isPolled }) => {
    const [job] = promised(pictureOf(`${world}; no workspaces`)).pendingJobs;
    expect(job && startOf(job)).toEqual(start);
    expect(job?.isPolled).toBe(isPolled);
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
    else expect((found as number[])[0]).toBeLessThan(30);
  });

  it('is later for each job of the queue, and prebuilds come last', () => {
    const picture: Picture = {
      pools: { cpu: { tasks: 'B', max: 1 } },
      pending: [
        { jobs: 1, ageS: 60, prebuilds: true },
        { jobs: 2, ageS: 30 },
      ],
    };
    const { pendingJobs } = promised(picture, all(STARTS, BUILDS, since(0)));
    expect(pendingJobs.map(startOf)).toEqual([
      [60, 75],
      [120, 141],
      [180, 206],
    ]);
    expect(pendingJobs.map(({ createdAt }) => createdAt)).toEqual([iso(30), iso(29), iso(60)]);
  });

  it('counts on a silent task for one job, not on a build in its place', () => {
    const picture: Picture = {
      pools: { cpu: { tasks: 'P B', max: 2 } },
      pending: [{ jobs: 3, ageS: 5 }],
    };
    const { pendingJobs } = promised(picture, all(STARTS, aged(100), BUILDS, since(0)));
    expect(pendingJobs.map(startOf)).toEqual(['starts-failing', [60, 75], 'starts-failing']);
  });

  it('counts the running builds that it depends on, also behind other jobs', () => {
    const picture = pictureOf('cpu B B I1m, max 3; 5 jobs 5s; no workspaces');
    const { pendingJobs } = promised(picture, all(BUILDS, since(0)));
    expect(pendingJobs.map(({ runningBuilds }) => runningBuilds)).toEqual([0, 2, 2, 0, 2]);
  });

  it('waits for the poll of an idle daemon once, and then for its build', () => {
    const picture = pictureOf('cpu I1m, max 1; gpu I1m [gpu]; 2 jobs 1s; no workspaces');
    const { pendingJobs } = promised(picture, all(BUILDS, since(0)));
    expect(pendingJobs.map(startOf)).toEqual([
      [15, 29],
      [75, 95],
    ]);
    expect(pendingJobs.map(({ isPolled = false }) => isPolled)).toEqual([true, false]);
  });

  it('names the workspace of a job, if coderd lists it with its owner', () => {
    const { snapshot, config } = draw(pictureOf('cpu; 4 jobs; 3 starts in 3000s'));
    const { jobs, workspaces } = organizationIn(snapshot);
    for (const [index, job] of jobs.items.slice(0, 3).entries())
      Object.assign(job, { metadata: { workspace_id: workspaces?.items[index]?.id } });
    const named = [{ owner_name: 'alice' }, { owner_name: null }, { name: null }];
    for (const [index, names] of named.entries())
      Object.assign(workspaces?.items[index] ?? {}, { name: 'dev', owner_name: 'bob', ...names });
    const { pendingJobs } = planSnapshot(snapshot, config);
    expect(pendingJobs.map(({ workspace }) => workspace)).toEqual(['alice/dev', null, null, null]);
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
