import { describe, expect, it } from 'vitest';
import type {
  Daemon,
  Job,
  OrganizationReadings,
  Protection,
  Task,
} from '../../../lambda/decision/model/snapshot.ts';
import { indexDaemons } from '../../../lambda/decision/supply/daemons.ts';
import { deriveTaskView } from '../../../lambda/decision/supply/task-state.ts';
import {
  aDaemon,
  ago,
  aJob,
  aLease,
  anOrganization,
  aPool,
  aTask,
  daemonId,
  HOUR,
  MINUTE,
  NOW,
  reading,
  SECOND,
} from '../../support/parts.ts';

type Row = {
  readonly scenario: string;
  readonly task?: Partial<Task>;
  /** Absent: the protection is off. `null`: it was not read. */
  readonly lease?: Partial<Protection> | null;
  readonly daemon?: Partial<Daemon>;
  readonly job?: Partial<Job>;
  readonly unread?: 'jobs' | 'daemons' | 'organization';
  readonly expected: string;
  readonly because: string;
};

const released = { protectionEnabled: false };
const offline = { status: 'offline', last_seen_at: ago(5 * MINUTE) };

function sightOf({ daemon, job, unread }: Row): OrganizationReadings | undefined {
  if (unread === 'organization') return undefined;
  return anOrganization({
    jobs: reading(job === undefined ? [] : [aJob(job)], unread === 'jobs' ? 'truncated' : 'ok'),
    daemons: reading(
      daemon === undefined ? [] : [aDaemon(daemon)],
      unread === 'daemons' ? 'truncated' : 'ok',
    ),
  });
}

function read(row: Row) {
  const organization = sightOf(row);
  return deriveTaskView({
    task: aTask(row.task),
    pool: aPool(),
    organization,
    index: organization && indexDaemons(organization, NOW),
    now: NOW,
    protection: row.lease === null ? undefined : aLease(row.lease ?? released),
  });
}

const leases: readonly Row[] = [
  {
    scenario: '24 h left',
    lease: { expirationDate: ago(-24 * HOUR) },
    daemon: {},
    expected: 'working idle',
    because: '24 h or more is a lease',
  },
  {
    scenario: 'a second less than 24 h left',
    lease: { expirationDate: ago(-24 * HOUR + SECOND) },
    daemon: {},
    expected: 'leaving idle',
    because: 'less than 24 h means a drain request',
  },
  {
    scenario: 'enabled, no end read',
    lease: { expirationDate: undefined },
    daemon: {},
    expected: 'leaving idle',
    because: 'a lease without an end is not one that can be relied upon',
  },
  {
    scenario: 'enabled, PENDING',
    lease: {},
    task: { lastStatus: 'PENDING', createdAt: ago(10 * MINUTE) },
    expected: 'starting registering',
    because: 'a task that does not run is still expected',
  },
];

const released_: readonly Row[] = [
  {
    scenario: 'released, offline daemon',
    daemon: offline,
    expected: 'left silent',
    because: 'coderd shows its daemon as offline',
  },
  {
    scenario: 'released a minute after its start, offline daemon',
    task: { startedAt: ago(MINUTE) },
    daemon: offline,
    expected: 'left silent',
    because: 'a daemon that was there and is gone is proof at any age',
  },
  {
    scenario: 'released, daemon seen 90 s ago',
    daemon: { last_seen_at: ago(90 * SECOND) },
    expected: 'unguarded idle',
    because: 'coderd calls it offline only after 90 s',
  },
  {
    scenario: 'released, daemon seen 91 s ago',
    daemon: { last_seen_at: ago(91 * SECOND) },
    expected: 'left silent',
    because: 'whatever status its row still has',
  },
  {
    scenario: 'released, daemon never seen',
    daemon: { last_seen_at: null },
    expected: 'left silent',
    because: 'a row that was never seen is offline',
  },
  {
    scenario: 'released, offline daemon with a running job',
    daemon: offline,
    job: { status: 'running', worker_id: daemonId('daemon') },
    expected: 'unguarded busy',
    because: 'its job may still run',
  },
  {
    scenario: 'released, no daemon, RUNNING for 15 min',
    task: { startedAt: ago(15 * MINUTE) },
    expected: 'left silent',
    because: 'it has had its time',
  },
  {
    scenario: 'released, no daemon, RUNNING for a second less',
    task: { startedAt: ago(15 * MINUTE - SECOND) },
    expected: 'starting registering',
    because: 'it may still be booting',
  },
  {
    scenario: 'released, no daemon, RUNNING for an unknown time',
    task: { startedAt: undefined },
    expected: 'starting registering',
    because: 'absence proves nothing without a time',
  },
  {
    scenario: 'released, live daemon, young',
    task: { startedAt: ago(MINUTE) },
    daemon: {},
    expected: 'unguarded idle',
    because: 'a daemon that runs without a lease is unguarded at any age',
  },
];

