import { describe, expect, it } from 'vitest';
import type {
  Daemon,
  Job,
  OrganizationReadings,
  Protection,
  Task,
} from '../../../lambda/decision/model/snapshot.ts';
import { indexDaemons } from '../../../lambda/decision/supply/rows/daemons.ts';
import { rowOfTask } from '../../../lambda/decision/supply/rows/task-row.ts';
import {
  deriveTaskView,
  mayTakeJobs,
  type TaskInput,
  withOneStart,
} from '../../../lambda/decision/supply/task-state.ts';
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
import { table } from '../../support/table.ts';

type Row = {
  readonly task?: Partial<Task>;
  /** Absent: the protection is off. `null`: it was not read. */
  readonly lease?: Partial<Protection> | null;
  readonly daemon?: Partial<Daemon>;
  readonly job?: Partial<Job>;
  readonly unread?: 'jobs' | 'daemons' | 'organization';
  readonly isOvertaken?: boolean;
  readonly expected: string;
  readonly because: string;
};

const released = { protectionEnabled: false };
const any = {};
const agoIfKnown = (ms: number | undefined) => (ms === undefined ? undefined : ago(ms));
const leaseFor = (ms: number | undefined) => ({ expirationDate: ms === undefined ? undefined : ago(-ms) });
const runningFor = (ms: number | undefined) => ({ startedAt: agoIfKnown(ms) });
const pendingFor = (ms: number | undefined) => ({ lastStatus: 'PENDING', createdAt: agoIfKnown(ms) });
const seen = (ms: number | undefined) => ({ last_seen_at: agoIfKnown(ms) ?? null });
const running = { status: 'running', worker_id: daemonId('daemon') };
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

const ON_TIME = { isLate: false, isRefused: false, isOvertaken: false, isFailing: false };

type Given = Partial<TaskInput> & Pick<TaskInput, 'organization' | 'index' | 'protection'>;

/** The view of a task, by default of one that is on time. */
function view(given: Given) {
  const input = { task: aTask(), pool: aPool(), now: NOW, ...given };
  return deriveTaskView({ ...rowOfTask({ ...input, isWhole: true }), ...ON_TIME, ...input });
}

function read(row: Row) {
  const organization = sightOf(row);
  return view({
    task: aTask(row.task),
    organization,
    index: organization && indexDaemons(organization, NOW),
    protection: row.lease === null ? undefined : aLease(row.lease ?? released),
    ...(row.isOvertaken === true && { isOvertaken: true }),
  });
}

const leases = table<Row>`
  lease                           | task                       | daemon | expected             | because
  ${leaseFor(24 * HOUR)}          |                            | ${any} | working idle         | 24 h or more is a lease
  ${leaseFor(24 * HOUR - SECOND)} |                            | ${any} | leaving idle         | less than 24 h means a drain request
  ${leaseFor(undefined)}          |                            | ${any} | unguarded idle       | a lease without an end is not one that can be relied upon
  ${any}                          | ${pendingFor(10 * MINUTE)} |        | starting registering | a task that does not run is still expected
`;

const released_ = table<Row>`
  task                                | daemon               | job        | expected             | because
                                      | ${offline}           |            | left silent          | coderd shows its daemon as offline
  ${runningFor(MINUTE)}               | ${offline}           |            | left silent          | a daemon that was there and is gone is proof at any age
                                      | ${seen(90 * SECOND)} |            | unguarded idle       | coderd calls it offline only after 90 s
                                      | ${seen(91 * SECOND)} |            | left silent          | whatever status its row still has
                                      | ${seen(undefined)}   |            | left silent          | a row that was never seen is offline
                                      | ${offline}           | ${running} | unguarded busy       | its job may still run
  ${runningFor(15 * MINUTE)}          |                      |            | left silent          | it has had its time
  ${runningFor(15 * MINUTE - SECOND)} |                      |            | starting registering | it may still be booting
  ${runningFor(undefined)}            |                      |            | starting registering | absence proves nothing without a time
  ${runningFor(MINUTE)}               | ${any}               |            | unguarded idle       | a daemon that runs without a lease is unguarded at any age
`;

