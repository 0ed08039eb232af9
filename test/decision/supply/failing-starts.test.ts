import { describe, expect, it } from 'vitest';
import type { Daemon, ReadingStatus, Task } from '../../../lambda/decision/model/snapshot.ts';
import type { FailingStarts } from '../../../lambda/decision/supply/starts.ts';
import { deriveSupply } from '../../../lambda/decision/supply/supply.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aLease,
  anOrganization,
  aPool,
  arnOf,
  aSnapshot,
  aTask,
  daemonId,
  HOUR,
  MINUTE,
  NOW,
  reading,
  SECOND,
  taskIdOf,
} from '../../support/parts.ts';
import { table } from '../../support/table.ts';

/** A task that could not start and stopped this long ago. */
function failed(index: number, stoppedMsAgo: number, given: Partial<Task> = {}): Task {
  return aTask({
    taskArn: arnOf(index),
    lastStatus: 'STOPPED',
    desiredStatus: 'STOPPED',
    stopCode: 'TaskFailedToStart',
    createdAt: ago(stoppedMsAgo + MINUTE),
    stoppedAt: ago(stoppedMsAgo),
    stoppedReason: `reason ${index}`,
    ...given,
  });
}

/** The time at which the daemon of a task registered; the daemon is offline by now. */
const registered = (index: number, msAgo: number): Daemon =>
  aDaemon({
    id: daemonId(`d${index}`),
    name: `cpu-${taskIdOf(index)}`,
    created_at: ago(msAgo),
    last_seen_at: ago(msAgo),
    status: 'offline',
  });

type Known = {
  readonly daemons?: readonly Daemon[];
  readonly status?: ReadingStatus;
  /** For how long the first task has its lease, in seconds. */
  readonly leasedS?: number | undefined;
};

function judge(tasks: readonly Task[], { daemons = [], status = 'ok', leasedS }: Known = {}): FailingStarts {
  const organizations = [anOrganization({ daemons: reading(daemons, status) })];
  const protections =
    leasedS === undefined ? [] : [aLease({ expirationDate: ago(leasedS * SECOND - 48 * HOUR) })];
  const [view] = deriveSupply(aSnapshot({ tasks, organizations, protections }), aConfig(aPool()));
  if (view === undefined) throw new Error('no pool');
  return view.failing;
}

const three = [failed(1, 3 * MINUTE), failed(2, 2 * MINUTE), failed(3, MINUTE)];

/** The container of GuardDuty, which ECS killed with the task. */
const AGENT = { name: 'aws-guardduty-agent-a1b2c3', exitCode: 137, reason: 'OutOfMemory' };

const failedAt = (...msAgo: readonly number[]) => msAgo.map((ms, index) => failed(index + 1, ms));
/** Guards that ended without a lease, so many minutes ago. */
const withoutLease = (...minutesAgo: readonly number[]) =>
  minutesAgo.map((minutes, index) =>
    failed(index + 1, minutes * MINUTE, {
      stopCode: 'EssentialContainerExited',
      containers: [{ name: 'provisioner', exitCode: 75 }],
    }),
  );
const eachWith = (given: Partial<Task>) => three.map((task) => ({ ...task, ...given }));

describe('the breaker', () => {
  it.each(table<{ scenario: string; tasks: readonly Task[]; isTripped: boolean; recent: number }>`
    scenario                             | tasks                                              | isTripped | recent
    nothing failed                       | ${[]}                                              | false     | 0
    two failed                           | ${three.slice(1)}                                  | false     | 2
    three failed in a row                | ${three}                                           | true      | 3
    three failed over just ten minutes   | ${failedAt(10 * MINUTE, 5 * MINUTE, 0)}            | true      | 3
    three failed over an hour            | ${failedAt(50 * MINUTE, 30 * MINUTE, 0)}           | true      | 1
    three failed half an hour ago        | ${failedAt(32 * MINUTE, 31 * MINUTE, 30 * MINUTE)} | true      | 0
    three of four failed close together  | ${[failed(4, 50 * MINUTE), ...three]}              | true      | 3
    two guards without a lease           | ${withoutLease(20, 5)}                            | true      | 1
    one guard without a lease            | ${withoutLease(5)}                                | false     | 1
    three that stop, with an unknown end | ${eachWith({ stoppedAt: undefined })}              | true      | 3
    three with an unknown end that began long ago | ${eachWith({ stoppedAt: undefined, createdAt: ago(HOUR) })} | true      | 0
  `)('is tripped ($isTripped) with $recent recent failures for $scenario', ({ tasks, isTripped, recent }) => {
    expect(judge(tasks)).toMatchObject({ isTripped, recent });
  });

  it('uses the time when a task began to stop if its end is unknown', () => {
    const stopping = eachWith({ stoppedAt: undefined, stoppingAt: ago(HOUR) });
    expect(judge(stopping).recent).toBe(0);
  });
});

