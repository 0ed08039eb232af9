import { expect, it } from 'vitest';
import { type BoundedWorld, boundTable, exceededBounds } from '../../../proof/random-worlds/bounds.ts';
import { sumUp } from '../../../proof/random-worlds/figures.ts';

const none = sumUp([], { seed: 7, seconds: 0 });
const QUIET = { seed: 7, kind: 'quiet' } as const;

function worlds(launches: number, idle: readonly number[]): readonly BoundedWorld[] {
  return idle.map((idleLaunches) => ({ ...none, watched: { ...none.watched, launches, idleLaunches } }));
}

it.each([
  { launches: 1000, idle: [100, 100, 100], expected: 0, because: 'a tenth is allowed' },
  { launches: 1000, idle: [101, 101, 101], expected: 1, because: 'each world has more than a tenth' },
  { launches: 1000, idle: [130, 150, 170], expected: 1, because: 'most worlds have far more' },
  { launches: 1000, idle: [0, 0, 900], expected: 0, because: 'one world alone says little of others' },
  { launches: 200, idle: [200, 200, 200], expected: 0, because: 'so few launches say nothing' },
  { launches: 1000, idle: [900, 900], expected: 0, because: 'so few worlds say nothing' },
])('finds $expected bounds exceeded by $idle of $launches launches, since $because', (row) => {
  expect(exceededBounds(worlds(row.launches, row.idle), QUIET)).toHaveLength(row.expected);
});

it('names the seed, the share with its standard error, and the bound', () => {
  expect(exceededBounds(worlds(1000, [190, 200, 210]), QUIET)).toEqual([
    'seed 7: 200.0 ± 5.8 in a thousand are launches that served nothing, more than 100',
  ]);
});

it('prints each figure with its standard error and its bound', () => {
  expect(boundTable(worlds(1000, [190, 200, 210]), 'quiet')).toMatch(
    /launches that served nothing .* 200\.0 ± 5\.8 │ +100 /,
  );
});

it('bounds looks above maxTasks because of a hidden service apart from all others', () => {
  const watched = { ...none.watched, launches: 1000, aboveMaxTasksHidden: 900 };
  const world = { ...none, ticks: 1000, watched };
  expect(exceededBounds([world, world, world], { seed: 7, kind: 'faulty' })).toEqual([
    expect.stringContaining('launched while a service was hidden'),
  ]);
});
