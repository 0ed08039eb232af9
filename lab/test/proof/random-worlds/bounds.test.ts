import { expect, it } from 'vitest';
import { type BoundedWorld, boundTable, exceededBounds } from '../../../proof/random-worlds/bounds.ts';
import { sumUp } from '../../../proof/random-worlds/figures.ts';

const none = sumUp([], { seed: 7, seconds: 0 });

const worldsOf = (launches: number, idle: readonly number[]): readonly BoundedWorld[] =>
  idle.map((idleLaunches) => ({ ...none, watched: { ...none.watched, launches, idleLaunches } }));

const many = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one);

it.each([
  { launches: 1000, idle: [200, 210, 220], expected: 0, because: 'three worlds differ by so much' },
  {
    launches: 1000,
    idle: [200, 220, 240],
    expected: 1,
    because: 'together it is more than three such errors',
  },
  { launches: 200, idle: [200, 200, 200], expected: 0, because: 'so few launches say nothing' },
  { launches: 1000, idle: [900, 900], expected: 0, because: 'so few worlds say nothing' },
])('finds $expected bounds exceeded by $idle of $launches idle launches, since $because', (row) => {
  const worlds = worldsOf(row.launches, row.idle);
  expect(exceededBounds(worlds, { seed: 7, kind: 'quiet' })).toHaveLength(row.expected);
});

it.each([
  { worlds: 4, expected: 0, because: 'few of them differ by chance' },
  { worlds: 100, expected: 1, because: 'many of them do not' },
])(
  'finds $expected bounds exceeded by 600 of 1000 idle launches in $worlds worlds, since $because',
  (row) => {
    const worlds = worldsOf(1000, many(row.worlds, 600));
    expect(exceededBounds(worlds, { seed: 7, kind: 'faulty' })).toHaveLength(row.expected);
  },
);

it('names the seed, the share with its standard error, and the bound', () => {
  expect(exceededBounds(worldsOf(1000, [290, 300, 310]), { seed: 7, kind: 'quiet' })).toEqual([
    'seed 7: 300.0 ± 5.8 in a thousand are launches that served nothing, more than 218.6',
  ]);
});

it('prints each figure with its standard error and its bound', () => {
  expect(boundTable(worldsOf(1000, [190, 200, 210]), 'quiet')).toMatch(
    /launches that served nothing .* 200\.0 ± 5\.8 │ 218\.6 /,
  );
});

it('prints no standard error of one world alone', () => {
  expect(boundTable(worldsOf(1000, [200]), 'quiet')).toContain('200.0 ± ?');
});

it('bounds looks above maxTasks because of a hidden service apart from all others', () => {
  const watched = { ...none.watched, launches: 1000, aboveMaxTasksHidden: 900 };
  const worlds = many(3, { ...none, ticks: 1000, watched });
  expect(exceededBounds(worlds, { seed: 7, kind: 'faulty' })).toEqual([
    expect.stringContaining('launched while a service was hidden'),
  ]);
});
