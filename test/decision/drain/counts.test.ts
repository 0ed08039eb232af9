import { describe, expect, it } from 'vitest';
import { decideCount } from '../../../lambda/decision/drain/counts.ts';
import type { Service } from '../../../lambda/decision/model/snapshot.ts';
import type { Capacity } from '../../../lambda/decision/supply/capacity.ts';
import { aService } from '../../support/parts.ts';
import { table } from '../../support/table.ts';

type Row = {
  /** The capacity: `2 working, 1 left`. */
  readonly tasks: string;
  readonly desired: number;
  readonly wanted: number;
  readonly max?: number;
  readonly doubt?: boolean;
  /** Their rollout states, or `none`. */
  readonly deployments?: string;
  readonly expected: string;
  readonly because: string;
};

function capacityOf(tasks: string): Capacity {
  const [isHeldBack, counted] = [tasks.endsWith(', isHeldBack'), tasks.replace(', isHeldBack', '')];
  const given = counted.split(', ').map((text) => text.split(' '));
  const counts = {
    working: 0,
    starting: 0,
    unguarded: 0,
    justLeft: 0,
    leaving: 0,
    replacing: 0,
    left: 0,
    vacant: 0,
    missing: 0,
    older: 0,
    uncounted: 0,
    ...Object.fromEntries(given.map(([count, name = '']) => [name, Number(count)])),
  };
  return {
    total: counts.working + counts.starting + counts.unguarded,
    inUse: 0,
    exposed: 0,
    late: 0,
    few: Number.POSITIVE_INFINITY,
    isFailing: false,
    ...counts,
    isHeldBack,
  };
}

const deploymentsOf = (states: string): Service['deployments'] =>
  states === 'none' ? [] : states.split(' ').map((rolloutState) => ({ rolloutState }));

/** The count and its reasons as text: `3`, `2 holding-for-starting`. */
function decide({ tasks, desired, wanted, max = 20, doubt, deployments }: Row): string {
  const { to, why } = decideCount({
    service: aService({
      desiredCount: desired,
      ...(deployments === undefined ? {} : { deployments: deploymentsOf(deployments) }),
    }),
    capacity: capacityOf(tasks),
    wanted,
    max,
    doubts: doubt ? ['jobs-failed'] : [],
  });
  const reasons = why.map((reason) => `${reason.code}${'tasks' in reason ? `(${reason.tasks})` : ''}`);
  return [to, ...reasons].join(' ');
}

const rising = table<Row>`
  tasks                        | desired | wanted | doubt | deployments     | expected | because
  2 working                    | 2       | 3      |       |                 | '3'      | one more is wanted
  1 working, 1 leaving, 1 left | 3       | 2      |       |                 | 4 includes-leaving(2) | those that leave and have left still fill places
  1 working, 1 leaving         | 3       | 2      |       |                 | '3'      | a count that stays adds nothing for them
  1 working, 1 leaving, 1 replacing | 2   | 2      |       |                 | '3'      | a task that waits for its replacement has a reason of its own
  2 working                    | 2       | 3      | true  |                 | '3'      | doubt does not hold scale-out
  2 working                    | 2       | 3      |       | UNKNOWN UNKNOWN | '3'      | nor does a deployment
  2 working                    | 3       | 3      |       |                 | '3'      | setting the same count twice launches nothing twice
`;

const tooLow = table<Row>`
  tasks                | desired | wanted | max | doubt | expected               | because
  2 working            | 1       | 0      |     |       | 2 count-below-tasks(2) | ECS would choose a task to stop
  1 working, 1 leaving | 1       | 1      |     | true  | 2 count-below-tasks(2) | a draining task has not left
  1 working, 1 left    | 1       | 1      |     |       | '1'                    | ECS may stop a task that has left
  2 working, 2 leaving | 1       | 2      | 3   |       | 3 count-below-tasks(4) | max holds: ECS may count fewer of them, and start others
  4 working            | 3       | 4      | 2   |       | 3 count-below-tasks(4) | a count above max is not lowered here
`;

const justLeft = table<Row>`
  tasks                                        | desired | wanted | max | expected               | because
  5 unguarded                                  | 5       | 10     | 5   | '5'                    | one that has a job may keep its place for hours
  5 unguarded, 5 justLeft                      | 5       | 10     | 5   | 10 includes-leaving(5) | their places are free in 90 s at most
  2 working, 3 unguarded, 3 justLeft           | 5       | 10     | 5   | 8 includes-leaving(3)  | those that work keep their places
  5 unguarded, 5 starting, 5 justLeft          | 10      | 15     | 5   | '10'                   | those that were launched have taken the places
  10 unguarded, 10 justLeft                    | 10      | 15     | 5   | '10'                   | tasks that never get a lease must not grow without end
  5 working, 5 unguarded, 5 justLeft           | 10      | 5      | 5   | '10'                   | the count is not lowered before coderd shows that they have left
  1 working, 1 unguarded, 1 justLeft, 1 left   | 3       | 1      | 5   | 3 holding-for-unguarded(1) | ECS could choose the one without a lease
`;