describe('a task that does not begin to run', () => {
  const waiting = (createdMsAgo: number, given: Partial<Task> = {}) =>
    aTask({ lastStatus: 'PENDING', createdAt: ago(createdMsAgo), ...given });
  const STALLED = /^ECS has not begun to run a desired task for over 10 min/;

  it.each<{ scenario: string; task: Task; known?: Known; isTripped: boolean }>([
    { scenario: 'for 10 min', task: waiting(10 * MINUTE), isTripped: false },
    { scenario: 'for longer', task: waiting(10 * MINUTE + 1), isTripped: true },
    {
      scenario: 'for longer, and ECS is stopping it',
      task: waiting(HOUR, { desiredStatus: 'STOPPED' }),
      isTripped: false,
    },
    { scenario: 'and runs', task: waiting(HOUR, { lastStatus: 'RUNNING' }), isTripped: false },
    { scenario: 'and has stopped', task: waiting(HOUR, { lastStatus: 'STOPPED' }), isTripped: false },
  ])('holds the pool back ($isTripped) for $scenario', ({ task, isTripped }) => {
    const judged = judge([task]);
    expect(judged).toMatchObject({ isTripped, recent: isTripped ? 1 : 0, count: 0 });
    expect(judged.reason ?? '').toMatch(isTripped ? STALLED : /^$/);
  });

  it('is the reason only if no start has failed', () => {
    const both = judge([waiting(HOUR), failed(2, MINUTE)]);
    expect(both).toMatchObject({ isTripped: true, recent: 2, reason: 'reason 2' });
  });

  it('does not count once a daemon has registered after its creation', () => {
    const after = (msAgo: number) =>
      judge([waiting(20 * MINUTE), aTask({ taskArn: arnOf(9) })], { daemons: [registered(9, msAgo)] });
    const judged = [19, 20, 21].map((minutes) => after(minutes * MINUTE));
    expect(judged.map(({ isTripped, recent }) => [isTripped, recent])).toEqual([
      [false, 0],
      [false, 0],
      [true, 1],
    ]);
  });
});

describe('a failed start', () => {
  const exited = { stopCode: 'EssentialContainerExited' };
  it.each<{ scenario: string; given: Partial<Task>; known?: Known; expected: boolean }>([
    { scenario: 'ECS could not start it', given: {}, known: { status: 'failed' }, expected: true },
    { scenario: 'it exited and no daemon came', given: exited, expected: true },
    {
      scenario: 'it exited and its daemon had come',
      given: exited,
      known: { daemons: [registered(1, 90 * SECOND)] },
      expected: false,
    },
    {
      scenario: 'it exited with 0, and its row is gone',
      given: { ...exited, containers: [{ exitCode: 0 }] },
      expected: false,
    },
    {
      scenario: 'it exited with 0, and then its sidecar was killed',
      given: { ...exited, containers: [AGENT, { name: 'provisioner', exitCode: 0 }] },
      expected: false,
    },
    {
      scenario: 'it exited with 1 after a container for its folders exited with 0',
      given: {
        ...exited,
        containers: [
          { name: 'folders', exitCode: 0 },
          { name: 'provisioner', exitCode: 1 },
        ],
      },
      expected: true,
    },
    {
      scenario: 'ECS could not start it, whatever its containers report',
      given: { containers: [{ exitCode: 0 }] },
      expected: true,
    },
    {
      scenario: 'it exited, and its registration is unknown',
      given: exited,
      known: { status: 'failed' },
      expected: false,
    },
    { scenario: 'ECS stopped it', given: { stopCode: 'ServiceSchedulerInitiated' }, expected: false },
    {
      scenario: 'it exited more than 15 min after it ran, when its row may be gone with its key',
      given: { ...exited, createdAt: ago(18 * MINUTE), startedAt: ago(16 * MINUTE + 1) },
      expected: false,
    },
    {
      scenario: 'it exited 15 min after it ran',
      given: { ...exited, createdAt: ago(18 * MINUTE), startedAt: ago(16 * MINUTE) },
      expected: true,
    },
    {
      scenario: 'ECS stopped it after its daemon had died early',
      given: { stopCode: 'ServiceSchedulerInitiated', containers: [{ exitCode: 77 }] },
      expected: true,
    },
    {
      scenario: 'the same, and its daemon had registered',
      given: { stopCode: 'ServiceSchedulerInitiated', containers: [{ exitCode: 77 }] },
      known: { daemons: [registered(1, 90 * SECOND)] },
      expected: false,
    },
    {
      scenario: 'ECS stopped it with its daemon',
      given: { stopCode: 'ServiceSchedulerInitiated', containers: [{ exitCode: 1 }] },
      expected: false,
    },
    {
      scenario: 'Spot took it',
      given: { stopCode: 'SpotInterruption', containers: [{ exitCode: 1 }] },
      expected: false,
    },
    {
      scenario: 'it could not start and is about to stop',
      given: { lastStatus: 'DEPROVISIONING' },
      expected: true,
    },
    {
      scenario: 'it exited and is about to stop',
      given: { ...exited, lastStatus: 'DEPROVISIONING' },
      expected: false,
    },
  ])('is $expected for $scenario', ({ given, known, expected }) => {
    expect(judge([failed(1, MINUTE, given)], known).recent === 1).toBe(expected);
  });
});

