/** Rungs `confirm` and `never`: tasks without a guard, which the autoscaler itself protects. */
import { describe, expect, it } from 'vitest';
import type { ScaleIn } from '../../../lambda/decision/model/config.ts';
import type { Plan } from '../../../lambda/decision/model/plan.ts';
import { taskArn } from '../../support/picture.ts';
import {
  addFailedStarts,
  type Change,
  edit,
  inWords,
  organizationIn,
  planOf,
  poolOf,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

/** Minutes of protection of each task, 0 for none. */
function drawn(
  tasks: string,
  minutes: readonly number[],
  { rung = 'confirm' as ScaleIn, min = 0, desired = -1 } = {},
  further: Change = () => {},
): Plan {
  const change: Change = (snapshot, config) => {
    further(snapshot, config);
    edit((config as { pools: object[] }).pools, 0, { scaleIn: rung });
    if (desired >= 0) edit(snapshot.ecs.services.items, 0, { desiredCount: desired });
    for (const [index, left] of minutes.entries())
      edit(snapshot.ecs.protections.items, index, {
        protectionEnabled: left > 0,
        expirationDate: new Date(Date.parse(snapshot.takenAt) + left * 60_000).toISOString(),
      });
  };
  return planOf({ pools: { cpu: { tasks, min } } }, change);
}

/** `protect 1 may-hold-a-job`, `2 -> 1 stopping 0`. */
function taskActionsOf({ actions }: Plan): readonly string[] {
  const indexOf = (arn: string): number =>
    [...Array(9).keys()].find((index) => taskArn('cpu', index) === arn) ?? -1;
  return actions.map((action) =>
    action.kind === 'set-desired'
      ? `${action.from} -> ${action.to} stopping ${(action.stops ?? []).map(indexOf).join(' ') || 'none'}`
      : `${action.kind} ${indexOf(action.task)} ${action.why}`,
  );
}

type RungRow = {
  readonly tasks: string;
  /** The minutes of protection left of each task. */
  readonly minutes: string;
  readonly desired?: number;
  readonly min?: number;
  readonly expected: string;
  readonly because: string;
};

describe('rung confirm', () => {
  it.each(table<RungRow>`
    tasks      | minutes | expected                 | because
    B          | '0'     | protect 0 may-hold-a-job | a build has no other guard
    B          | '20'    | nothing                  | it is protected for long enough
    B          | '19'    | protect 0 may-hold-a-job | it is time to renew
    I1m        | '0'     | nothing                  | no task has to stop, so none needs protection
    I20m       | '0'     | 1 -> 0 stopping 0        | ECS has no other choice
    I20m       | '12'    | nothing                  | the autoscaler never removes a protection
    I20m I1m   | 0 0     | protect 1 is-to-stay     | ECS could choose the other one
    I20m I1m   | 0 120   | 2 -> 1 stopping 0        | only a guard sets a longer one
    I20m I1m B | 0 25 25 | 3 -> 2 stopping 0        | all others are protected
    I20m B     | 0 4     | protect 1 may-hold-a-job | its protection could end meanwhile
    I20m N     | 0 0     | nothing                  | a task that starts could get a job
  `)(
    'with tasks $tasks and $minutes min of protection gives $expected, because $because',
    ({ tasks, minutes, expected }) => {
      expect(inWords(taskActionsOf(drawn(tasks, minutes.split(' ').map(Number))))).toBe(expected);
    },
  );

  it('reports the rung, and what the pool waits for', () => {
    const pool = poolOf(drawn('I20m I20m B', [0, 25, 0]), 'cpu');
    expect(pool.scaleIn).toBe('confirm');
    expect(pool.why).toEqual([
      { code: 'holding-for-protection', tasks: 1 },
      { code: 'protecting', tasks: 1 },
      { code: 'stopping-after-confirmation', tasks: 1, unprotected: 1 },
    ]);
  });

  it('holds nothing for a deployment while no task is idle for long enough', () => {
    const deploying: Change = ({ ecs }) =>
      edit(ecs.services.items, 0, { deployments: [{ id: 'a', rolloutState: 'IN_PROGRESS' }] });
    expect(poolOf(drawn('I1m', [25], {}, deploying), 'cpu').why).toEqual([
      { code: 'idle-too-briefly', tasks: 1 },
    ]);
  });

  it('reports that idle tasks wait for a draining task', () => {
    const plan = drawn('I20m L', [0, 22 * 60]);
    expect(plan.actions).toEqual([]);
    expect(poolOf(plan, 'cpu').why).toEqual([{ code: 'holding-for-leaving', tasks: 1 }]);
  });

  it('protects tasks and lowers no count with doubts', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I20m B' } } }, (snapshot, config) => {
      edit((config as { pools: object[] }).pools, 0, { scaleIn: 'confirm' });
      for (const index of [0, 1]) edit(snapshot.ecs.protections.items, index, { protectionEnabled: false });
      organizationIn(snapshot).jobs.status = 'truncated';
    });
    expect(taskActionsOf(plan)).toEqual(['protect 1 may-hold-a-job']);
  });

  it('keeps min', () => {
    expect(taskActionsOf(drawn('I20m I30m', [0, 0], { min: 1 }))).toEqual(['protect 0 is-to-stay']);
    expect(taskActionsOf(drawn('I20m I30m', [0, 0], { min: 2 }))).toEqual([]);
  });
});

