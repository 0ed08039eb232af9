import { describe, expect, it } from 'vitest';
import { decideCount } from '../../../lambda/decision/drain/counts.ts';
import type { Service } from '../../../lambda/decision/model/snapshot.ts';
import type { Capacity } from '../../../lambda/decision/supply/capacity.ts';
import { aService } from '../../support/parts.ts';

type Row = {
  readonly scenario: string;
  readonly from: number;
  readonly there?: Partial<Capacity>;
  readonly wanted: number;
  readonly max?: number;
  readonly doubt?: true;
  readonly deployments?: Service['deployments'];
  readonly expected: string;
  readonly because: string;
};

function capacityOf(given: Partial<Capacity>): Capacity {
  const counts = {
    working: 0,
    starting: 0,
    unguarded: 0,
    leaving: 0,
    left: 0,
    vacant: 0,
    missing: 0,
    older: 0,
    uncounted: 0,
    ...given,
  };
  return {
    total: counts.working + counts.starting + counts.unguarded,
    inUse: 0,
    exposed: 0,
    isHeldBack: false,
    ...counts,
  };
}

/** The count and its reasons as text: `3`, `2 holding-for-starting`. */
function decide({ from, there = {}, wanted, max = 20, doubt, deployments }: Row): string {
  const { to, why } = decideCount({
    service: aService({ desiredCount: from, ...(deployments === undefined ? {} : { deployments }) }),
    capacity: capacityOf(there),
    wanted,
    max,
    doubts: doubt ? ['jobs-failed'] : [],
  });
  const reasons = why.map((reason) => `${reason.code}${'tasks' in reason ? `(${reason.tasks})` : ''}`);
  return [to, ...reasons].join(' ');
}

const rising: readonly Row[] = [
  {
    scenario: '2 work, 3 wanted',
    from: 2,
    there: { working: 2 },
    wanted: 3,
    expected: '3',
    because: 'one more is wanted',
  },
  {
    scenario: '1 works, 1 leaves, 1 has left, 2 wanted',
    from: 3,
    there: { working: 1, leaving: 1, left: 1 },
    wanted: 2,
    expected: '4',
    because: 'those that leave and have left still fill places',
  },
  {
    scenario: 'in doubt',
    from: 2,
    there: { working: 2 },
    wanted: 3,
    doubt: true,
    expected: '3',
    because: 'doubt does not hold scale-out',
  },
  {
    scenario: 'while deploying',
    from: 2,
    there: { working: 2 },
    wanted: 3,
    deployments: [{}, {}],
    expected: '3',
    because: 'nor does a deployment',
  },
  {
    scenario: 'desired already',
    from: 3,
    there: { working: 2 },
    wanted: 3,
    expected: '3',
    because: 'setting the same count twice launches nothing twice',
  },
];

const tooLow: readonly Row[] = [
  {
    scenario: '2 work, 1 desired',
    from: 1,
    there: { working: 2 },
    wanted: 0,
    expected: '2 count-below-tasks(2)',
    because: 'ECS would choose a task to stop',
  },
  {
    scenario: '1 works, 1 leaves, 1 desired, in doubt',
    from: 1,
    there: { working: 1, leaving: 1 },
    wanted: 1,
    doubt: true,
    expected: '2 count-below-tasks(2)',
    because: 'a draining task has not left',
  },
  {
    scenario: '1 works, 1 has left, 1 desired',
    from: 1,
    there: { working: 1, left: 1 },
    wanted: 1,
    expected: '1',
    because: 'ECS may stop a task that has left',
  },
];

