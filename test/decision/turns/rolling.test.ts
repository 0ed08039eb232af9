import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { Service, Snapshot, Task } from '../../../lambda/decision/model/snapshot.ts';
import { measure } from '../../../lambda/decision/supply/capacity.ts';
import { deriveSupply } from '../../../lambda/decision/supply/supply.ts';
import { markReplaced } from '../../../lambda/decision/turns/rolling.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aJob,
  aLease,
  anOrganization,
  aPool,
  arnOf,
  aService,
  aSnapshot,
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
import { actionsOf, addFailedStarts, edit, organizationIn, planOf, poolOf } from '../../support/planned.ts';
import { table } from '../../support/table.ts';

/** A task of revision 1 (`old`) or 2, RUNNING for a day. */
type TaskDrawing = {
  readonly old?: true;
  readonly busy?: true;
  /** How many minutes its build has run. */
  readonly builds?: number;
  /** How many minutes it has been idle. */
  readonly idle?: number;
  /** Minutes left on its lease; default 47 h. */
  readonly lease?: number;
  /** Whether coderd has no row of its daemon. */
  readonly isAlone?: true;
  readonly task?: Partial<Task>;
};

function worldOf(tasks: readonly TaskDrawing[], service: Partial<Service> = {}): Snapshot {
  return aSnapshot({
    services: [aService({ desiredCount: tasks.length, taskDefinition: 'cpu:2', ...service })],
    tasks: tasks.map(({ old, task }, index) =>
      aTask({ taskArn: arnOf(index), taskDefinitionArn: old ? 'cpu:1' : 'cpu:2', ...task }),
    ),
    protections: tasks.map(({ lease = 47 * 60 }, index) =>
      aLease({
        taskArn: arnOf(index),
        protectionEnabled: lease > 0,
        expirationDate: ago(-lease * MINUTE),
      }),
    ),
    organizations: [
      anOrganization({
        jobs: reading(
          tasks.flatMap(({ builds }, index) =>
            builds === undefined
              ? []
              : [aJob({ id: jobId(`j${index}`), status: 'running', started_at: ago(builds * MINUTE) })],
          ),
        ),
        daemons: reading(
          tasks.flatMap(({ busy, idle = 1, isAlone }, index) =>
            isAlone
              ? []
              : [
                  aDaemon({
                    id: daemonId(`d${index}`),
                    name: `cpu-${taskIdOf(index)}`,
                    created_at: ago(idle * MINUTE),
                    status: busy ? 'busy' : 'idle',
                    current_job: busy ? { id: jobId(`j${index}`), status: 'running' } : null,
                  }),
                ],
          ),
        ),
      }),
    ],
  });
}

/** The tasks whose turn it is, by index in the list. */
function turns(
  tasks: readonly TaskDrawing[],
  percent = 25,
  service: Partial<Service> = {},
  coder: Partial<Snapshot['coder']> = {},
): readonly number[] {
  const world = worldOf(tasks, service);
  const [view] = deriveSupply({ ...world, coder: { ...world.coder, ...coder } }, aConfig(aPool()));
  if (view === undefined) throw new Error('no pool');
  return markReplaced(view, percent, NOW).tasks.flatMap(({ state, task }) =>
    state === 'replacing' ? [tasks.findIndex((_, index) => arnOf(index) === task.taskArn)] : [],
  );
}

const old = (given: Omit<TaskDrawing, 'old'> = {}): TaskDrawing => ({ old: true, ...given });
const many = (count: number, drawn: TaskDrawing): readonly TaskDrawing[] =>
  Array<TaskDrawing>(count).fill(drawn);

/** A task without lease and daemon. */
const unleased = (task: Partial<Task>): TaskDrawing => ({ lease: 0, isAlone: true, task });
const GIVEN_UP: Partial<Task> = {
  ...{ lastStatus: 'STOPPED', desiredStatus: 'STOPPED', stopCode: 'ServiceSchedulerInitiated' },
  ...{ startedAt: ago(2 * HOUR), stoppedAt: ago(59 * MINUTE) },
};
const startedByBoth: readonly TaskDrawing[] = [{ task: { startedBy: 'a' } }, { task: { startedBy: 'b' } }];
const deploying = (primary: string, ...active: readonly string[]): Partial<Service> => ({
  deployments: [{ id: primary, status: 'PRIMARY' }, ...active.map((id) => ({ id, status: 'ACTIVE' }))],
});

