import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { table } from '../../../../test/support/table.ts';
import { Random } from '../../../world/base/random.ts';
import { emptiestZone, pickVictim } from '../../../world/ecs/placement.ts';
import { type ScheduledTask, scheduleTasks } from '../../../world/ecs/schedule.ts';

const choice = { random: new Random(1), victims: 'random' } as const;

/**
 * The tasks of a picture, all in one zone. `n`: new revision; `o`: old revision; `*`: protected;
 * `-`: still booting; `!`: busy; `?`: waiting for a job.
 */
function tasksOf(picture: string): readonly (ScheduledTask & { readonly name: string })[] {
  return picture
    .split(' ')
    .filter((name) => name !== 'none')
    .map((name) => ({
      name,
      zone: 'a',
      deploymentId: name.startsWith('o') ? 'old' : 'new',
      isProtected: name.includes('*'),
      isRunning: !name.includes('-'),
      isBusy: name.includes('!'),
      isWaiting: name.includes('?'),
    }));
}

describe('scheduleTasks', () => {
  type Row = {
    readonly tasks: string;
    readonly desired: number;
    /** minimumHealthyPercent and maximumPercent */
    readonly percent?: string;
    readonly victims?: 'worst';
    readonly stop: string;
    readonly start: number;
    readonly because: string;
  };
  const rows = table<Row>`
    tasks       | desired | percent | victims | stop  | start | because
    none        | 3       |         |         | none  | 3     | ECS starts the missing tasks
    n n-        | 3       |         |         | none  | 1     | booting tasks count
    n n         | 2       |         |         | none  | 0     | there is nothing to do
    n* n        | 1       |         |         | n     | 0     | ECS stops the unprotected task
    n* n-       | 1       |         |         | n-    | 0     | ECS may stop a booting task
    n* n*       | 1       |         |         | none  | 0     | protected tasks stay above the count
    n* n* n     | 0       |         |         | n     | 0     | ECS stops all unprotected tasks
    o o         | 2       |         |         | o o   | 2     | with 0/100 ECS stops old tasks before it starts new ones
    o* o        | 2       |         |         | o     | 1     | a protected old task counts against maximumPercent
    o* o*       | 2       |         |         | none  | 0     | maximumPercent 100 allows no further task
    o* o*       | 3       |         |         | none  | 1     | a higher desired count allows one more task
    o* n        | 1       |         |         | n     | 0     | above maximumPercent ECS stops unprotected tasks
    o o         | 2       | 100/200 |         | none  | 2     | with 100/200 ECS starts new tasks first
    o o n       | 2       | 100/200 |         | o     | 1     | ECS stops one old task for each healthy new one
    o o-        | 2       | 100/200 |         | o-    | 2     | a booting old task does not count as healthy
    o* n n n    | 2       | 100/200 |         | n     | 0     | ECS stops surplus new tasks although a protected old task stays
    o o n n     | 2       | 50/100  |         | o o   | 0     | enough new tasks run
    o o n       | 0       |         |         | o o n | 0     | a desired count of 0 stops all tasks
    o o? o! o?  | 4       | 50/100  | worst   | o! o? | 2     | with victims "worst" ECS stops busy and waiting tasks first
    o o- o?* o! | 4       | 50/100  | worst   | o- o! | 2     | with victims "worst" ECS still stops no protected task
  `;

  it.each(rows)('stops "$stop" and starts $start of "$tasks" at desired $desired: $because', (row) => {
    const [minimumHealthyPercent = 0, maximumPercent = 0] = (row.percent ?? '0/100').split('/').map(Number);
    const tasks = tasksOf(row.tasks);
    const input = {
      desiredCount: row.desired,
      primaryId: 'new',
      minimumHealthyPercent,
      maximumPercent,
      tasks,
    };
    const { stop, start } = scheduleTasks(input, { ...choice, victims: row.victims ?? 'random' });
    expect({ stop: stop.map((task) => task.name).join(' ') || 'none', start }).toEqual({
      stop: row.stop,
      start: row.start,
    });
  });

  it('never stops a protected task, never starts beyond its room, and has nothing to do twice', () => {
    const task = fc.record({
      zone: fc.constantFrom('a', 'b', 'c'),
      deploymentId: fc.constantFrom('old', 'new'),
      isProtected: fc.boolean(),
      isRunning: fc.boolean(),
      isBusy: fc.boolean(),
      isWaiting: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(task),
        fc.nat(8),
        fc.constantFrom('random', 'worst'),
        (tasks, desiredCount, victims) => {
          const input = {
            desiredCount,
            primaryId: 'new',
            minimumHealthyPercent: 0,
            maximumPercent: 100,
            tasks,
          };
          const { stop, start } = scheduleTasks(input, { random: new Random(3), victims });
          expect(stop.some((it) => it.isProtected)).toBe(false);
          expect(new Set(stop).size).toBe(stop.length);
          const left = tasks.filter((it) => !stop.includes(it));
          expect(start === 0 || left.length + start <= desiredCount).toBe(true);
          const again = scheduleTasks({ ...input, tasks: left }, { random: new Random(3), victims });
          expect(again.stop).toEqual([]);
        },
      ),
      runs(1000),
    );
  });
});

describe('pickVictim', () => {
  const at = (zone: string, isProtected = false, isBusy = false, isWaiting = false) => {
    return { zone, isProtected, isBusy, isWaiting };
  };

  it('picks a task in the zone with the most tasks, counting protected ones', () => {
    const tasks = [at('a', true), at('a', true), at('a'), at('b'), at('b'), at('c')];
    expect(pickVictim(tasks, choice)).toBe(tasks[2]);
  });

  it('picks from another zone when all tasks in the fullest zone are protected', () => {
    const tasks = [at('a', true), at('a', true), at('b')];
    expect(pickVictim(tasks, choice)).toBe(tasks[2]);
  });

  it('picks no protected task', () => {
    expect(pickVictim([at('a', true)], choice)).toBeUndefined();
  });

  it.each([
    { tasks: [at('a'), at('a'), at('a', false, true)], because: 'a busy task' },
    { tasks: [at('a'), at('a'), at('b', false, true)], because: 'a busy task in any zone' },
    {
      tasks: [at('a'), at('a', true, true), at('b', false, false, true)],
      because: 'a task that waits for a job',
    },
    {
      tasks: [at('a', false, false, true), at('a', false, false, true), at('c', false, true)],
      because: 'a busy task before waiting ones',
    },
  ])('picks with victims "worst": $because', ({ tasks }) => {
    expect(pickVictim(tasks, { random: new Random(1), victims: 'worst' })).toBe(tasks[2]);
  });
});

it('emptiestZone picks the zone with the fewest tasks', () => {
  expect(emptiestZone(['a', 'b', 'c'], [{ zone: 'a' }, { zone: 'c' }], new Random(1))).toBe('b');
});