const falling: readonly Row[] = [
  {
    scenario: '1 works, 1 has left',
    from: 2,
    there: { working: 1, left: 1 },
    wanted: 1,
    expected: '1 tasks-left(1)',
    because: 'the count follows',
  },
  {
    scenario: '1 leaves, 1 has left',
    from: 2,
    there: { leaving: 1, left: 1 },
    wanted: 0,
    expected: '1 tasks-left(1)',
    because: 'a draining task has not left',
  },
  {
    scenario: 'in doubt',
    from: 2,
    there: { working: 1, left: 1 },
    wanted: 1,
    doubt: true,
    expected: '2 holding-for-doubt',
    because: 'doubt never scales in',
  },
  {
    scenario: 'during a rollout',
    from: 2,
    there: { working: 1, left: 1 },
    wanted: 1,
    deployments: [{ rolloutState: 'IN_PROGRESS' }],
    expected: '2 holding-for-deployment',
    because: 'a deployment chooses the tasks that it stops',
  },
  {
    scenario: '1 works, 3 desired, none wanted beyond it, during a rollout',
    from: 3,
    there: { working: 1 },
    wanted: 1,
    deployments: [{ rolloutState: 'IN_PROGRESS' }],
    expected: '3 holding-for-deployment',
    because: 'whatever is not there may be on its way',
  },
  {
    scenario: 'the same with failing starts',
    from: 3,
    there: { working: 1, isHeldBack: true },
    wanted: 1,
    deployments: [{ rolloutState: 'IN_PROGRESS' }],
    expected: '1',
    because: 'missing tasks will not come',
  },
  {
    scenario: '1 works, 1 has left, with failing starts',
    from: 2,
    there: { working: 1, left: 1, isHeldBack: true },
    wanted: 1,
    expected: '1 tasks-left(1)',
    because: 'the count follows there too',
  },
  {
    scenario: 'between two deployments',
    from: 2,
    there: { working: 1, left: 1 },
    wanted: 1,
    deployments: [{ rolloutState: 'COMPLETED' }, { rolloutState: 'COMPLETED' }],
    expected: '2 holding-for-deployment',
    because: 'the older one still has tasks',
  },
  {
    scenario: 'both',
    from: 2,
    there: { working: 1, left: 1 },
    wanted: 1,
    doubt: true,
    deployments: [{ rolloutState: 'IN_PROGRESS' }],
    expected: '2 holding-for-deployment holding-for-doubt',
    because: 'each one is reported',
  },
  {
    scenario: 'no deployment',
    from: 2,
    there: { working: 1, left: 1 },
    wanted: 1,
    deployments: [],
    expected: '1 tasks-left(1)',
    because: 'none is in progress',
  },
  {
    scenario: '1 starts, 1 has left',
    from: 2,
    there: { starting: 1, left: 1 },
    wanted: 1,
    expected: '2 holding-for-starting(1)',
    because: 'ECS could choose the one without a lease',
  },
  {
    scenario: '1 unguarded, 1 has left',
    from: 2,
    there: { unguarded: 1, left: 1 },
    wanted: 1,
    expected: '2 holding-for-unguarded(1)',
    because: 'ECS could choose the one without a lease',
  },
  {
    scenario: '1 starts, 1 unguarded, 1 has left',
    from: 3,
    there: { starting: 1, unguarded: 1, left: 1 },
    wanted: 2,
    expected: '3 holding-for-starting(1) holding-for-unguarded(1)',
    because: 'each one is reported',
  },
  {
    scenario: '3 desired that never came, none wanted, starts failing',
    from: 3,
    there: { missing: 0 },
    wanted: 0,
    expected: '0',
    because: 'ECS is not to go on trying',
  },
  {
    scenario: '1 is unguarded, 3 desired that do not come, none wanted',
    from: 3,
    there: { unguarded: 1, exposed: 1, isHeldBack: true },
    wanted: 0,
    expected: '3 holding-for-unguarded(1)',
    because: 'ECS may start the two before the count is lowered, and stop the one that may hold a job',
  },
  {
    scenario: '1 runs and has no lease yet, 3 desired that do not come',
    from: 3,
    there: { starting: 1, exposed: 1, isHeldBack: true },
    wanted: 0,
    expected: '3 holding-for-starting(1)',
    because: 'it may have a daemon by the time that the count is lowered',
  },
  {
    scenario: '1 works, 3 desired, a probe wanted',
    from: 3,
    there: { working: 1 },
    wanted: 2,
    expected: '2',
    because: 'more than the existing tasks and one probe would only fail to start',
  },
  {
    scenario: 'the same in doubt',
    from: 3,
    there: { working: 1 },
    wanted: 2,
    doubt: true,
    expected: '3 holding-for-doubt',
    because: 'with doubts no count is lowered',
  },
  {
    scenario: '1 works, 1 has left, 4 desired, 2 wanted',
    from: 4,
    there: { working: 1, left: 1 },
    wanted: 2,
    expected: '3',
    because: 'the task that has left still counts as the wanted one',
  },
  {
    scenario: '1 starts, 3 desired, none wanted beyond it',
    from: 3,
    there: { starting: 1 },
    wanted: 1,
    expected: '1',
    because: 'missing tasks are given up before existing ones',
  },
];