const overtaken = table<Row>`
  lease  | task                               | daemon | isOvertaken | unread  | expected             | because
         | ${runningFor(2 * MINUTE)}          |        | true        |         | left registering     | a guard that has no lease has no daemon, and others get theirs
         | ${runningFor(2 * MINUTE - SECOND)} |        | true        |         | starting registering | it may still be booting
         | ${runningFor(2 * MINUTE)}          |        | true        | daemons | starting registering | absence proves nothing in a list that is cut off
         | ${runningFor(2 * MINUTE)}          | ${any} | true        |         | unguarded idle       | its daemon runs
  ${any} | ${runningFor(2 * MINUTE)}          |        | true        |         | working registering  | only its guard may let it go
`;

const unread = table<Row>`
  lease   | daemon     | unread       | expected          | because
  ${null} | ${offline} |              | unguarded silent  | it may have a lease
  ${null} |            |              | unguarded silent  | it may have a lease
          | ${offline} | jobs         | unguarded silent  | its job may be among those that are missing
          |            | daemons      | unguarded unknown | its daemon may be among those that are missing
          |            | organization | unguarded unknown | nothing is known about its daemon
  ${any}  |            | daemons      | working unknown   | silence in a list that is cut off is none
`;

const uses = table<Row>`
  lease  | task                                | daemon                | expected            | because
  ${any} | ${runningFor(15 * MINUTE - SECOND)} |                       | working registering | its daemon is still to come
  ${any} | ${runningFor(15 * MINUTE)}          |                       | working silent      | it should have come
  ${any} | ${runningFor(5 * MINUTE)}           | ${{ ...offline, last_seen_at: ago(150 * SECOND + 1) }} | working silent      | its daemon came and went
  ${any} | ${runningFor(5 * MINUTE)}           | ${{ ...offline, last_seen_at: ago(150 * SECOND) }} | working unsure      | one late heartbeat explains it
         | ${runningFor(5 * MINUTE)}           | ${{ ...offline, last_seen_at: ago(100 * SECOND) }} | left silent         | its guard has released it
         | ${pendingFor(10 * MINUTE + SECOND)} |                       | starting silent     | it is not expected any more
         | ${pendingFor(undefined)}            |                       | starting registering | a task without a time is never overdue
  ${any} |                                     | ${{ status: 'busy' }} | working busy        | it says so
`;

describe.each([
  { name: 'a lease', rows: leases },
  { name: 'without a lease', rows: released_ },
  { name: 'without a lease, and a later task has a daemon', rows: overtaken },
  { name: 'unavailable readings', rows: unread },
  { name: 'the use of a task', rows: uses },
])('$name', ({ rows }) => {
  it.each(rows)('is $expected, because $because', (row) => {
    const { state, use } = read(row);
    expect(`${state} ${use}`).toBe(row.expected);
  });
});

it('gives idleSince only for an idle daemon', () => {
  const since = (daemon: Partial<Daemon>) => read({ lease: {}, daemon, expected: '', because: '' }).idleSince;
  expect(since({})).toBe(ago(23 * HOUR));
  expect(since({ status: 'busy' })).toBeUndefined();
  expect(since(offline)).toBeUndefined();
});

it('offers the tags of the daemon, or those of the pool without a daemon', () => {
  const pool = aPool({ tags: { cluster: 'gpu' } });
  const organization = anOrganization({ daemons: reading([aDaemon({ tags: { cluster: 'tpu' } })]) });
  const index = indexDaemons(organization, NOW);
  const input = { pool, organization, index, protection: aLease() };
  const seen = view(input);
  const unseen = view({ ...input, index: undefined });
  expect([seen.offers.cluster, unseen.offers.cluster]).toEqual(['tpu', 'gpu']);
  expect([seen.hasOtherTags, unseen.hasOtherTags]).toEqual([true, false]);
  const fitting = aPool({ tags: { cluster: 'tpu', scope: 'organization' } });
  expect(view({ ...input, pool: fitting }).hasOtherTags).toBe(false);
});

it('keeps the oldest start where starts fail, whatever the order of the list', () => {
  const seen = read({ expected: '', because: '' });
  const starts = [2, 9, 5].map((minutes) => {
    const task = aTask({ lastStatus: 'PENDING', createdAt: ago(minutes * MINUTE) });
    return { ...seen, task, state: 'starting' as const };
  });
  expect(withOneStart(starts).map(({ state }) => state)).toEqual(['left', 'starting', 'left']);
});

it('may take jobs without a lease that was read only while its daemon may work', () => {
  const taking = (['working', 'unguarded', 'starting', 'leaving', 'left'] as const).filter((state) =>
    mayTakeJobs({ ...read({ expected: '', because: '' }), state, leaseMs: undefined }),
  );
  expect(taking).toEqual(['working', 'unguarded']);
});
