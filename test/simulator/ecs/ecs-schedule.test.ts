import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../simulator/base/random.ts';
import { emptiestZone, pickVictim } from '../../../simulator/ecs/placement.ts';
import { type ScheduledTask, scheduleTasks } from '../../../simulator/ecs/schedule.ts';
import { runs } from '../../support/runs.ts';

const choice = { random: new Random(1), victims: 'random' } as const;

/** `n` of the new revision or `o` of the old one; `*` protected; `-` still booting; `!` busy, `?` waiting. All in one zone. */
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
    { tasks: '', desired: 3, stop: '', start: 3, because: 'it starts what is missing' },
    { tasks: 'n n-', desired: 3, stop: '', start: 1, because: 'booting tasks count' },
    { tasks: 'n n', desired: 2, stop: '', start: 0, because: 'nothing to do' },
    { tasks: 'n* n', desired: 1, stop: 'n', start: 0, because: 'the unprotected one goes' },
    { tasks: 'n* n-', desired: 1, stop: 'n-', start: 0, because: 'booting tasks are victims too' },
    { tasks: 'n* n*', desired: 1, stop: '', start: 0, because: 'protected tasks stay above the count' },
    { tasks: 'n* n* n', desired: 0, stop: 'n', start: 0, because: 'all that is free goes' },
    {
      tasks: 'o o',
      desired: 2,
      stop: 'o o',
      start: 2,
      because: '0/100: old ones go first, then there is room',
    },
    { tasks: 'o* o', desired: 2, stop: 'o', start: 1, because: 'a protected old one takes up room' },
    { tasks: 'o* o*', desired: 2, stop: '', start: 0, because: 'no room at 100 %' },
    { tasks: 'o* o*', desired: 3, stop: '', start: 1, because: 'a raised count makes room' },
    { tasks: 'o* n', desired: 1, stop: 'n', start: 0, because: 'over the cap, what is free goes' },
    { tasks: 'o o', desired: 2, percent: [100, 200], stop: '', start: 2, because: '100/200 starts first' },
    {
      tasks: 'o o n',
      desired: 2,
      percent: [100, 200],
      stop: 'o',
      start: 1,
      because: 'a healthy one lets one go',
    },
    {
      tasks: 'o o-',
      desired: 2,
      percent: [100, 200],
      stop: 'o-',
      start: 2,
      because: 'a booting old one holds nothing up',
    },
    {
      tasks: 'o* n n n',
      desired: 2,
      percent: [100, 200],
      stop: 'n',
      start: 0,
      because: 'a held old one is no reason to keep too many new ones',
    },
    {
      tasks: 'o o n n',
      desired: 2,
      percent: [50, 100],
      stop: 'o o',
      start: 0,
      because: 'enough new ones run',
    },
    { tasks: 'o o n', desired: 0, stop: 'o o n', start: 0, because: 'a deployment to nothing stops all' },
    {
      tasks: 'o o? o! o?',
      desired: 4,
      percent: [50, 100],
      victims: 'worst',
      stop: 'o! o?',
      start: 2,
      because: 'the worst ones make room, if told to',
    },
    {
      tasks: 'o o- o?* o!',
      desired: 4,
      percent: [50, 100],
      victims: 'worst',
      stop: 'o- o!',
      start: 2,
      because: 'a protected one does not, however bad that were',
    },
  ] as const;

  it.each(rows)('has $tasks at desired $desired: $because', (row) => {
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

  it('takes one of the zone with the most tasks, protected ones counted', () => {
    const tasks = [at('a', true), at('a', true), at('a'), at('b'), at('b'), at('c')];
    expect(pickVictim(tasks, choice)).toBe(tasks[2]);
  });

  it('goes to another zone when all in the fullest are protected', () => {
    const tasks = [at('a', true), at('a', true), at('b')];
    expect(pickVictim(tasks, choice)).toBe(tasks[2]);
  });

  it('finds none among protected tasks', () => {
    expect(pickVictim([at('a', true)], choice)).toBeUndefined();
  });

  it.each([
    { tasks: [at('a'), at('a'), at('a', false, true)], because: 'a busy one' },
    { tasks: [at('a'), at('a'), at('b', false, true)], because: 'a busy one, wherever it is' },
    { tasks: [at('a'), at('a', true, true), at('b', false, false, true)], because: 'one about to get a job' },
    {
      tasks: [at('a', false, false, true), at('a', false, false, true), at('c', false, true)],
      because: 'a busy one before those',
    },
  ])('takes the worst when told to: $because', ({ tasks }) => {
    expect(pickVictim(tasks, { random: new Random(1), victims: 'worst' })).toBe(tasks[2]);
  });
});

it('starts tasks in the emptiest zone', () => {
  expect(emptiestZone(['a', 'b', 'c'], [{ zone: 'a' }, { zone: 'c' }], new Random(1))).toBe('b');
});