const cleaningUp: readonly Row[] = [
  {
    scenario: '2 old tasks beside 2 new ones',
    from: 4,
    there: { working: 2, leaving: 2, older: 2 },
    wanted: 1,
    expected: '4',
    because: 'the count is that of all tasks',
  },
  {
    scenario: '2 old tasks that ECS does not count beside 2 new ones',
    from: 2,
    there: { working: 2, leaving: 2, older: 2, uncounted: 2 },
    wanted: 2,
    expected: '2',
    because: 'with all of them in the count, ECS would start as many again at every look',
  },
  {
    scenario: 'the same, 3 wanted',
    from: 2,
    there: { working: 2, leaving: 2, older: 2, uncounted: 2 },
    wanted: 3,
    expected: '3',
    because: 'one more than the new ones',
  },
  {
    scenario: 'the same with 1 new task to spare that has left',
    from: 3,
    there: { working: 2, leaving: 2, left: 1, older: 2, uncounted: 2 },
    wanted: 2,
    expected: '3 holding-for-deployment',
    because: 'no count is lowered while old tasks exist',
  },
];

const vacant: readonly Row[] = [
  {
    scenario: '1 works, 1 never had a daemon, 2 wanted',
    from: 2,
    there: { working: 1, left: 1, vacant: 1 },
    wanted: 2,
    expected: '1 tasks-left(1) waiting-for-vacant(1)',
    because: 'it stops before another task starts',
  },
  {
    scenario: 'the same, 1 wanted',
    from: 2,
    there: { working: 1, left: 1, vacant: 1 },
    wanted: 1,
    expected: '1 tasks-left(1)',
    because: 'no job waits for it',
  },
  {
    scenario: 'the same in doubt, 2 wanted',
    from: 2,
    there: { working: 1, left: 1, vacant: 1 },
    wanted: 2,
    doubt: true,
    expected: '3',
    because: 'it may not go, so another comes beside it',
  },
  {
    scenario: 'the same in doubt at max, 2 wanted',
    from: 2,
    there: { working: 1, left: 1, vacant: 1 },
    wanted: 2,
    max: 2,
    doubt: true,
    expected: '2',
    because: 'beside them there is no room within max',
  },
  {
    scenario: 'the same with one that starts',
    from: 2,
    there: { starting: 1, left: 1, vacant: 1 },
    wanted: 2,
    max: 5,
    expected: '3',
    because: 'it may not go while ECS could choose the one that starts',
  },
  {
    scenario: 'a count below the tasks that have not left',
    from: 0,
    there: { working: 1, left: 1, vacant: 1 },
    wanted: 2,
    expected: '3',
    because: 'the count is raised',
  },
  {
    scenario: 'the same in doubt beside one that leaves, 3 wanted at max',
    from: 3,
    there: { working: 1, leaving: 1, left: 1, vacant: 1 },
    wanted: 3,
    max: 3,
    doubt: true,
    expected: '4',
    because: 'max does not count a draining task, but one that never had a daemon',
  },
  {
    scenario: 'a count without room for it, 2 wanted',
    from: 1,
    there: { working: 1, left: 1, vacant: 1 },
    wanted: 2,
    expected: '1 tasks-left(1) waiting-for-vacant(1)',
    because: 'ECS is about to stop it, and no count is raised meanwhile',
  },
  {
    scenario: 'no other task',
    from: 1,
    there: { left: 1, vacant: 1 },
    wanted: 1,
    expected: '0 tasks-left(1) waiting-for-vacant(1)',
    because: 'to zero, and from there anew',
  },
];

describe.each([
  { name: 'rising', rows: rising },
  { name: 'too low', rows: tooLow },
  { name: 'falling', rows: falling },
  { name: 'after an early success', rows: cleaningUp },
  { name: 'tasks that never had a daemon', rows: vacant },
])('$name', ({ rows }) => {
  it.each(rows)('is $expected for $scenario, because $because', (row) => {
    expect(decide(row)).toBe(row.expected);
  });
});
