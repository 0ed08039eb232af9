/** The estimate of how many pending jobs coderd will fail, and of the tasks that would serve all. */
import { describe, expect, it } from 'vitest';
import type { FindingOf } from '../../../lambda/decision/model/plan.ts';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import {
  all,
  type Change,
  failing,
  iso,
  listIs,
  organizationIn,
  planOf,
  poolIs,
  versionIs,
  withBuilds,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

type FailingJobs = FindingOf<'jobs-about-to-fail'>;

const found = (world: string, change?: Change): readonly FailingJobs[] =>
  planOf(`${world}; no workspaces`, change).findings.filter(
    (finding): finding is FailingJobs => finding.code === 'jobs-about-to-fail',
  );

const FIVE = withBuilds(300, 300, 300, 300, 300);
const LIMITED = 'cpu B B, max 2; 30 jobs 30s';
const unread = (name: Parameters<typeof listIs>[0]): Change =>
  all(FIVE, listIs(name, { items: [], status: 'failed', error: 'no answer' }));
/** A daemon of others has run so many builds of one minute, one after another. No list has their ends. */
const oneAfterAnother =
  (builds: number): Change =>
  (snapshot) => {
    const organization = organizationIn(snapshot);
    const [running] = organization.jobs.items.filter(({ status }) => status === 'running');
    const { completed_at: _, ...job } = { ...running } as Record<string, unknown>;
    const earlier = Array.from({ length: builds }, (_each, index) => ({
      ...job,
      ...{ id: `earlier-${index}`, worker_id: 'somebody', started_at: iso(60 * (index + 1)) },
    }));
    Object.assign(organization, { recentJobs: { status: 'ok', items: earlier } });
  };
/** A job that ends while the list is read may be in it twice. */
const listedTwice: Change = (snapshot) => {
  const { recentJobs } = organizationIn(snapshot);
  const items = recentJobs?.items ?? [];
  Object.assign(organizationIn(snapshot), { recentJobs: { ...recentJobs, items: [...items, ...items] } });
};
/** The builds that run have done so for so long. */
const runningFor =
  (seconds: number): Change =>
  (snapshot) => {
    for (const job of organizationIn(snapshot).jobs.items)
      if (job.status === 'running') Object.assign(job, { started_at: iso(seconds) });
  };

describe('the jobs that coderd will fail', () => {
  it.each(table<{ world: string; change: Change; jobs: readonly number[]; because: string }>`
    world                           | change                      | jobs     | because
    cpu B B, max 2; 12 jobs 30s     | ${FIVE}                     | ${[]}    | two daemons start six builds each in half an hour
    ${LIMITED}                      | ${FIVE}                     | ${[18]}  | the others wait for longer
    cpu B B, max 2; 60 jobs 30s     | ${FIVE}                     | ${[46]}  | while coderd fails ten a minute, another two start
    cpu P P, max 2; 30 jobs 30s     | ${FIVE}                     | ${[16]}  | tasks that start serve too
    cpu, max 2; 30 jobs 30s         | ${FIVE}                     | ${[16]}  | so do those that this look launches
    cpu, max 40; 30 jobs 30s        | ${FIVE}                     | ${[]}    | each job has a task of its own
    cpu B B, max 2; 30 jobs 1500s   | ${FIVE}                     | ${[28]}  | only one round of builds ends in time
    busy stranger; cpu, pin 0; 9 jobs 30s | ${FIVE}               | ${[3]}   | a daemon of others serves too
    cpu B B [gpu], max 2; eu B B [gpu eu], max 2; 30 jobs 30s [gpu] | ${FIVE} | ${[]} | two pools serve them, whose builds are of unknown length
    cpu B B, max 2; 20 jobs 30s; 30 prebuilds 30s | ${FIVE}       | ${[8, 30]} | people come first
    ${LIMITED}                      | ${withBuilds(100, 200, 300, 400, 500)} | ${[17]} | builds are as long on average
    ${LIMITED}                      | ${all(FIVE, versionIs('v2.22.0'))} | ${[]} | this coderd lets jobs wait
    ${LIMITED}                      | ${all(FIVE, versionIs('v2.23.0'))} | ${[18]} | this one does not
    ${LIMITED}                      | ${unread('services')}       | ${[]}    | the pool seems to have no service
    ${LIMITED}                      | ${unread('tasks')}          | ${[]}    | it seems to have no task
    ${LIMITED}                      | ${unread('protections')}    | ${[]}    | it seems to have no task with a lease
    ${LIMITED}                      | ${unread('daemons')}        | ${[]}    | it seems to have no daemon
    cpu, retiring; 30 jobs 30s      | ${FIVE}                     | ${[]}    | they are unschedulable, which the plan says
  `)('are $jobs of $world: $because', ({ world, change, jobs }) => {
    expect(found(world, change).map((finding) => finding.jobs)).toEqual(jobs);
  });

  it('fail from the time on at which the oldest has waited for half an hour', () => {
    expect(found('cpu B B, max 2; 30 jobs 600s', FIVE)).toMatchObject([
      { of: 30, failsAt: '2026-11-20T09:20:00.000Z', assumedMs: null },
    ]);
  });
});

it('are not told by the stack that leaves them to a peer, which has daemons of its own', () => {
  const told = ['eu', 'us'].map((self) => {
    const peers = { self, others: ['eu', 'us'].filter((name) => name !== self) };
    return found(LIMITED, all(FIVE, poolIs({ peers }))).length;
  });
  expect(told.toSorted()).toEqual([0, 1]);
});

describe('builds of unknown length', () => {
  it.each(table<{ change: Change; assumedMs: number; because: string }>`
    change                                        | assumedMs   | because
    ${() => {}}                                   | ${120_000}  | nothing is known
    ${runningFor(400)}                            | ${400_000}  | those that run have taken so long already
    ${all(runningFor(400), oneAfterAnother(6))}   | ${60_000}   | a daemon took one after another, so each ended within a minute
    ${all(runningFor(400), oneAfterAnother(5))}   | ${400_000}  | four ends are too few
    ${all(runningFor(400), oneAfterAnother(5), listedTwice)} | ${400_000} | a job that is listed twice has one end
    ${all(runningFor(400), oneAfterAnother(6), listedTwice)} | ${60_000} | nor does it end when it starts
  `)('take $assumedMs ms: $because', ({ change, assumedMs }) => {
    expect(found('cpu B B, max 2; 300 jobs 30s', change)).toMatchObject([{ assumedMs }]);
  });
});

describe('what would serve all', () => {
  const [MAX, TASKS, DOLLARS] = [
    'capped-at-max',
    'capped-at-max-tasks',
    'capped-at-dollars-per-hour',
  ] as const;
  const cheap: Change = all(FIVE, (_snapshot, config) => {
    Object.assign(config, { limits: { dollarsPerHour: 0.12 } });
  });
  it.each(table<{
    world: string;
    change: Change;
    limits: readonly string[];
    tasks: number | null;
    because: string;
  }>`
    world                                | change                           | limits              | tasks   | because
    ${LIMITED}                           | ${FIVE}                          | ${[MAX]}            | ${6}    | four more start 20 builds by minute 25, and the two start ten
    cpu B B, max 2; 30 jobs 600s         | ${FIVE}                          | ${[MAX]}            | ${10}   | less time is left
    cpu B B, max 2; 30 jobs 1440s        | ${FIVE}                          | ${[MAX]}            | ${null} | a new task would start less than 5 min before coderd fails them
    cpu B B, max 40; 30 jobs 30s; maxTasks 2 | ${FIVE}                          | ${[TASKS]}          | ${6}    | a larger max alone would change nothing
    cpu B B, max 2; 30 jobs 30s; maxTasks 4 | ${FIVE}                       | ${[MAX, TASKS]}     | ${6}    | it would reach maxTasks
    cpu B B, max 4; 30 jobs 30s; maxTasks 2 | ${FIVE}                       | ${[MAX, TASKS]}     | ${6}    | a larger maxTasks would reach max
    ${LIMITED}                           | ${cheap}                         | ${[MAX, DOLLARS]}   | ${6}    | it would reach the budget
    cpu B B U1m, max 2; 30 jobs 30s | ${FIVE} | ${[MAX]} | ${6} | a task that has just left does not count
    cpu B B, pin 2; 30 jobs 30s          | ${FIVE}                          | ${['pinned']}       | ${null} | no number helps before the pin ends
    cpu B B, paused; 30 jobs 30s         | ${FIVE}                          | ${['paused']}       | ${null} | nor before the pause ends
    cpu, max 2; 30 jobs 30s              | ${all(FIVE, failing('cpu', 3))}  | ${[MAX, 'starts-failing']} | ${null} | nor before tasks start
    cpu I2m I2m, max 2, daemons [gpu]; 30 jobs 30s | ${FIVE}                | ${[]}               | ${null} | more daemons with a wrong key would take none
    cpu B I2m, max 2, daemons [gpu]; 30 jobs 30s | ${FIVE}                  | ${[]}               | ${null} | nor if one of them builds for others
    cpu B B, max 2; 12 jobs 30s; 30 prebuilds 30s | ${FIVE}                 | ${[MAX]}            | ${9}    | the jobs of people come first
    cpu B B [gpu], max 2; eu B B [gpu eu], max 2; 60 jobs 60s [gpu]; 20 jobs 600s [eu] | ${FIVE} | ${[MAX]} | ${4} | older jobs, which only the other pool can run, take its daemons
  `)('is $tasks tasks of $world, limited by $limits: $because', ({ world, change, limits, tasks }) => {
    expect(found(world, change)).toMatchObject([{ pool: 'cpu', limits, tasks }]);
  });
});

describe('a person reads', () => {
  const textOf = (world: string, change: Change) => findingLines(found(world, change)).join('\n');
  const START = 'organization "default", tags (untagged): coderd will fail ';

  it('how many jobs fail, from when on, and the max that would serve all', () => {
    expect(textOf(LIMITED, FIVE)).toBe(
      `${START}about 18 of 30 pending jobs from 20 November 2026 09:29:30 UTC on. Cancel the jobs of somebody that nobody needs, before you raise a limit. \`max: 6\` of pool "cpu" would serve all, if deployed within 5 min. coderd gives pending jobs 30 min`,
    );
  });

  it('no advice about max where something else holds the pool back', () => {
    expect(textOf('cpu; 5 jobs 30s', all(FIVE, failing('cpu', 3)))).toBe(
      `${START}5 pending jobs from 20 November 2026 09:29:30 UTC on, if pool "cpu" stays limited by failing starts. coderd gives pending jobs 30 min`,
    );
    expect(textOf('cpu B B, max 40; 30 jobs 30s; maxTasks 2', FIVE)).toMatch(
      /Pool "cpu" needs 6 tasks to serve all, limited by limits\.maxTasks\. /,
    );
    expect(textOf('cpu B B, max 2; 30 jobs 1440s', FIVE)).toMatch(
      /More tasks of pool "cpu" would probably come too late to serve all\. /,
    );
  });

  it('which length of builds is assumed', () => {
    expect(textOf('cpu B B, max 2; 300 jobs 30s', runningFor(400))).toMatch(
      / on, assuming builds of 7 min\. .*\. Too few of these builds have ended to tell how long they take$/,
    );
  });
});
