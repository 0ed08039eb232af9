/** The reasons of a pool: exactly these codes, and the actions that go with them. */
import { describe, expect, it } from 'vitest';
import { deliberate } from '../../../lambda/decision/decide.ts';
import { aConfig, anOrganization, aPool, aSnapshot, MINUTE, NOW } from '../../support/parts.ts';
import { taskArn } from '../../support/picture.ts';
import {
  actionsOf,
  all,
  type Change,
  codesInWords,
  edit,
  failing,
  inWords,
  iso,
  listIs,
  organizationIn,
  planOf,
  poolOf,
  taskIs,
  versionIs,
  withBuilds,
  withoutOrganizations,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';
import { NOTE } from '../../support/world-in-words.ts';

const inDoubt: Change = listIs('jobs', { status: 'truncated' });

/** The services could not be read, one row for what it lacks: that of a pool, or of nobody knows whom. */
const leftOutOf = (of: string | undefined): Change =>
  listIs('services', {
    ...{ items: [], status: 'truncated', error: 'a row cannot be read' },
    leftOut: [{ row: 'arn', why: 'no tags', ...(of !== undefined && { of }) }],
  });

/** Tasks whose guard or daemon ended with this code, so many minutes ago. */
const exited =
  (exitCode: number, ...minutes: readonly number[]): Change =>
  ({ ecs }) => {
    for (const ago of minutes)
      ecs.tasks.items.push({
        ...{ taskArn: taskArn('cpu', 100 + ago), group: 'service:Stack-cpu', taskDefinitionArn: 'cpu:1' },
        ...{ lastStatus: 'STOPPED', desiredStatus: 'STOPPED', stopCode: 'EssentialContainerExited' },
        ...{ createdAt: iso(60 * ago + 90), startedAt: iso(60 * ago + 60), stoppedAt: iso(60 * ago) },
        containers: [{ name: 'provisioner', exitCode }],
      });
  };

/** The first task was created 11 minutes ago and does not run. */
const notBegun = taskIs(0, { createdAt: new Date(NOW - 11 * MINUTE).toISOString() });
const threeFailed = failing('cpu', 3);

type Row = {
  readonly world: string;
  readonly change?: Change;
  readonly why: string;
  readonly actions: string;
};

const jobs = table<Row>`
  world                     | change                  | why                                               | actions
  cpu B; job                | ${all(withBuilds(60, 60, 60, 60, 60), inDoubt)} | served-by-busy jobs 1, holding-for-doubt doubts jobs-truncated | nothing
  cpu B; job                | ${inDoubt}              | pending-jobs jobs 1, holding-for-doubt doubts jobs-truncated | cpu 1->2 pending-jobs
  cpu I9m; job              | ${inDoubt}              | served-by-free jobs 1, holding-for-doubt doubts jobs-truncated | nothing
  cpu B, max 1; job         | ${inDoubt}              | pending-jobs jobs 1, capped-at-max wanted 2 max 1, holding-for-doubt doubts jobs-truncated | nothing
  cpu; gpu [gpu]            | ${leftOutOf('gpu')}     | no-service | nothing
  cpu; gpu [gpu]            | ${leftOutOf(undefined)} | holding-for-doubt doubts services-truncated | nothing
  cpu I1m P; 4 jobs         |                         | pending-jobs jobs 2, served-by-free jobs 1, served-by-starting jobs 1 | cpu 2->4 pending-jobs
  cpu, max 3; 3 jobs        |                         | pending-jobs jobs 3                               | cpu 0->3 pending-jobs
  cpu, min 2, max 3; 4 jobs |                         | pending-jobs jobs 4, capped-at-max wanted 4 max 3 | cpu 0->3 pending-jobs
  cpu I1m [gpu], max 1, ageMinutes 14, daemons [tpu]; job [gpu] |                         | pending-jobs jobs 1, capped-at-max wanted 2 max 1 | nothing
  cpu B B, max 1            |                         | capped-at-max wanted 2 max 1                      | nothing
  cpu I1m I1m, max 1        |                         | idle-too-briefly tasks 2                          | nothing
  cpu B; maxTasks 1         |                         | nothing-to-do                                     | nothing
  cpu, warm 2               | ${withoutOrganizations} | floor count 2 from warm, holding-for-doubt doubts organization-unknown | nothing
  cpu B [gpu], max 2, ageMinutes 14, daemons [tpu]; 2 jobs [tpu] |                         | served-by-busy jobs 2                             | nothing
  cpu; 2 jobs               | ${listIs('services', { items: [], status: 'failed', error: 'no answer' })} | pending-jobs jobs 2, holding-for-doubt doubts services-failed | nothing
  cpu; 2 jobs               | ${listIs('services', { items: [] })} | pending-jobs jobs 2, no-service                   | nothing
  cpu I20m X; 3 jobs        | ${versionIs('v2.18.5')} | server-too-old version v2.18.5 oldest 2.20        | nothing
`;

const idle = table<Row>`
  world                       | change     | why                                                               | actions
  cpu I20m I9m I30m           |            | idle-long-enough tasks 2, idle-too-briefly tasks 1                | ask cpu#2, ask cpu#0
  cpu I20m U20m               |            | holding-for-unguarded tasks 1                                     | nothing
  cpu I9m U20m                |            | idle-too-briefly tasks 1                                          | nothing
  cpu I20m                    | ${inDoubt} | holding-for-doubt doubts jobs-truncated                           | nothing
  cpu I20m I9m                | ${inDoubt} | holding-for-doubt doubts jobs-truncated                           | nothing
  cpu I9m                     | ${inDoubt} | holding-for-doubt doubts jobs-truncated                           | nothing
  cpu I9m, warm 1             | ${inDoubt} | floor count 1 from warm, holding-for-doubt doubts jobs-truncated  | nothing
  cpu B I9m, retiring         | ${inDoubt} | holding-for-doubt doubts jobs-truncated                           | nothing
  cpu P, retiring             | ${inDoubt} | retiring-waits starting 1 leaving 0 unguarded 0, holding-for-doubt doubts jobs-truncated | nothing
  cpu I9m, scaleInPaused      |            | scale-in-paused until ${NOTE.until} by anna why load test | nothing
  cpu                         | ${inDoubt} | holding-for-doubt doubts jobs-truncated                           | nothing
  cpu I20m I20m [gpu], ageMinutes 14, daemons [tpu]; job [gpu] |            | pending-jobs jobs 1                                               | cpu 2->3 pending-jobs
  cpu B I20m; job             |            | served-by-free jobs 1                                             | nothing
  cpu B B I20m, max 2; job    |            | served-by-free jobs 1, capped-at-max wanted 3 max 2               | nothing
  cpu B B I20m, max 2, warm 1 |            | floor count 3 from warm, capped-at-max wanted 3 max 2, idle-long-enough tasks 1 | ask cpu#2
  cpu X, desired 2            |            | holding-for-starting tasks 1                                      | nothing
`;

const starts = table<Row>`
  world          | change         | why                                                                                               | actions
  cpu B B        | ${threeFailed} | nothing-to-do                                                                                     | nothing
  cpu B; job; maxTasks 1 | ${threeFailed} | pending-jobs jobs 1, starts-failing failures 3 tries one wanted 2 granted 1 reason pull                     | nothing
  cpu, desired 3, deploying | ${threeFailed} | starts-failing failures 3 tries one wanted 0 granted 0 reason pull, starts-throttled tasks 3 since 2026-11-20T08:59:00.000Z waitedMs 60000 | cpu 3->0 starts-failing
  cpu X, desired 5, deploying | ${threeFailed} | starts-failing failures 3 tries one wanted 0 granted 0 reason pull, starts-throttled tasks 4 since 2026-11-20T08:59:00.000Z waitedMs 60000 | cpu 5->1 starts-failing
  cpu, desired 3 | ${all(threeFailed, inDoubt)} | starts-failing failures 3 tries one wanted 0 granted 0 reason pull, starts-throttled tasks 3 since 2026-11-20T08:59:00.000Z waitedMs 60000, holding-for-doubt doubts jobs-truncated | nothing
  cpu P; 2 jobs  | ${notBegun}    | pending-jobs jobs 2, starts-failing failures 0 tries one wanted 3 granted 1 reason ECS has not begun to run a desired task for over 10 min; the events of its service say why | nothing
  cpu R; 3 jobs  | ${threeFailed} | pending-jobs jobs 2, served-by-starting jobs 1, starts-failing failures 3 tries one wanted 3 granted 1 reason pull | nothing
  cpu; 5 jobs    | ${failing('cpu', 2)} | pending-jobs jobs 5, starts-failing failures 2 tries few wanted 5 granted 1 reason pull                     | cpu 0->1 pending-jobs
  cpu P; 5 jobs  | ${failing('cpu', 1)} | pending-jobs jobs 4, served-by-starting jobs 1, starts-failing failures 1 tries few wanted 5 granted 2 reason pull | cpu 1->2 pending-jobs
  cpu; 9 jobs    | ${exited(75, 2, 4)} | pending-jobs jobs 9, starts-failing failures 2 tries one wanted 9 granted 1 reason exit code 75 | cpu 0->1 pending-jobs
  cpu; 9 jobs    | ${exited(1, 2, 5, 8)} | pending-jobs jobs 9, starts-failing failures 3 tries later wanted 9 granted 0 reason exit code 1 | nothing
  cpu; 5 jobs    | ${threeFailed} | pending-jobs jobs 5, starts-failing failures 3 tries one wanted 5 granted 1 reason pull                     | cpu 0->1 pending-jobs
  cpu B; 5 jobs  | ${threeFailed} | pending-jobs jobs 5, starts-failing failures 3 tries one wanted 6 granted 2 reason pull                     | cpu 1->2 pending-jobs
  cpu P; 5 jobs  | ${threeFailed} | pending-jobs jobs 4, served-by-starting jobs 1, starts-failing failures 3 tries one wanted 5 granted 1 reason pull | nothing
  cpu P P; 5 jobs | ${threeFailed} | pending-jobs jobs 4, served-by-starting jobs 1, starts-failing failures 3 tries one wanted 5 granted 1 reason pull | cpu 2->1 starts-failing
  cpu, desired 3 | ${threeFailed} | starts-failing failures 3 tries one wanted 0 granted 0 reason pull, starts-throttled tasks 3 since 2026-11-20T08:59:00.000Z waitedMs 60000 | cpu 3->0 starts-failing
  cpu, max 2; 5 jobs | ${threeFailed} | pending-jobs jobs 5, capped-at-max wanted 5 max 2, starts-failing failures 3 tries one wanted 2 granted 1 reason pull | cpu 0->1 pending-jobs
`;

describe.each([
  { name: 'jobs and bounds', rows: jobs },
  { name: 'idle daemons', rows: idle },
  { name: 'failing starts', rows: starts },
])('$name', ({ rows }) => {
  it.each(rows)('gives $why for $world', ({ world, change, why, actions }) => {
    const plan = planOf(world, change);
    expect(codesInWords(poolOf(plan, 'cpu').why)).toBe(why);
    expect(inWords(actionsOf(plan))).toBe(actions);
  });
});

describe('the daemon counts of a pool', () => {
  it('do not count draining tasks as busy, nor idle daemons without a lease as idle', () => {
    const plan = planOf('cpu B B B L I1m I1m U1m');
    expect(poolOf(plan, 'cpu').daemons).toMatchObject({ busy: 3, idle: 2, leaving: 2, unguarded: 0 });
  });

  it('add warm to all tasks that hold a job or may hold one', () => {
    const plan = planOf('cpu B B I1m, warm 1', (snapshot) => {
      edit(snapshot.ecs.protections.items, 1, { protectionEnabled: false });
      const lost = new Date(Date.parse(snapshot.takenAt) - 3 * 60_000).toISOString();
      edit(organizationIn(snapshot).daemons.items, 2, { last_seen_at: lost });
    });
    expect(poolOf(plan, 'cpu').floor).toEqual({ count: 4, from: 'warm' });
  });

  it('count a task that does not begin to run as starting', () => {
    const plan = planOf('cpu P P', notBegun);
    expect(poolOf(plan, 'cpu').daemons.starting).toBe(2);
  });

  it('count jobs for a daemon with another key as pending in its pool', () => {
    const plan = planOf('cpu B [gpu], ageMinutes 14, daemons [tpu]; 2 jobs [tpu]');
    expect(poolOf(plan, 'cpu').pending).toBe(2);
  });

  it('include the failed starts of the last ten minutes', () => {
    expect(poolOf(planOf('cpu', failing('cpu', 2)), 'cpu').daemons.failing).toBe(2);
  });
});

it('keeps the count of a pool that needs no action, and drains nothing', () => {
  const { pools } = deliberate(
    aSnapshot({ version: 'v2.18.0', organizations: [anOrganization()] }),
    aConfig(aPool()),
  );
  expect(pools[0]).toMatchObject({ leaving: [], actions: [], to: 0 });
  const desired = poolOf(planOf('cpu B B', versionIs('v2.1.0')), 'cpu').desired;
  expect(desired).toEqual({ from: 2, to: 2 });
});