it('trips the breaker when daemons exit with 0 again and again without a drain request', () => {
  const ended = [3, 2, 1].map((minutes) =>
    failed(minutes, minutes * MINUTE, {
      stopCode: 'EssentialContainerExited',
      containers: [{ exitCode: 76 }],
    }),
  );
  expect(judge(ended)).toMatchObject({ isTripped: true, recent: 3 });
});

it('is cleared by a daemon that registered after all failures, not by one before', () => {
  const judged = (msAgo: number) =>
    judge([aTask({ taskArn: arnOf(9), createdAt: ago(msAgo) }), ...three], {
      daemons: [registered(9, msAgo)],
    });
  expect(judged(0)).toMatchObject({ recent: 0, isTripped: false, reason: undefined });
  expect(judged(5 * MINUTE)).toMatchObject({ recent: 3, isTripped: true });
  // they ended 3, 2 and 1 minutes ago
  expect([4, 3, 2, 1].map((minutes) => judged(minutes * MINUTE).count)).toEqual([3, 2, 1, 0]);
});

it('is not cleared by a task without a daemon', () => {
  expect(judge([aTask({ taskArn: arnOf(9), createdAt: NOW }), ...three]).isTripped).toBe(true);
});

describe('the reason of failing starts', () => {
  it('is that of the newest failure for every order', () => {
    expect(judge(three).reason).toBe('reason 3');
    expect(judge(three.toReversed()).reason).toBe('reason 3');
  });

  it('is always the same for two failures at one time', () => {
    const two = [failed(1, MINUTE), failed(2, MINUTE)];
    expect([judge(two).reason, judge(two.toReversed()).reason]).toEqual(['reason 2', 'reason 2']);
  });

  it('is absent without failures', () => expect(judge([]).reason).toBeUndefined());

  it.each<{ scenario: string; given: Partial<Task>; expected: string }>([
    {
      scenario: 'the container gives more detail',
      given: {
        stoppedReason: 'Essential container exited',
        containers: [{ reason: 'OutOfMemory', exitCode: 137 }],
      },
      expected: 'Essential container exited; OutOfMemory; exit code 137',
    },
    {
      scenario: 'the container gives a reason, and never ran',
      given: { stoppedReason: 'Task failed to start', containers: [{ reason: 'CannotPull' }] },
      expected: 'Task failed to start; CannotPull',
    },
    {
      scenario: 'the container gives the same reason',
      given: { stoppedReason: 'CannotPull', containers: [{ reason: 'CannotPull' }] },
      expected: 'CannotPull',
    },
    {
      scenario: 'its sidecar has ended too',
      given: { stoppedReason: '', containers: [AGENT, { name: 'provisioner', exitCode: 2 }] },
      expected: 'exit code 2',
    },
    {
      scenario: 'only another container says what failed',
      given: {
        stoppedReason: 'Task failed to start',
        containers: [{ name: 'provisioner' }, { name: 'logger', reason: 'CannotPullContainerError: 403' }],
      },
      expected: 'Task failed to start; container "logger": CannotPullContainerError: 403',
    },
    {
      scenario: 'the guard reports that its daemon ended by itself',
      given: { stoppedReason: 'Essential container in task exited', containers: [{ exitCode: 76 }] },
      expected:
        'Essential container in task exited; exit code 76: the daemon exited with 0 without a drain request. Check the image and its coder',
    },
    {
      scenario: 'the guard reports that the image lacks a tool',
      given: { stoppedReason: 'Essential container in task exited', containers: [{ exitCode: 78 }] },
      expected:
        'Essential container in task exited; exit code 78: the image lacks curl, sleep, tr or date, which the guard needs. Add it (docs/upgrade.md)',
    },
    {
      scenario: 'there is no reason',
      given: { stoppedReason: undefined },
      expected: 'ECS gives no reason',
    },
  ])('is $expected for $scenario', ({ given, expected }) => {
    expect(judge([failed(1, SECOND, given)]).reason).toBe(expected);
  });
});