const withEarlySuccess = { deploymentConfiguration: { earlySuccessCriteria: { enable: true } } };

type TurnRow = {
  readonly tasks: readonly TaskDrawing[];
  readonly percent?: number;
  readonly service?: Partial<Service>;
  readonly expected: string;
  readonly because: string;
};

describe('the turn to be replaced', () => {
  it.each(table<TurnRow>`
    tasks                                                         | percent | service                | expected | because
    ${[{}, {}]}                                                   |         |                        | none     | no task has to be replaced
    ${[{}, old()]}                                                |         |                        | 1        | at least one at a time
    ${many(8, old())}                                             |         |                        | 0 1      | 25 % of eight are two
    ${many(9, old())}                                             |         |                        | 0 1 2    | a share is rounded up
    ${many(3, old())}                                             | 100     |                        | 0 1 2    | all at once is allowed
    ${[old({ busy: true }), old({ idle: 5 }), old({ idle: 20 })]} |         |                        | 2        | idle ones first, the longest idle of them
    ${[old({ busy: true })]}                                      |         |                        | 0        | they finish first
    ${[old(), old(), unleased({ startedAt: ago(SECOND) })]}       |         |                        | none     | the share before is not settled
    ${[old(), old(), unleased({ lastStatus: 'PENDING', startedAt: undefined })]} |         |                        | none     | the share before is not settled
    ${[old(), old()]}                                             |         | ${{ desiredCount: 3 }} | none     | the share before is not settled
    ${[old(), old(), { isAlone: true, task: { startedAt: ago(MINUTE) } }]} |         |                        | none     | the share before is not settled
    ${[old(), old(), unleased({ startedAt: ago(2 * MINUTE) })]}   |         |                        | 0        | ECS may refuse the lease while old tasks hold theirs
    ${[old(), old({ busy: true }), unleased({ startedAt: ago(2 * MINUTE) })]} |    |                        | 1        | an idle one may serve a job while an old build holds the deployment open
    ${[old({ busy: true, builds: 10 }), old({ busy: true }), unleased({ startedAt: ago(2 * MINUTE) })]} |  |  | none     | while one build has run for long, the others serve jobs
    ${[old({ busy: true, builds: 9 }), old({ busy: true }), unleased({ startedAt: ago(2 * MINUTE) })]} |  |  | 0        | no old build has run for long
    ${[old({ busy: true, builds: 10 }), old(), {}, unleased({ startedAt: ago(2 * MINUTE) })]} |     |                        | 1        | another new task has its lease
    ${[old({ busy: true }), old(), unleased(GIVEN_UP)]}           |         |                        | 0        | a new task was given up in the last hour
    ${[old({ busy: true }), old(), unleased({ ...GIVEN_UP, stoppedAt: ago(HOUR) })]}  |  | ${{ desiredCount: 2 }} | 1        | the last one was given up an hour ago
    ${[old({ busy: true }), old(), unleased({ ...GIVEN_UP, startedAt: ago(61 * MINUTE) })]} |  | ${{ desiredCount: 2 }} | 0 | the one that was given up had waited for its lease for two minutes
    ${[old({ busy: true }), old(), unleased({ ...GIVEN_UP, startedAt: ago(61 * MINUTE - 1) })]} |  | ${{ desiredCount: 2 }} | 1 | it had not waited for so long: ECS may have been about to give it one
    ${[old({ busy: true }), old(), unleased({ ...GIVEN_UP, containers: [{ name: 'provisioner', exitCode: 1 }] })]} |  | ${{ desiredCount: 2 }} | 1 | its daemon had ended by itself
    ${[old(), old(), old({ lease: 23 * 60 - 0.5, busy: true })]}  |         |                        | none     | shares come a minute apart
    ${[old(), old(), old({ lease: 23 * 60 - 1, busy: true })]}    |         |                        | 0        | a task that drains for a long build does not delay others
    ${startedByBoth}                                              |         | ${deploying('b', 'a')} | 0        | ECS waits for the tasks of the older deployment
    ${startedByBoth}                                              |         | ${deploying('b')}      | none     | a rollback leaves tasks of several deployments behind
    ${startedByBoth}                                              |         | ${{ ...deploying('b'), ...withEarlySuccess }} | 0        | ECS removes the tasks of the older deployment in the background
    ${[{}, { task: { startedBy: 'b' } }]}                         |         | ${deploying('b', 'a')} | none     | neither is known to be older
    ${startedByBoth}                                              |         | ${{ deployments: deploying('', 'a', 'b').deployments?.slice(1) }} | none | no deployment is the primary one
    ${[old({ lease: 22 * 60, busy: true })]}                      |         |                        | none     | it has a drain request
  `)('comes for $expected, because $because', ({ tasks, percent, service, expected }) => {
    expect(turns(tasks, percent, service).join(' ') || 'none').toBe(String(expected));
  });

  it('comes at once for all tasks whose daemons coderd refused', () => {
    expect(turns(many(8, { isAlone: true }), 25, {}, { unlicensedAt: NOW })).toHaveLength(8);
  });

  it('comes first for useless tasks, then for old ones', () => {
    expect(turns([old({ idle: 60 }), { isAlone: true }, old()], 34)).toEqual([0, 1]);
    expect(turns([old({ idle: 60 }), { isAlone: true }, old()], 1)).toEqual([1]);
  });
});