const falling = table<Row>`
  tasks                           | desired | wanted | doubt | deployments | expected                   | because
  1 working, 1 left               | 2       | 1      |       |             | 1 tasks-left(1)            | the count follows
  1 leaving, 1 left               | 2       | 0      |       |             | 1 tasks-left(1)            | a draining task has not left
  1 working, 1 left               | 2       | 1      | true  |             | 2 holding-for-doubt        | doubt never scales in
  1 working, 1 left               | 2       | 1      |       | IN_PROGRESS | 2 holding-for-deployment   | a deployment chooses the tasks that it stops
  1 working                       | 3       | 1      |       | IN_PROGRESS | 3 holding-for-deployment   | whatever is not there may be on its way
  1 working, isHeldBack           | 3       | 1      |       | IN_PROGRESS | '1'                        | missing tasks will not come
  1 working, 3 left, isHeldBack   | 3       | 1      |       | IN_PROGRESS | 3 holding-for-deployment   | a count that gives tasks up is never raised for those that have left
  1 working, 1 starting, 1 left, 1 exposed | 3 | 2   | true  |             | 3 holding-for-doubt        | the task without a lease matters only where starts keep failing
  1 working, 1 left, isHeldBack   | 2       | 1      |       |             | 1 tasks-left(1)            | the count follows there too
  1 working, 1 left               | 2       | 1      |       | COMPLETED COMPLETED | 2 holding-for-deployment   | the older one still has tasks
  1 working, 1 left               | 2       | 1      | true  | IN_PROGRESS | 2 holding-for-deployment holding-for-doubt | each one is reported
  1 working, 1 left               | 2       | 1      |       | none        | 1 tasks-left(1)            | none is in progress
  1 starting, 1 left              | 2       | 1      |       |             | 2 holding-for-starting(1)  | ECS could choose the one without a lease
  1 unguarded, 1 left             | 2       | 1      |       |             | 2 holding-for-unguarded(1) | ECS could choose the one without a lease
  1 starting, 1 unguarded, 1 left | 3       | 2      |       |             | 3 holding-for-starting(1) holding-for-unguarded(1) | each one is reported
  0 missing                       | 3       | 0      |       |             | '0'                        | ECS is not to go on trying
  1 unguarded, 1 exposed, isHeldBack | 3       | 0      |       |             | 3 holding-for-unguarded(1) | ECS may start the two before the count is lowered, and stop the one that may hold a job
  1 starting, 1 exposed, isHeldBack | 3       | 0      |       |             | 3 holding-for-starting(1)  | it may have a daemon by the time that the count is lowered
  1 working                       | 3       | 2      |       |             | '2'                        | more than the existing tasks and one probe would only fail to start
  1 working                       | 3       | 2      | true  |             | 3 holding-for-doubt        | with doubts no count is lowered
  1 working, 1 left               | 4       | 2      |       |             | '3'                        | the task that has left still counts as the wanted one
  1 starting                      | 3       | 1      |       |             | '1'                        | missing tasks are given up before existing ones
`;

const cleaningUp = table<Row>`
  tasks                                              | desired | wanted | expected                 | because
  2 working, 2 leaving, 2 older                      | 4       | 1      | '4'                      | the count is that of all tasks
  2 working, 2 leaving, 2 older, 2 uncounted         | 2       | 2      | '2'                      | with all of them in the count, ECS would start as many again at every look
  2 working, 2 leaving, 2 older, 2 uncounted         | 2       | 3      | '3'                      | one more than the new ones
  2 working, 2 leaving, 1 left, 2 older, 2 uncounted | 3       | 2      | 3 holding-for-deployment | no count is lowered while old tasks exist
  1 working, 1 older, 1 uncounted, isHeldBack        | 3       | 1      | 3 holding-for-deployment | nor are tasks given up that ECS cannot start
`;

const vacant = table<Row>`
  tasks                        | desired | wanted | max | doubt | expected                              | because
  1 working, 1 left, 1 vacant  | 2       | 2      |     |       | 1 tasks-left(1)                       | it stops before another task starts
  1 working, 1 left, 1 vacant  | 2       | 1      |     |       | 1 tasks-left(1)                       | no job waits for it
  1 working, 1 left, 1 vacant  | 2       | 2      |     | true  | 3 includes-leaving(1)                 | it may not go, so another comes beside it
  1 working, 1 left, 1 vacant  | 2       | 2      | 2   | true  | 2 holding-for-doubt                   | beside them there is no room within max
  1 starting, 1 left, 1 vacant | 2       | 2      | 5   |       | 3 includes-leaving(1)                 | it may not go while ECS could choose the one that starts
  1 working, 1 left, 1 vacant  | 0       | 2      |     |       | 3 includes-leaving(1)                 | the count is raised
  1 working, 1 leaving, 1 left, 1 vacant | 3       | 3      | 3   | true  | 4 includes-leaving(2)                 | max does not count a draining task, but one that never had a daemon
  1 working, 1 left, 1 vacant  | 1       | 2      |     |       | '1'                                   | ECS is about to stop it, and no count is raised meanwhile
  1 left, 1 vacant             | 1       | 1      |     |       | 0 tasks-left(1)                       | to zero, and from there anew
`;

describe.each([
  { name: 'rising', rows: rising },
  { name: 'too low', rows: tooLow },
  { name: 'just left', rows: justLeft },
  { name: 'falling', rows: falling },
  { name: 'after an early success', rows: cleaningUp },
  { name: 'tasks that never had a daemon', rows: vacant },
])('$name', ({ rows }) => {
  it.each(rows)('is $expected for $tasks, $desired desired and $wanted wanted, because $because', (row) => {
    expect(decide(row)).toBe(row.expected);
  });
});
