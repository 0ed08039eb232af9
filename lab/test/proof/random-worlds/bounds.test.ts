import { expect, it } from 'vitest';
import { exceededBounds } from '../../../proof/random-worlds/bounds.ts';
import { sumUp } from '../../../proof/random-worlds/figures.ts';

const none = sumUp([], { seed: 7, seconds: 0 });
const figures = (launches: number, idleLaunches: number) => ({
  ...none,
  watched: { ...none.watched, launches, idleLaunches },
});

it.each([
  { launches: 1000, idle: 100, expected: 0, because: 'a tenth is allowed' },
  { launches: 1000, idle: 101, expected: 1, because: 'it is more than a tenth' },
  { launches: 400, idle: 400, expected: 0, because: 'so few launches say nothing' },
])('finds $expected bounds exceeded by $idle of $launches launches, since $because', (row) => {
  expect(exceededBounds(figures(row.launches, row.idle), 'quiet')).toHaveLength(row.expected);
});

it('names the seed, the share and the bound', () => {
  expect(exceededBounds(figures(1000, 200), 'quiet')).toEqual([
    'seed 7: 200 of 1000 are launches that served nothing, more than 100 in a thousand',
  ]);
});

it('bounds looks above maxTasks because of a hidden service apart from all others', () => {
  const watched = { ...none.watched, launches: 1000, tasksAboveMaxTasks: 90, aboveMaxTasksHidden: 91 };
  expect(exceededBounds({ ...none, ticks: 1000, watched }, 'faulty')).toEqual([
    'seed 7: 91 of 1000 are looks with more tasks than maxTasks, launched while a service was hidden, more than 90 in a thousand',
  ]);
});
