import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Daemon, Job, Task } from '../../../lambda/decision/model/snapshot.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import { indexDaemons, nameInParts, workerOf } from '../../../lambda/decision/supply/rows/daemons.ts';
import {
  aDaemon,
  ago,
  aJob,
  anOrganization,
  arnOf,
  aTask,
  daemonId,
  HOUR,
  jobId,
  MINUTE,
  NOW,
  reading,
  SECOND,
  taskIdOf,
} from '../../support/parts.ts';
import { table } from '../../support/table.ts';

const NAME = `cpu-${taskIdOf(1)}`;

const seen = (ms: number) => ({ last_seen_at: ago(ms) });
const runningFor = (ms: number | undefined) => ({ startedAt: ms === undefined ? undefined : ago(ms) });
const endedAgo = (ms: number) => ({ completed_at: ago(ms) });

describe('activity', () => {
  const running = { status: 'running', worker_id: daemonId('daemon') };
  it.each(table<{ daemon?: Partial<Daemon>; job?: Partial<Job>; expected: string; because: string }>`
    daemon                    | job        | expected | because
    ${seen(90 * SECOND)}      |            | idle     | 90 s is still alive
    ${seen(90 * SECOND + 1)}  |            | offline  | its status is older than it is
    ${{ status: 'offline', last_seen_at: ago(90 * SECOND) }} |            | idle     | its status was made later than the Date header, which has whole seconds
    ${{ current_job: { id: jobId('x'), status: 'running' } }} |            | busy     | either field is enough
                              | ${running} | busy     | the list of jobs may be newer
    ${seen(HOUR)}             | ${running} | busy     | its job is not ended by that
                              | ${{ ...running, completed_at: ago(SECOND) }} | idle     | a completed job keeps no daemon busy
                              | ${{ ...running, worker_id: daemonId('other') }} | idle     | that is not its job
    ${{ status: null }}       |            | busy     | only idle is idle
    ${{ status: 'dreaming' }} |            | busy     | only idle is idle
  `)('is $expected, because $because', ({ daemon, job, expected }) => {
    const row = aDaemon(daemon);
    const view = anOrganization({
      daemons: reading([row]),
      jobs: reading(job === undefined ? [] : [aJob(job)]),
    });
    expect(indexDaemons(view, NOW).activity(row)).toBe(expected);
  });
});

describe('workerOf', () => {
  it.each<{ scenario: string; job: Partial<Job>; expected: boolean }>([
    { scenario: 'running', job: { status: 'running', worker_id: daemonId('d') }, expected: true },
    { scenario: 'under a new word', job: { status: 'resting', worker_id: daemonId('d') }, expected: true },
    { scenario: 'completed', job: { worker_id: daemonId('d'), completed_at: NOW }, expected: false },
    { scenario: 'pending', job: { worker_id: null }, expected: false },
    { scenario: 'pending, field absent', job: {}, expected: false },
  ])('finds a worker ($expected) for $scenario', ({ job, expected }) =>
    expect(workerOf(aJob(job)) !== undefined).toBe(expected),
  );
});

describe('idleSince', () => {
  type IdleRow = {
    readonly scenario: string;
    readonly hasPrevious?: boolean;
    readonly task?: Partial<Task>;
    readonly previous?: Partial<Job>;
    readonly isCut?: boolean;
    readonly expected: EpochMs | undefined;
    readonly because: string;
  };
  const previous_job = { id: jobId('previous'), status: 'succeeded' };
  it.each(table<IdleRow>`
    scenario                          | hasPrevious | task | previous | isCut | expected          | because
    no previous job                   |             |      |          |       | ${ago(23 * HOUR)} | it has been idle since it registered
    a row older than its task         |             | ${runningFor(HOUR)} |          |       | ${ago(HOUR)}      | rows are used again under one name
    a task with an unknown start      |             | ${runningFor(undefined)} |          |       | ${ago(23 * HOUR)} | the row has the time when it registered
    a previous job                    | true        |      | ${endedAgo(MINUTE)} |       | ${ago(MINUTE)}    | it ended then
    a previous job that ended before it registered | true        |      | ${endedAgo(30 * HOUR)} |       | ${ago(23 * HOUR)} | a daemon cannot be idle before it registers
    a previous job that has not ended | true        |      | ${{}}    |       | ${undefined}      | a contradiction gives no time
    a previous job that coderd no longer has | true        |      |          |       | ${ago(23 * HOUR)} | it ended long ago
    a previous job that was not read  | true        |      |          | true  | ${undefined}      | it may have ended a moment ago
    a previous job in a list that is cut off | true        |      | ${endedAgo(MINUTE)} | true  | ${ago(MINUTE)}    | the rows that exist are true
  `)('$scenario: because $because', ({ hasPrevious, task, previous, isCut, expected }) => {
    const row = aDaemon(hasPrevious ? { previous_job } : {});
    const jobs = previous === undefined ? [] : [aJob({ id: jobId('previous'), ...previous })];
    const view = anOrganization({
      daemons: reading([row]),
      previousJobs: reading(jobs, isCut ? 'truncated' : 'ok'),
    });
    expect(indexDaemons(view, NOW).idleSince(row, aTask(task))).toBe(expected);
  });
});

