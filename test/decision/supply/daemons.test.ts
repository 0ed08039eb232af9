import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Daemon, Job, Task } from '../../../lambda/decision/model/snapshot.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import { indexDaemons, nameInParts, workerOf } from '../../../lambda/decision/supply/daemons.ts';
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

const NAME = `cpu-${taskIdOf(1)}`;

describe('activity', () => {
  const running = { status: 'running', worker_id: daemonId('daemon') };
  it.each<{
    scenario: string;
    daemon?: Partial<Daemon>;
    job?: Partial<Job>;
    expected: string;
    because: string;
  }>([
    {
      scenario: 'idle, seen 90 s ago',
      daemon: { last_seen_at: ago(90 * SECOND) },
      expected: 'idle',
      because: '90 s is still alive',
    },
    {
      scenario: 'idle, seen longer ago',
      daemon: { last_seen_at: ago(90 * SECOND + 1) },
      expected: 'offline',
      because: 'its status is older than it is',
    },
    {
      scenario: 'offline, seen 90 s ago',
      daemon: { status: 'offline', last_seen_at: ago(90 * SECOND) },
      expected: 'idle',
      because: 'its status was made later than the Date header, which has whole seconds',
    },
    {
      scenario: 'idle, with a current job',
      daemon: { current_job: { id: jobId('x'), status: 'running' } },
      expected: 'busy',
      because: 'either field is enough',
    },
    {
      scenario: 'idle, though a job names it',
      job: running,
      expected: 'busy',
      because: 'the list of jobs may be newer',
    },
    {
      scenario: 'offline, though a job names it',
      daemon: { last_seen_at: ago(HOUR) },
      job: running,
      expected: 'busy',
      because: 'its job is not ended by that',
    },
    {
      scenario: 'idle, its job completed',
      job: { ...running, completed_at: ago(SECOND) },
      expected: 'idle',
      because: 'a completed job keeps no daemon busy',
    },
    {
      scenario: 'idle, the job of another',
      job: { ...running, worker_id: daemonId('other') },
      expected: 'idle',
      because: 'that is not its job',
    },
    {
      scenario: 'alive, no status',
      daemon: { status: null },
      expected: 'busy',
      because: 'only idle is idle',
    },
    {
      scenario: 'alive, a new word',
      daemon: { status: 'dreaming' },
      expected: 'busy',
      because: 'only idle is idle',
    },
  ])('is $expected for $scenario, because $because', ({ daemon, job, expected }) => {
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
  const previous_job = { id: jobId('previous'), status: 'succeeded' };
  it.each<{
    scenario: string;
    daemon?: Partial<Daemon>;
    task?: Partial<Task>;
    previous?: Partial<Job>;
    isCut?: boolean;
    expected: EpochMs | undefined;
    because: string;
  }>([
    {
      scenario: 'no previous job',
      expected: ago(23 * HOUR),
      because: 'it has been idle since it registered',
    },
    {
      scenario: 'a row older than its task',
      task: { startedAt: ago(HOUR) },
      expected: ago(HOUR),
      because: 'rows are used again under one name',
    },
    {
      scenario: 'a task with an unknown start',
      task: { startedAt: undefined },
      expected: ago(23 * HOUR),
      because: 'the row has the time when it registered',
    },
    {
      scenario: 'a previous job',
      daemon: { previous_job },
      previous: { completed_at: ago(MINUTE) },
      expected: ago(MINUTE),
      because: 'it ended then',
    },
    {
      scenario: 'a previous job that ended before it registered',
      daemon: { previous_job },
      previous: { completed_at: ago(30 * HOUR) },
      expected: ago(23 * HOUR),
      because: 'a daemon cannot be idle before it registers',
    },
    {
      scenario: 'a previous job that has not ended',
      daemon: { previous_job },
      previous: {},
      expected: undefined,
      because: 'a contradiction gives no time',
    },
    {
      scenario: 'a previous job that coderd no longer has',
      daemon: { previous_job },
      expected: ago(23 * HOUR),
      because: 'it ended long ago',
    },
    {
      scenario: 'a previous job that was not read',
      daemon: { previous_job },
      isCut: true,
      expected: undefined,
      because: 'it may have ended a moment ago',
    },
    {
      scenario: 'a previous job in a list that is cut off',
      daemon: { previous_job },
      previous: { completed_at: ago(MINUTE) },
      isCut: true,
      expected: ago(MINUTE),
      because: 'the rows that exist are true',
    },
  ])('$scenario: because $because', ({ daemon, task, previous, isCut, expected }) => {
    const row = aDaemon(daemon);
    const jobs = previous === undefined ? [] : [aJob({ id: jobId('previous'), ...previous })];
    const view = anOrganization({
      daemons: reading([row]),
      previousJobs: reading(jobs, isCut ? 'truncated' : 'ok'),
    });
    expect(indexDaemons(view, NOW).idleSince(row, aTask(task))).toBe(expected);
  });
});

describe('the daemon of a task', () => {
  const claims = (daemons: readonly Daemon[], task: Partial<Task> = {}, hasGuard = false) =>
    indexDaemons(anOrganization({ daemons: reading(daemons) }), NOW).ofTask(aTask(task), {
      pool: 'cpu',
      tags: normalizeTags({}),
      hasGuard,
    });
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
  const BUSY = { status: 'busy' };
  const OFFLINE = { last_seen_at: ago(5 * MINUTE) };
  const WRONG_KEY = { tags: { cluster: 'gpu' } };
  const row = (name: keyof typeof NAMES, id: string, given: Partial<Daemon> = {}): Daemon =>
    aDaemon({ id: daemonId(id), name: NAMES[name], ...given });

  it.each<{
    scenario: string;
    rows: readonly Daemon[];
    hasGuard?: true;
    expected: { daemon?: string; rivals?: readonly string[]; strangers?: readonly string[] };
    because: string;
  }>([
    {
      scenario: 'its host name, busy, and another prefix, idle',
      rows: [row('host', 'true', BUSY), row('other', 'fake')],
      expected: { daemon: 'true', strangers: ['fake'] },
      because: 'no pool gives its daemons that name',
    },
    {
      scenario: 'its host name, busy, and its own name, idle',
      rows: [row('host', 'true', BUSY), row('own', 'fake')],
      expected: { daemon: 'true', rivals: ['fake'] },
      because: 'either may be the daemon, so the busy one counts',
    },
    {
      scenario: 'its host name, idle, and its own name, busy',
      rows: [row('host', 'fake'), row('own', 'true', BUSY)],
      expected: { daemon: 'true', rivals: ['fake'] },
      because: 'the task may be of a time when the pool had a guard',
    },
    {
      scenario: 'its host name, offline, and its own name, idle',
      rows: [row('host', 'true', OFFLINE), row('own', 'fake')],
      expected: { daemon: 'fake', rivals: ['true'] },
      because: 'a daemon without a connection may still build',
    },
    {
      scenario: 'its host name with a wrong key, busy, and its own name, idle',
      rows: [row('host', 'true', { ...BUSY, ...WRONG_KEY }), row('own', 'fake')],
      expected: { daemon: 'true', rivals: ['fake'] },
      because: "the pool's secret may hold a wrong key",
    },
    {
      scenario: 'its host name, idle, and its own name with another key, idle',
      rows: [row('own', 'fake', WRONG_KEY), row('host', 'true')],
      expected: { daemon: 'true', rivals: ['fake'], strangers: ['fake'] },
      because: 'of two alike, the tags decide',
    },
    {
      scenario: 'its own name with a wrong key',
      rows: [row('own', 'true', WRONG_KEY)],
      expected: { daemon: 'true' },
      because: 'a wrong key in the secret is no intruder',
    },
    {
      scenario: 'its own name with the tags of a user, busy, and without',
      rows: [row('own', 'fake', { ...BUSY, ...WRONG_KEY }), row('own', 'true')],
      expected: { daemon: 'true', strangers: ['fake'] },
      because: 'a guard that has left has no lease either',
    },
    {
      scenario: 'a guard, and its host name, busy',
      rows: [row('own', 'true'), row('host', 'fake', BUSY)],
      hasGuard: true,
      expected: { daemon: 'true' },
      because: 'a guard names the daemon',
    },
    {
      scenario: 'a guard, and its own name with another key, busy',
      rows: [row('own', 'fake', { ...BUSY, ...WRONG_KEY }), row('own', 'true')],
      hasGuard: true,
      expected: { daemon: 'true', strangers: ['fake'] },
      because: 'of two with one name, the tags decide',
    },
    {
      scenario: 'a guard, and its own name twice, idle and busy',
      rows: [row('own', 'idle'), row('own', 'busy', BUSY)],
      hasGuard: true,
      expected: { daemon: 'busy', rivals: ['idle'] },
      because: 'two daemons share the row',
    },
    {
      scenario: 'a guard, and its own name with a wrong key, busy',
      rows: [row('own', 'true', { ...BUSY, ...WRONG_KEY })],
      hasGuard: true,
      expected: { daemon: 'true' },
      because: 'no other row can be the daemon',
    },
    {
      scenario: 'a guard, and its host name alone',
      rows: [row('host', 'true')],
      hasGuard: true,
      expected: { daemon: 'true' },
      because: 'a person may have protected a task without a guard',
    },
    {
      scenario: 'another prefix, offline',
      rows: [row('own', 'true'), row('other', 'fake', OFFLINE)],
      expected: { daemon: 'true' },
      because: 'nobody is there any more',
    },
  ])('is told apart with $scenario, because $because', ({ rows, hasGuard, expected }) => {
    const ids = (daemons: readonly Daemon[]) => daemons.map(({ id }) => id);
    for (const daemons of [rows, rows.toReversed()]) {
      const { daemon, rivals, strangers } = claims(daemons, address('10.0.1.17'), hasGuard);
      expect({ daemon: daemon?.id, rivals: ids(rivals), strangers: ids(strangers) }).toEqual({
        rivals: [],
        strangers: [],
        ...expected,
      });
    }
  });
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