it('gives up a new task that waits for its lease behind old ones, and says so', () => {
  const snapshot = worldOf(
    [old({ busy: true, builds: 20 }), unleased({ startedAt: ago(2 * MINUTE), startedBy: 'b' })],
    deploying('b', 'a'),
  );
  const { actions, findings } = decide(snapshot, aConfig(aPool()));
  expect(actions).toMatchObject([{ kind: 'set-desired', from: 2, to: 1, why: 'starts-failing' }]);
  expect(findings).toMatchObject([
    { code: 'starts-failing', reason: expect.stringMatching(/old tasks hold/) },
  ]);
});

describe('tasks of earlier deployments', () => {
  const earlier = { task: { startedBy: 'a', taskDefinitionArn: 'cpu:1' } };
  const recent = { task: { startedBy: 'b' } };
  const primary = { id: 'b', status: 'PRIMARY', rolloutState: 'COMPLETED' };

  it.each(table<{
    tasks: readonly TaskDrawing[];
    service: Partial<Service>;
    older: string;
    scenario: string;
  }>`
    tasks                        | service                | older          | scenario
    ${[earlier, recent]}         | ${{ desiredCount: 2 }} | 1, 0 uncounted | as many tasks as desired
    ${[earlier, recent]}         | ${{ desiredCount: 1 }} | 1, 1 uncounted | more tasks than desired
    ${[earlier, recent, recent]} | ${{ desiredCount: 1 }} | 1, 0 uncounted | more new tasks alone than desired, after somebody lowered the count
    ${[earlier, recent]}         | ${{ desiredCount: 1, deployments: [{ ...primary, rolloutState: 'IN_PROGRESS' }] }} | 1, 0 uncounted | more tasks than desired during the deployment
    ${[earlier, recent]}         | ${{ desiredCount: 1, deployments: [{ ...primary, rolloutState: 'IN_PROGRESS' }], ...withEarlySuccess }} | 1, 1 uncounted | more tasks than desired during the next deployment
    ${[{ task: { startedBy: 'a' } }, recent]} | ${{ desiredCount: 1 }} | 0, 0 uncounted | tasks of the same revision that a rollback left
  `)('with $scenario are $older', ({ tasks, service, older }) => {
    const snapshot = worldOf(tasks, { deployments: [primary], ...service });
    const [view] = deriveSupply(snapshot, aConfig(aPool()));
    const { older: count, uncounted } = (view && measure(view)) ?? {};
    expect(`${count}, ${uncounted} uncounted`).toBe(older);
  });
});

it.each(table<{ desiredCount: number; asked: string; because: string }>`
  desiredCount | asked     | because
  ${1}         | ${'task 0'} | ECS may not count the old task, so its replacement may have to wait until it has left
  ${2}         | ${'none'}   | ECS counts the old task, so its replacement comes first
`)('asks $asked of an old and a new task to drain at min 2 and count $desiredCount: $because', (row) => {
  const primary = { id: 'b', status: 'PRIMARY', rolloutState: 'COMPLETED' };
  const { desiredCount } = row;
  const snapshot = worldOf([old({ task: { startedBy: 'a' } }), { task: { startedBy: 'b' } }], {
    ...{ desiredCount, deployments: [primary] },
  });
  const asked = decide(snapshot, aConfig(aPool({ min: 2 }))).actions.flatMap((action) =>
    action.kind === 'ask-to-leave' ? `task ${[0, 1].find((index) => arnOf(index) === action.task)}` : [],
  );
  expect(asked.join() || 'none').toBe(row.asked);
});