const unread: readonly Row[] = [
  {
    scenario: 'protection not read, offline daemon',
    lease: null,
    daemon: offline,
    expected: 'unguarded silent',
    because: 'it may have a lease',
  },
  {
    scenario: 'protection not read, no daemon, old',
    lease: null,
    expected: 'unguarded silent',
    because: 'it may have a lease',
  },
  {
    scenario: 'released, offline daemon, jobs truncated',
    daemon: offline,
    unread: 'jobs',
    expected: 'unguarded silent',
    because: 'its job may be among those that are missing',
  },
  {
    scenario: 'released, no daemon, old, daemons truncated',
    unread: 'daemons',
    expected: 'unguarded unknown',
    because: 'its daemon may be among those that are missing',
  },
  {
    scenario: 'released, old, organization unknown',
    unread: 'organization',
    expected: 'unguarded unknown',
    because: 'nothing is known about its daemon',
  },
  {
    scenario: 'leased, no daemon, old, daemons truncated',
    lease: {},
    unread: 'daemons',
    expected: 'working unknown',
    because: 'silence in a list that is cut off is none',
  },
];

const uses: readonly Row[] = [
  {
    scenario: 'leased, no daemon, RUNNING for a second less than 15 min',
    lease: {},
    task: { startedAt: ago(15 * MINUTE - SECOND) },
    expected: 'working registering',
    because: 'its daemon is still to come',
  },
  {
    scenario: 'leased, no daemon, RUNNING for 15 min',
    lease: {},
    task: { startedAt: ago(15 * MINUTE) },
    expected: 'working silent',
    because: 'it should have come',
  },
  {
    scenario: 'leased, young, offline daemon',
    lease: {},
    task: { startedAt: ago(5 * MINUTE) },
    daemon: { ...offline, last_seen_at: ago(2 * MINUTE) },
    expected: 'working silent',
    because: 'its daemon came and went',
  },
  {
    scenario: 'PENDING for a second more than 10 min',
    task: { lastStatus: 'PENDING', createdAt: ago(10 * MINUTE + SECOND) },
    expected: 'starting silent',
    because: 'it is not expected any more',
  },
  {
    scenario: 'PENDING for an unknown time',
    task: { lastStatus: 'PENDING', createdAt: undefined },
    expected: 'starting registering',
    because: 'a task without a time is never overdue',
  },
  {
    scenario: 'leased, busy daemon',
    lease: {},
    daemon: { status: 'busy' },
    expected: 'working busy',
    because: 'it says so',
  },
];

describe.each([
  { name: 'a lease', rows: leases },
  { name: 'without a lease', rows: released_ },
  { name: 'unavailable readings', rows: unread },
  { name: 'the use of a task', rows: uses },
])('$name', ({ rows }) => {
  it.each(rows)('is $expected for $scenario, because $because', (row) => {
    const { state, use } = read(row);
    expect(`${state} ${use}`).toBe(row.expected);
  });
});

it('gives idleSince only for an idle daemon', () => {
  const since = (daemon: Partial<Daemon>) =>
    read({ scenario: '', lease: {}, daemon, expected: '', because: '' }).idleSince;
  expect(since({})).toBe(ago(23 * HOUR));
  expect(since({ status: 'busy' })).toBeUndefined();
  expect(since(offline)).toBeUndefined();
});

it('offers the tags of the daemon, or those of the pool without a daemon', () => {
  const pool = aPool({ tags: { cluster: 'gpu' } });
  const organization = anOrganization({ daemons: reading([aDaemon({ tags: { cluster: 'tpu' } })]) });
  const index = indexDaemons(organization, NOW);
  const input = { task: aTask(), pool, organization, index, now: NOW, protection: aLease() };
  const seen = deriveTaskView(input);
  const unseen = deriveTaskView({ ...input, index: undefined });
  expect([seen.offers.cluster, unseen.offers.cluster]).toEqual(['tpu', 'gpu']);
  expect([seen.hasOtherTags, unseen.hasOtherTags]).toEqual([true, false]);
  const fitting = aPool({ tags: { cluster: 'tpu', scope: 'organization' } });
  expect(deriveTaskView({ ...input, pool: fitting }).hasOtherTags).toBe(false);
});