describe('the daemon of a task', () => {
  type Given = { readonly hasGuard?: boolean; readonly isLeased?: boolean; readonly isCut?: boolean };
  const claims = (daemons: readonly Daemon[], task: Partial<Task> = {}, given: Given = {}) => {
    const { isCut = false, hasGuard = false, isLeased = false } = given;
    const view = anOrganization({ daemons: reading(daemons, isCut ? 'truncated' : 'ok') });
    const expected = { pool: 'cpu', tags: normalizeTags({}), hasGuard, isLeased };
    return indexDaemons(view, NOW).ofTask(aTask(task), expected);
  };
  const ofTask = (...given: Parameters<typeof claims>) => claims(...given).daemon?.id;
  const address = (privateIpv4Address: string) => ({
    startedAt: ago(HOUR),
    containers: [{}, { networkInterfaces: [{}, { privateIpv4Address }] }],
  });
  const host = aDaemon({ name: 'ip-10-0-1-17' });

  it('is the one named after its pool and its task id', () => {
    expect(ofTask([aDaemon()])).toBe('daemon');
    expect(ofTask([aDaemon()], { taskArn: arnOf(2) })).toBeUndefined();
    expect(ofTask([aDaemon({ name: taskIdOf(1) })])).toBeUndefined();
    expect(ofTask([aDaemon({ name: `x-${taskIdOf(1)}` })])).toBeUndefined();
  });

  it('is the one most certain to hold a job, if two have the same name', () => {
    const busy = aDaemon({ id: daemonId('a'), status: 'busy' });
    const idle = aDaemon({ id: daemonId('b') });
    const offline = aDaemon({ id: daemonId('c'), last_seen_at: ago(HOUR) });
    expect(ofTask([busy, idle, offline])).toBe('a');
    expect(ofTask([offline, idle])).toBe('b');
    expect(ofTask([aDaemon({ id: daemonId('d') }), idle])).toBe('b');
    expect(ofTask([idle, aDaemon({ id: daemonId('d') })])).toBe('b');
  });

  it('is the one named after the private address, if it was seen since the task started', () => {
    expect(ofTask([host], address('10.0.1.17'))).toBe('daemon');
    expect(ofTask([host], address('10.0.1.18'))).toBeUndefined();
    expect(ofTask([{ ...host, last_seen_at: ago(HOUR) }], address('10.0.1.17'))).toBe('daemon');
    expect(ofTask([{ ...host, last_seen_at: ago(HOUR + 1) }], address('10.0.1.17'))).toBeUndefined();
    expect(ofTask([{ ...host, last_seen_at: null }], address('10.0.1.17'))).toBeUndefined();
    expect(ofTask([host], { ...address('10.0.1.17'), startedAt: undefined })).toBeUndefined();
  });

  it('is unknown for a task without an address', () => {
    expect(ofTask([aDaemon({ name: 'ip-undefined' })], { containers: [{}] })).toBeUndefined();
  });

  const NAMES = { own: NAME, other: `x-${taskIdOf(1)}`, host: host.name };
  /** The row of a daemon in words: which of the names it has, its id, and what is special. */
  function rowOf(text: string): Daemon {
    const [name = '', id = '', ...marks] = text.split(' ');
    return aDaemon({
      id: daemonId(id),
      name: NAMES[name as keyof typeof NAMES],
      ...(marks.includes('busy') ? { status: 'busy' } : {}),
      ...(marks.includes('offline') ? seen(5 * MINUTE) : {}),
      ...(marks.includes('wrong-key') ? { tags: { cluster: 'gpu' } } : {}),
    });
  }
  type ClaimRow = {
    readonly rows: string;
    readonly hasGuard?: boolean;
    readonly isLeased?: boolean;
    readonly isCut?: boolean;
    readonly daemon: string;
    readonly rivals?: string;
    readonly strangers?: string;
    readonly because: string;
  };

  it.each(table<ClaimRow>`
    rows                               | hasGuard | daemon | rivals | strangers | because
    host real busy, other fake         |          | real   |        | fake      | no pool gives its daemons that name
    host real busy, own fake           |          | real   | fake   |           | either may be the daemon, so the busy one counts
    host fake, own real busy           |          | real   | fake   |           | the task may be of a time when the pool had a guard
    host real offline, own fake        |          | fake   | real   |           | a daemon without a connection may still build
    host real busy wrong-key, own fake |          | real   | fake   |           | the pool's secret may hold a wrong key
    own fake wrong-key, host real      |          | real   | fake   | fake      | of two alike, the tags decide
    own real wrong-key                 |          | real   |        |           | a wrong key in the secret is no intruder
    own fake busy wrong-key, own real  |          | real   |        | fake      | a guard that has left has no lease either
    own real, host fake busy           | true     | real   |        |           | a guard names the daemon
    own fake busy wrong-key, own real  | true     | real   |        | fake      | of two with one name, the tags decide
    own idle, own busy busy            | true     | busy   | idle   |           | two daemons share the row
    own real busy wrong-key            | true     | real   |        |           | no other row can be the daemon
    host real                          | true     | real   |        |           | a person may have protected a task without a guard
    own real, other fake offline       |          | real   |        |           | nobody is there any more
    own real, own fake offline         | true     | real   | fake   |           | a guard that drains may have lost its daemon
  `)('tells $daemon apart in $rows, because $because', tellsApart);

  it.each(table<ClaimRow>`
    rows                                         | isCut | daemon | rivals | because
    own real, own fake offline                   |       | real   |        | its daemon is connected, so the other one has left
    own real wrong-key, own fake offline wrong-key |     | real   |        | the takeover of a row changes its tags for good
    own real, own fake offline                   | true  | real   | fake   | the list may lack its job
    own fake, own real                           |       | fake   | real   | either may be the daemon
    own real busy, own fake offline              |       | real   |        | a row with a job is the daemon
    own fake busy, own real                      |       | fake   | real   | a row with a job is the daemon, and the other one lives
    own real offline, own fake offline           |       | fake   | real   | either may lack its connection for a moment
  `)('tells $daemon apart in $rows of a task with a lease, because $because', (row) =>
    tellsApart({ ...row, hasGuard: true, isLeased: true }),
  );

  function tellsApart({ rows, hasGuard = false, isLeased = false, isCut = false, ...expected }: ClaimRow) {
    const ids = (daemons: readonly Daemon[]) => daemons.map(({ id }) => id).join(' ');
    const given = rows.split(', ').map(rowOf);
    for (const daemons of [given, given.toReversed()]) {
      const found = claims(daemons, address('10.0.1.17'), { hasGuard, isLeased, isCut });
      const { daemon, rivals, strangers } = found;
      expect({ daemon: daemon?.id, rivals: ids(rivals), strangers: ids(strangers) }).toEqual({
        daemon: expected.daemon,
        rivals: expected.rivals ?? '',
        strangers: expected.strangers ?? '',
      });
    }
  }
});

it('namedAfter finds the daemons with the name of a pool', () => {
  const index = indexDaemons(anOrganization({ daemons: reading([aDaemon()]) }), NOW);
  expect(index.namedAfter('cpu').map(({ name }) => name)).toEqual([NAME]);
  expect(index.namedAfter('gpu')).toEqual([]);
});

it.each([
  { name: NAME, expected: 'cpu' },
  { name: `a-b-${taskIdOf(1)}`, expected: 'a-b' },
  { name: `-${taskIdOf(1)}`, expected: undefined },
  { name: `cpu${taskIdOf(1)}`, expected: undefined },
  { name: `${NAME}-1`, expected: undefined },
  { name: `cpu-${taskIdOf(1).slice(1)}`, expected: undefined },
  { name: `cpu-${taskIdOf(1).replace('0', 'g')}`, expected: undefined },
  { name: 'coderd-0', expected: undefined },
])('poolNamed finds the pool $expected in the name $name', ({ name, expected }) => {
  expect(nameInParts(name).pool).toBe(expected);
});