describe('a useless task', () => {
  const silentFor = (ms: number, startedAt = ago(24 * HOUR)) => {
    const snapshot = worldOf([{ task: { startedAt } }, {}]);
    const [row] = snapshot.coder.organizations[0]?.daemons.items ?? [];
    if (row !== undefined) Object.assign(row, { last_seen_at: ago(ms) });
    const [view] = deriveSupply(snapshot, aConfig(aPool()));
    return view && markReplaced(view, 25, NOW).tasks[0]?.state;
  };

  it('has a daemon that was last seen more than 5 min ago', () => {
    expect(silentFor(5 * MINUTE)).toBe('working');
    expect(silentFor(5 * MINUTE + 1)).toBe('replacing');
  });

  it('is not one that may still boot', () => {
    expect(silentFor(6 * MINUTE, ago(15 * MINUTE - 1))).toBe('working');
    expect(silentFor(6 * MINUTE, ago(15 * MINUTE))).toBe('replacing');
  });
});

describe('rolling in the plan', () => {
  const toSecond = (count: number) => (snapshot: Parameters<typeof organizationIn>[0]) => {
    edit(snapshot.ecs.services.items, 0, { taskDefinition: 'cpu:2' });
    for (const index of snapshot.ecs.tasks.items.keys())
      edit(snapshot.ecs.tasks.items, index, { taskDefinitionArn: index < count ? 'cpu:1' : 'cpu:2' });
  };

  it('launches the replacement first', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m I1m', min: 2 } } }, toSecond(2));
    expect(actionsOf(plan)).toEqual(['cpu 2->3 floor']);
    expect(poolOf(plan, 'cpu').why).toContainEqual({ code: 'old-revision', tasks: 2, asked: 0 });
  });

  it('drains the old task once its replacement exists', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m I1m I1m', min: 2 } } }, toSecond(2));
    expect(actionsOf(plan)).toEqual(['ask cpu#1']);
    expect(plan.actions).toMatchObject([{ why: 'old-revision' }]);
    expect(poolOf(plan, 'cpu').why).toContainEqual({ code: 'old-revision', tasks: 2, asked: 1 });
    expect(poolOf(plan, 'cpu').daemons).toMatchObject({ idle: 3, leaving: 0 });
  });

  it('drains a busy task at once if it needs no replacement', () => {
    expect(actionsOf(planOf({ pools: { cpu: { tasks: 'B' } } }, toSecond(1)))).toEqual(['ask cpu#0']);
  });

  it('lets tasks that are replaced exceed max', () => {
    expect(actionsOf(planOf({ pools: { cpu: { tasks: 'B', min: 1, max: 1 } } }, toSecond(1)))).toEqual([
      'cpu 1->2 floor',
    ]);
  });

  it('drains old tasks first if maxTasks leaves no room', () => {
    const picture = { pools: { cpu: { tasks: 'I1m I1m', min: 2 } }, maxTasks: 2 };
    expect(actionsOf(planOf(picture, toSecond(2)))).toEqual(['ask cpu#1']);
  });

  it('drains nothing while new tasks fail to start, except for lack of a lease', () => {
    const failing = (exitCode?: number) => (snapshot: Parameters<typeof organizationIn>[0]) => {
      toSecond(2)(snapshot);
      addFailedStarts(snapshot, 'cpu', 3);
      for (const task of snapshot.ecs.tasks.items.filter(({ lastStatus }) => lastStatus === 'STOPPED'))
        Object.assign(task, {
          ...(exitCode === undefined ? {} : { stopCode: 'EssentialContainerExited' }),
          containers: exitCode === undefined ? [] : [{ exitCode }],
        });
    };
    const picture = { pools: { cpu: { tasks: 'I1m I1m' } } };
    expect(actionsOf(planOf(picture, failing()))).toEqual([]);
    expect(actionsOf(planOf(picture, failing(1)))).toEqual([]);
    expect(actionsOf(planOf(picture, failing(75)))).toEqual(['ask cpu#1']);
  });

  it('drains and launches nothing with doubts', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m I1m', min: 2 } } }, (snapshot) => {
      toSecond(2)(snapshot);
      organizationIn(snapshot).jobs.status = 'truncated';
    });
    expect(plan.actions).toEqual([]);
    expect(poolOf(plan, 'cpu').why).toEqual([
      { code: 'floor', count: 2, from: 'min' },
      { code: 'holding-for-doubt', doubts: ['jobs-truncated'] },
    ]);
  });

  it('waits while a task has no lease', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m I1m U1m' } } }, toSecond(2));
    expect(plan.actions).toEqual([]);
    expect(poolOf(plan, 'cpu').why).toContainEqual({ code: 'holding-for-unguarded', tasks: 1 });
  });

  it('drains a leased task without a daemon, and does not count it for a floor', () => {
    const withoutDaemon = planOf({ pools: { cpu: { tasks: 'Z', min: 1 } } }, (snapshot) => {
      edit(snapshot.ecs.tasks.items, 0, { startedAt: new Date(Date.parse(snapshot.takenAt) - 16 * 60_000) });
      // a daemon outside the autoscaler, so that the list is not empty
      organizationIn(snapshot).daemons.items.push({
        id: 'other',
        name: 'coderd-0',
        organization_id: organizationIn(snapshot).id,
        created_at: snapshot.takenAt,
        last_seen_at: snapshot.takenAt,
        tags: { x: '1' },
        status: 'idle',
      });
    });
    expect(actionsOf(withoutDaemon)).toEqual(['cpu 1->2 floor']);
    expect(poolOf(withoutDaemon, 'cpu').why).toContainEqual({ code: 'no-daemon', tasks: 1, asked: 0 });
  });

  it('drains a daemon with a wrong key once its replacement exists', () => {
    const gpu = { cluster: 'gpu' };
    const plan = planOf({ pools: { cpu: { tasks: 'I1m I1m', tags: gpu, min: 1 } } }, (snapshot) =>
      edit(organizationIn(snapshot).daemons.items, 0, { tags: { scope: 'organization', owner: '' } }),
    );
    expect(plan.actions).toMatchObject([{ kind: 'ask-to-leave', why: 'wrong-key' }]);
  });

  it.each([
    {
      tasks: 'Z',
      min: 1,
      minutes: 59,
      expected: ['cpu 1->2 floor'],
      because: 'one more may prove that the others have none',
    },
    { tasks: 'Z Z', min: 1, minutes: 59, expected: [], because: 'one more is there already' },
    { tasks: 'Z Z', min: 0, minutes: 59, expected: [], because: 'no task is wanted' },
  ])('with tasks $tasks at min $min and no daemon listed gives $expected, because $because', (row) => {
    const plan = planOf({ pools: { cpu: { tasks: row.tasks, min: row.min } } }, (snapshot) => {
      const startedAt = new Date(Date.parse(snapshot.takenAt) - row.minutes * 60_000).toISOString();
      for (const index of snapshot.ecs.tasks.items.keys())
        edit(snapshot.ecs.tasks.items, index, { startedAt, createdAt: startedAt });
    });
    expect(actionsOf(plan)).toEqual(row.expected);
    expect(plan.findings).toMatchObject([
      { code: 'daemons-empty-while-leased' },
      { code: 'tasks-without-daemon' },
    ]);
    const beside = poolOf(plan, 'cpu').why.filter(({ code }) => code === 'launching-beside-unseen');
    expect(beside).toEqual(row.expected.map(() => ({ code: 'launching-beside-unseen', tasks: 1 })));
  });

  it('does not wait for new tasks that get no lease', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m I1m P N' } } }, (snapshot) => {
      toSecond(2)(snapshot);
      addFailedStarts(snapshot, 'cpu', 3);
      for (const task of snapshot.ecs.tasks.items.filter(({ lastStatus }) => lastStatus === 'STOPPED'))
        Object.assign(task, { stopCode: 'EssentialContainerExited', containers: [{ exitCode: 75 }] });
    });
    // the count stays for two minutes: the one that runs may still get its lease
    expect(plan.actions).toMatchObject([{ kind: 'ask-to-leave', why: 'old-revision' }]);
  });

  it('keeps a spare task while ECS deploys, because ECS would start another one', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I20m B', deploying: true } } });
    expect(plan.actions).toEqual([]);
    expect(poolOf(plan, 'cpu').why).toEqual([{ code: 'holding-for-deployment' }]);
    expect(actionsOf(planOf({ pools: { cpu: { tasks: 'I20m B' } } }))).toEqual(['ask cpu#0']);
  });
});
