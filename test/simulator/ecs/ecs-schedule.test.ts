import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../simulator/base/random.ts';
import { emptiestZone, pickVictim } from '../../../simulator/ecs/placement.ts';
import { type ScheduledTask, scheduleTasks } from '../../../simulator/ecs/schedule.ts';
import { runs } from '../../support/runs.ts';

const choice = { random: new Random(1), victims: 'random' } as const;

/**
 * The tasks of a picture, all in one zone. `n`: new revision; `o`: old revision; `*`: protected;
 * `-`: still booting; `!`: busy; `?`: waiting for a job.
 */
function tasksOf(picture: string): readonly (ScheduledTask & { readonly name: string })[] {
  return picture
    .split(' ')
    .filter((name) => name !== '')
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
  const rows = [
    { tasks: '', desired: 3, stop: '', start: 3, because: 'ECS starts the missing tasks' },
    { tasks: 'n n-', desired: 3, stop: '', start: 1, because: 'booting tasks count' },
    { tasks: 'n n', desired: 2, stop: '', start: 0, because: 'there is nothing to do' },
    { tasks: 'n* n', desired: 1, stop: 'n', start: 0, because: 'ECS stops the unprotected task' },
    { tasks: 'n* n-', desired: 1, stop: 'n-', start: 0, because: 'ECS may stop a booting task' },
    { tasks: 'n* n*', desired: 1, stop: '', start: 0, because: 'protected tasks stay above the count' },
    { tasks: 'n* n* n', desired: 0, stop: 'n', start: 0, because: 'ECS stops all unprotected tasks' },
    {
      tasks: 'o o',
      desired: 2,
      stop: 'o o',
      start: 2,
      because: 'with 0/100 ECS stops old tasks before it starts new ones',
    },
    {
      tasks: 'o* o',
      desired: 2,
      stop: 'o',
      start: 1,
      because: 'a protected old task counts against maximumPercent',
    },
    { tasks: 'o* o*', desired: 2, stop: '', start: 0, because: 'maximumPercent 100 allows no further task' },
    {
      tasks: 'o* o*',
      desired: 3,
      stop: '',
      start: 1,
      because: 'a higher desired count allows one more task',
    },
    {
      tasks: 'o* n',
      desired: 1,
      stop: 'n',
      start: 0,
      because: 'above maximumPercent ECS stops unprotected tasks',
    },
    {
      tasks: 'o o',
      desired: 2,
      percent: [100, 200],
      stop: '',
      start: 2,
      because: 'with 100/200 ECS starts new tasks first',
    },
    {
      tasks: 'o o n',
      desired: 2,
      percent: [100, 200],
      stop: 'o',
      start: 1,
      because: 'ECS stops one old task for each healthy new one',
    },
    {
      tasks: 'o o-',
      desired: 2,
      percent: [100, 200],
      stop: 'o-',
      start: 2,
      because: 'a booting old task does not count as healthy',
    },
    {
      tasks: 'o* n n n',
      desired: 2,
      percent: [100, 200],
      stop: 'n',
      start: 0,
      because: 'ECS stops surplus new tasks although a protected old task stays',
    },
    {
      tasks: 'o o n n',
      desired: 2,
      percent: [50, 100],
      stop: 'o o',
      start: 0,
      because: 'enough new tasks run',
    },
    { tasks: 'o o n', desired: 0, stop: 'o o n', start: 0, because: 'a desired count of 0 stops all tasks' },
    {
      tasks: 'o o? o! o?',
      desired: 4,
      percent: [50, 100],
      victims: 'worst',
      stop: 'o! o?',
      start: 2,
      because: 'with victims "worst" ECS stops busy and waiting tasks first',
    },
    {
      tasks: 'o o- o?* o!',
      desired: 4,
      percent: [50, 100],
      victims: 'worst',
      stop: 'o- o!',
      start: 2,
      because: 'with victims "worst" ECS still stops no protected task',
    },
  ] as const;

  it.each(rows)('stops "$stop" and starts $start of "$tasks" at desired $desired: $because', (row) => {
    const [minimumHealthyPercent, maximumPercent] = 'percent' in row ? row.percent : [0, 100];
    const tasks = tasksOf(row.tasks);
    const input = {
      desiredCount: row.desired,
      primaryId: 'new',
      minimumHealthyPercent,
      maximumPercent,
      tasks,
    };
    const victims = 'victims' in row ? row.victims : 'random';
    const { stop, start } = scheduleTasks(input, { ...choice, victims });
    expect({ stop: stop.map((task) => task.name).join(' '), start }).toEqual({
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