describe('a late task', () => {
  /** Three starts of two minutes, an hour ago. */
  const learned = [11, 12, 13].map((index) =>
    aTask({
      taskArn: arnOf(index),
      ...{
        lastStatus: 'STOPPED',
        desiredStatus: 'STOPPED',
        createdAt: ago(HOUR),
        startedAt: ago(HOUR - MINUTE),
      },
      containers: [{ exitCode: 0 }],
    }),
  );
  const daemons = [11, 12, 13].map((index) => registered(index, HOUR - 2 * MINUTE));
  const running = (index: number, createdMsAgo: number, given: Partial<Task> = {}): Task =>
    aTask({
      taskArn: arnOf(index),
      createdAt: ago(createdMsAgo),
      startedAt: ago(createdMsAgo - MINUTE),
      ...given,
    });
  const judged = (tasks: readonly Task[], known: Known = { daemons }) => judge([...learned, ...tasks], known);

  it.each<{ scenario: string; task: Task; known?: Known; leasedS?: number; expected: number }>([
    { scenario: 'it runs for three times a start', task: running(1, 6 * MINUTE), expected: 0 },
    { scenario: 'it runs for longer', task: running(1, 6 * MINUTE + 1), expected: 1 },
    { scenario: 'it has run for 15 min', task: running(1, 16 * MINUTE), expected: 0 },
    { scenario: 'ECS stops it', task: running(1, 8 * MINUTE, { desiredStatus: 'STOPPED' }), expected: 0 },
    { scenario: 'it does not run yet', task: running(1, 8 * MINUTE, { lastStatus: 'PENDING' }), expected: 0 },
    {
      scenario: 'its daemon has registered',
      task: running(1, 8 * MINUTE),
      known: { daemons: [...daemons, registered(1, MINUTE)] },
      expected: 0,
    },
    {
      scenario: 'coderd lists too few daemons',
      task: running(1, 8 * MINUTE),
      known: { daemons, status: 'truncated' },
      expected: 0,
    },
    { scenario: 'no start is known', task: running(1, 8 * MINUTE), known: {}, expected: 0 },
    { scenario: 'it has its lease for two minutes', task: running(1, 5 * MINUTE), leasedS: 120, expected: 0 },
    { scenario: 'it has its lease for longer', task: running(1, 5 * MINUTE), leasedS: 121, expected: 1 },
    {
      scenario: 'it has its lease for longer, and no start is known',
      ...{ task: running(1, 5 * MINUTE), known: {}, leasedS: 121, expected: 1 },
    },
  ])('is a failed start ($expected) if $scenario', ({ task, known, leasedS, expected }) => {
    expect(judged([task], { ...(known ?? { daemons }), leasedS }).recent).toBe(expected);
  });

  it('holds the pool back with two others, and gives no task up', () => {
    const three = [1, 2, 3].map((index) => running(index, (6 + index) * MINUTE));
    expect(judged(three)).toMatchObject({
      isTripped: true,
      keepsEnding: false,
      reason: expect.stringMatching(/do not register/),
    });
    expect(judged(three.slice(1)).isTripped).toBe(false);
  });
});

describe('the pause before a probe', () => {
  const exited = (endedMsAgo: number, given: Partial<Task> = {}): Task =>
    failed(endedMsAgo / SECOND, endedMsAgo, { stopCode: 'EssentialContainerExited', ...given });
  const paused = (...tasks: readonly Task[]) => judge(tasks).isPaused;

  it.each<{ scenario: string; tasks: readonly Task[]; expected: boolean }>([
    { scenario: 'nothing failed', tasks: [], expected: false },
    {
      scenario: 'starts failed for 4 min until 4 min ago',
      tasks: [exited(8 * MINUTE), exited(4 * MINUTE)],
      expected: false,
    },
    {
      scenario: 'starts failed for 4 min until less ago',
      tasks: [exited(8 * MINUTE - SECOND), exited(4 * MINUTE - SECOND)],
      expected: true,
    },
    {
      scenario: 'starts failed for 50 min until 10 min ago',
      tasks: [exited(HOUR), exited(10 * MINUTE)],
      expected: false,
    },
    {
      scenario: 'starts failed for 50 min until less ago',
      tasks: [exited(HOUR), exited(10 * MINUTE - SECOND)],
      expected: true,
    },
    {
      scenario: 'the newest never ran, so ECS itself waits',
      tasks: [exited(HOUR), failed(1, SECOND)],
      expected: false,
    },
    {
      scenario: 'the newest had another revision',
      tasks: [exited(HOUR), exited(SECOND, { taskDefinitionArn: 'cpu:0' })],
      expected: false,
    },
  ])('lasts ($expected) if $scenario', ({ tasks, expected }) => expect(paused(...tasks)).toBe(expected));
});