it.each<{ name: string; change: Change; expected: readonly string[] }>([
  {
    name: 'during a deployment no task is stopped, and idle tasks are not protected against it',
    change: ({ ecs }) =>
      edit(ecs.services.items, 0, { deployments: [{ id: 'a', rolloutState: 'IN_PROGRESS' }] }),
    expected: ['holding-for-deployment'],
  },
  {
    name: 'tasks that ECS is stopping stay so',
    change: ({ ecs }) => edit(ecs.services.items, 0, { desiredCount: 1 }),
    expected: ['idle-too-briefly'],
  },
])('with rung confirm, $name', ({ change, expected }) => {
  const plan = planOf({ pools: { cpu: { tasks: 'I20m I1m' } } }, (snapshot, config) => {
    edit((config as { pools: object[] }).pools, 0, { scaleIn: 'confirm' });
    for (const index of [0, 1]) edit(snapshot.ecs.protections.items, index, { protectionEnabled: false });
    change(snapshot, config);
  });
  expect(plan.actions).toEqual([]);
  expect(poolOf(plan, 'cpu').why.map(({ code }) => code)).toEqual(expect.arrayContaining([...expected]));
});

describe('rung confirm with a count below the tasks', () => {
  it.each(table<RungRow>`
    tasks       | minutes | desired | min | expected                                       | because
    I20m B      | 0 25    | 1       |     | nothing                                        | ECS stops the unprotected one
    I20m B      | 25 25   | 1       |     | 1 -> 2 stopping none                           | ECS can stop none of them
    B B         | 0 25    | 1       |     | 1 -> 2 stopping none, protect 0 may-hold-a-job | ECS would stop one that is busy
    I20m I20m B | 0 0 25  | 0       |     | 0 -> 3 stopping none                           | more tasks have to stop than are unprotected
    I20m I1m    | 0 0     | 1       | 2   | 1 -> 2 stopping none                           | both are wanted
    I20m I1m    | 0 0     | 1       | 1   | nothing                                        | one is wanted, and one stops
  `)(
    'with tasks $tasks, $desired desired and $minutes min of protection gives $expected, because $because',
    (row) => {
      const { tasks, minutes, desired = 0, min = 0 } = row;
      const plan = drawn(tasks, minutes.split(' ').map(Number), { min, desired });
      expect(inWords(taskActionsOf(plan))).toBe(row.expected);
    },
  );
});

it('rung confirm stops no task with doubts, and reports starting tasks', () => {
  const doubtful = planOf({ pools: { cpu: { tasks: 'I20m' } } }, (snapshot, config) => {
    edit((config as { pools: object[] }).pools, 0, { scaleIn: 'confirm' });
    edit(snapshot.ecs.protections.items, 0, { protectionEnabled: false });
    organizationIn(snapshot).jobs.status = 'truncated';
  });
  expect(doubtful.actions).toEqual([]);
  expect(poolOf(drawn('I20m N', [0, 0]), 'cpu').why).toEqual([{ code: 'holding-for-starting', tasks: 1 }]);
});

describe('a pool whose rung was changed', () => {
  it('drains guarded tasks a share at a time after a change to confirm', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m B L' } } }, (snapshot, config) => {
      edit((config as { pools: object[] }).pools, 0, { scaleIn: 'confirm' });
      edit(snapshot.ecs.services.items, 0, { taskDefinition: 'cpu:2' });
    });
    expect(taskActionsOf(plan)).toEqual(['ask-to-leave 0 old-revision']);
    expect(poolOf(plan, 'cpu').daemons.leaving).toBe(1);
  });

  it('protects busy tasks without a guard until their builds end after a change to lease', () => {
    const minutes = (left: number): Plan =>
      planOf({ pools: { cpu: { tasks: 'B' } } }, ({ ecs, takenAt }) =>
        edit(ecs.protections.items, 0, {
          expirationDate: new Date(Date.parse(takenAt) + left * 60_000).toISOString(),
        }),
      );
    expect(taskActionsOf(minutes(19))).toEqual(['protect 0 may-hold-a-job']);
    expect(taskActionsOf(minutes(20))).toEqual([]);
  });
});

describe('a task that ECS cannot start', () => {
  const desiring = (minutes: readonly number[], rung: ScaleIn) =>
    drawn('I1m B', minutes, { rung, desired: 5 }, (snapshot) => addFailedStarts(snapshot, 'cpu', 4));

  it.each<ScaleIn>(['confirm', 'never'])(
    'is given up after a second look while all tasks are protected, with rung %s',
    (rung) => {
      const { actions } = desiring([25, 25], rung);
      expect(actions).toEqual([
        expect.objectContaining({ kind: 'set-desired', from: 5, to: 2, why: 'starts-failing', stops: [] }),
      ]);
    },
  );

  it('stays desired while a task is not protected, because ECS could stop that task', () => {
    expect(desiring([0, 25], 'confirm').actions).toEqual([]);
  });

  it('is given up together with a spare daemon once all other tasks are protected', () => {
    const plan = drawn('I20m B', [0, 25], { desired: 5 }, (snapshot) => addFailedStarts(snapshot, 'cpu', 4));
    expect(plan.actions).toEqual([
      expect.objectContaining({ kind: 'set-desired', from: 5, to: 1, why: 'stopping-after-confirmation' }),
    ]);
  });
});

describe('rung never', () => {
  it('protects tasks that may hold a job, and lowers no count', () => {
    const plan = drawn('I20m B', [0, 0], { rung: 'never' });
    expect(taskActionsOf(plan)).toEqual(['protect 1 may-hold-a-job']);
    expect(poolOf(plan, 'cpu').why).toEqual([
      { code: 'never-scaled-in', tasks: 1 },
      { code: 'protecting', tasks: 1 },
    ]);
  });
});
