/** The doubts of a pool: each with the finding that reports it, and its limits. */
import { describe, expect, it } from 'vitest';
import { SECOND_MS as SECOND } from '../../../lambda/decision/model/units.ts';
import { NOW, taskIdOf } from '../../support/parts.ts';
import type { Drawn } from '../../support/picture.ts';
import {
  actionsOf,
  all,
  type Change,
  codesInWords,
  daemonIs,
  edit,
  failing,
  listIs,
  organizationIn,
  planOf,
  serviceIs,
  taskIs,
  withoutOrganizations,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

/** The time in this many seconds. */
const later = (seconds: number): string => new Date(NOW + seconds * SECOND).toISOString();

type Row = {
  /** @default a task that can drain */
  readonly world?: string;
  readonly change?: Change;
  /** The findings. Nothing: no doubt, so the idle task drains. */
  readonly expected: string;
  readonly because: string;
};

const daemonsOf = (snapshot: Drawn['snapshot']) => organizationIn(snapshot).daemons;
const jobsOf = (snapshot: Drawn['snapshot']) => organizationIn(snapshot).jobs;

const running = (id: string, fields: object) => ({
  id,
  created_at: later(-60),
  status: 'running',
  organization_id: 'org-default',
  tags: {},
  type: 'workspace_build',
  ...fields,
});

const withJobs =
  (...jobs: ReturnType<typeof running>[]): Change =>
  (s) => {
    jobsOf(s).items.push(...jobs);
  };
const twelveOfUnknownWorker: Change = (s) => {
  for (let index = 20; index > 8; index--) jobsOf(s).items.push(running(`job-${index}`, { worker_id: 'x' }));
};

const readings = table<Row>`
  world | change                                                        | expected                               | because
        | ${listIs('services', { status: 'truncated', error: 'seen' })} | services-truncated error seen          | there is more than was seen
        | ${listIs('tasks', { status: 'truncated', error: 'seen' })}    | tasks-truncated error seen             | there is more than was seen
        | ${listIs('protections', { status: 'truncated', error: 'seen' })} | protections-truncated error seen       | there is more than was seen
        | ${listIs('jobs', { status: 'stale', error: 'seen' })}         | jobs-stale organization default error seen | an earlier look is not this one
        | ${listIs('daemons', { limit: 1 })}                            | daemons-truncated organization default | a full list counts as truncated
        | ${listIs('daemons', { limit: 2 })}                            | nothing                                | there is room for more
        | ${listIs('daemons', { status: 'stale', limit: 1 })}           | daemons-stale organization default     | the own status of the list is worse
`;

const emptiness = table<Row>`
  world      | change                                                               | expected                                       | because
             | ${all(listIs('daemons', { items: [] }), taskIs(0, { createdAt: later(-60) }))} | daemons-empty-while-leased organization default tasks 1 cluster coder task cpu#0 | a leased task has a daemon
  cpu L X    | ${all(listIs('daemons', { items: [] }), listIs('jobs', { items: [] }))} | daemons-empty-while-leased organization default tasks 1 cluster coder task cpu#0 | a draining task holds a lease too
             | ${listIs('daemons', { status: 'failed', error: 'seen', items: [] })} | daemons-failed organization default error seen | an unavailable list contradicts nothing
  cpu I20m B | ${listIs('jobs', { status: 'failed', error: 'seen', items: [] })}    | jobs-failed organization default error seen    | an unavailable list contradicts nothing
  cpu R      | ${taskIs(0, { startedAt: later(-119) })}                             | nothing                                        | its daemon is about to register
  cpu R      | ${taskIs(0, { startedAt: later(-120) })}                             | daemons-empty-while-leased organization default tasks 1 cluster coder task cpu#0 | its daemon should have registered
  cpu P N    |                                                                      | nothing                                        | they have none yet
  cpu I20m B | ${listIs('jobs', { items: [] })}                                     | jobs-empty-while-busy organization default daemons 1 | its job is somewhere
  cpu I20m B | ${all(listIs('jobs', { items: [] }), daemonIs(1, { current_job: { id: 'running-cpu-1', status: 'canceling' } }))} | nothing                                        | it is neither pending nor running
  cpu I20m B | ${all(listIs('jobs', { items: [] }), daemonIs(1, { last_seen_at: later(-91) }))} | nothing                                        | the row of an offline daemon proves nothing
`;

const workers = table<Row>`
  world | change                                                                          | expected                                                        | because
        | ${withJobs(running('a', { worker_id: 'x' }), running('b', { worker_id: 'y' }))} | worker-unknown organization default jobs 2 jobIds a+b pools cpu | a key was deleted, and its daemons run on
        | ${twelveOfUnknownWorker}                                                        | worker-unknown organization default jobs 12 jobIds job-10+job-11+job-12+job-13+job-14+job-15+job-16+job-17+job-18+job-19 pools cpu | ten ids are enough to find them by
  cpu I20m B |                                                                                 | nothing                                                         | its worker is known
        | ${withJobs(running('a', { worker_id: 'x', completed_at: later(0) }))}           | nothing                                                         | it keeps no daemon busy any more
        | ${all(withJobs(running('a', { worker_id: 'x' })), listIs('daemons', { status: 'truncated' }))} | daemons-truncated organization default                          | its worker may be among those that are missing
`;

/** Jobs of unlisted workers, which started this many seconds ago. */
const startedBy =
  (...seconds: readonly number[]): Change =>
  (s) =>
    seconds.forEach((ago, index) => {
      const fields = { worker_id: `new-${index}`, started_at: later(-ago) };
      jobsOf(s).items.push(running(`a${index}`, fields));
    });

const halfAnHour: Change = ({ ecs }) => edit(ecs.protections.items, 0, { expirationDate: later(1_800) });

const ofOldRevision = (index: number): Change => taskIs(index, { taskDefinitionArn: 'cpu:0' });
const twoDeployments = serviceIs({
  deployments: [
    { id: 'two', status: 'PRIMARY', rolloutState: 'COMPLETED' },
    { id: 'one', status: 'ACTIVE', rolloutState: 'COMPLETED' },
  ],
});

const newWorkers = table<Row>`
  world      | change              | expected                                                          | because
  cpu I20m R | ${startedBy(9)}     | nothing                                                           | it came after the daemons were read
  cpu I20m R | ${startedBy(10)}    | worker-unknown organization default jobs 1 jobIds a0 pools cpu    | the readings are not so far apart
  cpu I20m R | ${all(startedBy(9), halfAnHour)} | worker-unknown organization default jobs 1 jobIds a0 pools cpu    | a build could be lost there if that were wrong
  cpu I20m R | ${startedBy(1, 1)}  | worker-unknown organization default jobs 2 jobIds a0+a1 pools cpu | it is unknown which of them is new
  cpu I20m P | ${startedBy(1)}     | nothing                                                           | ECS's list is older: the task may run by now
  cpu I20m P | ${all(startedBy(1), ofOldRevision(1))} | worker-unknown organization default jobs 1 jobIds a0 pools cpu | an old task may have no guard
  cpu I20m R | ${all(startedBy(1), ofOldRevision(1))} | nothing                                                           | the count is held for it anyway
  cpu I20m P | ${all(startedBy(1), halfAnHour)} | worker-unknown organization default jobs 1 jobIds a0 pools cpu    | a build could be lost there if that were wrong
  cpu I20m, desired 2 | ${startedBy(1)} | nothing                                                           | ECS may not list its task yet
  cpu I20m, desired 2 | ${startedBy(1, 1)} | worker-unknown organization default jobs 2 jobIds a0+a1 pools cpu | only one task is missing
  cpu I20m P, desired 3 | ${startedBy(1, 2)} | nothing                                                           | one starts, and one is missing
  cpu I20m P, desired 3 | ${startedBy(1, 10)} | worker-unknown organization default jobs 2 jobIds a0+a1 pools cpu | the readings are not so far apart
  cpu I20m, desired 2 | ${all(startedBy(1), twoDeployments)} | worker-unknown organization default jobs 1 jobIds a0 pools cpu | a task that is not listed may be an old one, without a guard
  cpu I20m, desired 2 | ${all(startedBy(1), failing('cpu', 3))} | worker-unknown organization default jobs 1 jobIds a0 pools cpu, starts-failing pool cpu tasks 3 reason pull | where starts keep failing no task is expected
  cpu I20m R R | ${startedBy(1, 60)} | worker-unknown organization default jobs 2 jobIds a0+a1 pools cpu | the other one has been running on
`;

/** One more row of the first daemon, with its name or another one. */
const twin =
  (name?: string, id = 'twin'): Change =>
  (s) => {
    const [first] = daemonsOf(s).items;
    daemonsOf(s).items.push({ ...first, id, name: name ?? first?.name });
  };

/** Gives the first task an address, and takes off its protection, so that it may have no guard. */
const bare: Change = ({ ecs }) => {
  const container = { networkInterfaces: [{ privateIpv4Address: '10.0.1.17' }] };
  edit(ecs.tasks.items, 0, { containers: [container] });
  edit(ecs.protections.items, 0, { protectionEnabled: false, expirationDate: undefined });
};

const ROWS = '{"id":"daemon-cpu-0","key":null}+{"id":"twin","key":null}';

const names = table<Row>`
  world | change                             | expected                                          | because
        | ${all(twin(`fleet-${taskIdOf(9)}`, 'a'), twin(`fleet-${taskIdOf(9)}`, 'b'))} | nothing                                           | names must be unique only for daemons of tasks
        | ${twin()}                          | daemons-share-task pool cpu tasks 1 daemons cpu#0 rows ${ROWS} | one of them may be busy
        | ${all(bare, twin('ip-10-0-1-17'))} | daemons-share-task pool cpu tasks 1 daemons cpu#0+ip-10-0-1-17 rows ${ROWS} | a task without a lease may have either
`;

const createdIn = (seconds: number): Change =>
  withJobs(running(`in ${seconds}`, { status: 'waiting', created_at: later(seconds) }));
const organizationIs =
  (fields: object): Change =>
  (s) =>
    Object.assign(organizationIn(s), fields);

const clocks = table<Row>`
  world | change                                              | expected                                                     | because
        | ${createdIn(60)}                                    | nothing                                                      | clocks may be a minute apart
        | ${createdIn(61)}                                    | clocks-differ where jobs organization default seconds 61     | leases are compared by these clocks
        | ${all(createdIn(70), createdIn(90), createdIn(80))} | clocks-differ where jobs organization default seconds 90     | the furthest counts
        | ${daemonIs(0, { last_seen_at: later(120) })}        | clocks-differ where daemons organization default seconds 120 | it would seem alive for longer than it is
        | ${daemonIs(0, { last_seen_at: null, created_at: later(120) })} | clocks-differ where daemons organization default seconds 120 | its clock is still wrong
        | ${taskIs(0, { startedAt: later(120) })}             | clocks-differ where tasks seconds 120                        | it would seem to boot for longer than it does
  cpu I20m P | ${taskIs(1, { createdAt: later(120) })}             | clocks-differ where tasks seconds 120                        | if it has not started, its creation counts
  cpu I20m P | ${taskIs(1, { createdAt: undefined })}              | nothing                                                      | a missing time cannot be wrong
        | ${listIs('jobs', { takenAt: later(-60) })}          | nothing                                                      | a look takes its time
        | ${listIs('jobs', { takenAt: later(-120) })}         | clocks-differ where readings organization default seconds 120 | readings of one look are made at once
        | ${listIs('daemons', { takenAt: later(120) })}       | clocks-differ where readings organization default seconds 120 | readings of one look are made at once
        | ${organizationIs({ workspaces: { status: 'ok', takenAt: later(120), items: [] } })} | clocks-differ where readings organization default seconds 120 | due times are compared with the clock of this look
        | ${organizationIs({ templates: { status: 'ok', takenAt: later(-300), items: [] } })} | nothing                                                      | the forecast is not read in each look
        | ${all(listIs('jobs', { takenAt: later(-40) }), listIs('previousJobs', { takenAt: later(50) }))} | clocks-differ where readings organization default seconds 90 | they are apart from each other
        | ${listIs('jobs', { status: 'stale', takenAt: later(-3600) })} | jobs-stale organization default                              | stale readings are old
`;

const counts = table<Row>`
  world      | change                                                                                                 | expected                                           | because
             | ${serviceIs({ runningCount: 2 })}                                                                      | tasks-fewer-than-counted pool cpu counted 2 seen 1 | the list is older than the count, or not whole
             | ${serviceIs({ pendingCount: 2 })}                                                                      | tasks-fewer-than-counted pool cpu counted 3 seen 1 | those that start count too
  cpu I20m X | ${all(taskIs(1, { desiredStatus: 'STOPPED', lastStatus: 'DEACTIVATING' }), serviceIs({ desiredCount: 1 }))} | nothing                                            | it is counted until it has stopped
  cpu I20m X | ${all(taskIs(1, { desiredStatus: 'STOPPED', lastStatus: 'STOPPED' }), serviceIs({ desiredCount: 1 }))} | tasks-fewer-than-counted pool cpu counted 2 seen 1 | a stopped task is not one that ECS counts
`;

describe.each([
  { name: 'readings', rows: readings },
  { name: 'empty answers', rows: emptiness },
  { name: 'workers', rows: workers },
  { name: 'new workers', rows: newWorkers },
  { name: 'names', rows: names },
  { name: 'clocks', rows: clocks },
  { name: 'counts', rows: counts },
])('$name', ({ rows }) => {
  it.each(rows)('finds $expected in $world, because $because', ({ world = 'cpu I20m', change, expected }) => {
    const plan = planOf(world, change);
    // some of these cases end with a lease without a daemon, or with failed starts, which is no doubt
    const others = ['tasks-without-daemon', 'tasks-vacant', 'starts-throttled'];
    const doubts = plan.findings.filter(({ code }) => !others.includes(code));
    expect(codesInWords(doubts)).toBe(expected);
    const couldAsk = actionsOf(planOf(world)).some((action) => action.startsWith('ask'));
    if (couldAsk) expect(actionsOf(plan)).toEqual(expected === 'nothing' ? ['ask cpu#0'] : []);
  });
});

describe('unknown organizations', () => {
  it('are reported once each, in order of name, and hold their pools', () => {
    const world = 'a X, organization z; b [t1=1], organization y; c [t2=1], organization z';
    const plan = planOf(world, withoutOrganizations);
    expect(plan.findings).toEqual([
      { code: 'organization-unknown', organization: 'y' },
      { code: 'organization-unknown', organization: 'z' },
    ]);
    expect(plan.pools[0]?.why).toEqual([{ code: 'holding-for-doubt', doubts: ['organization-unknown'] }]);
  });

  it('are reported in order of name, and hold only their own pools', () => {
    const world = 'a I20m, organization z; b I20m, organization y';
    const plan = planOf(world, ({ coder }) => {
      for (const organization of coder.organizations) organization.jobs.status = 'truncated';
    });
    expect(plan.findings.map((found) => 'organization' in found && found.organization)).toEqual(['y', 'z']);
    const half = planOf(world, listIs('jobs', { status: 'truncated' }));
    expect(actionsOf(half)).toEqual(['ask b#0']);
  });
});

it('gives each doubt of a pool once', () => {
  const plan = planOf('cpu I20m', (snapshot) => {
    for (const id of ['a', 'b'])
      jobsOf(snapshot).items.push(running(id, { status: 'x', created_at: later(99) }));
    edit(daemonsOf(snapshot).items, 0, { last_seen_at: later(99) });
  });
  expect(plan.pools[0]?.why).toEqual([{ code: 'holding-for-doubt', doubts: ['clocks-differ'] }]);
});

it('holds only the pool whose daemons share a task', () => {
  const tags = { cluster: 'gpu' };
  const plan = planOf({ pools: { cpu: { tasks: 'I20m' }, gpu: { tasks: 'I20m', tags } } }, (snapshot) => {
    const { items } = daemonsOf(snapshot);
    items.push({ ...items[1], id: 'twin' });
  });
  expect(plan.findings).toMatchObject([{ code: 'daemons-share-task', pool: 'gpu' }]);
  expect(actionsOf(plan)).toEqual(['ask cpu#0']);
});
