import { describe, expect, it } from 'vitest';
import type { WorldResult } from '../../../proof/random-worlds/figures.ts';
import { runWorld } from '../../../proof/random-worlds/run-world.ts';
import { costOf, exceededByTwin, twinTable } from '../../../proof/random-worlds/twins.ts';
import { sightPlanOf } from '../../../proof/random-worlds/world/quiet.ts';
import { runRequest } from '../../../proof/random-worlds/worlds.ts';

/** A short world. */
const SEED = 2204;

/** A world that cost so much, and its twin. 94 % of its jobs wait for no time, the others as long as is given. */
function resultOf(
  own: readonly [number, number, number],
  twin: readonly [number, number, number],
): WorldResult {
  const costs = [own, twin].map(([launches, wait, reaped]) => ({
    launches,
    reaped,
    waits: [...Array<number>(6).fill(wait), ...Array<number>(94).fill(0)],
  }));
  return { seed: 7, sightFaults: 3, watched: costs[0], twin: costs[1] } as unknown as WorldResult;
}

describe('a world that costs more than its twin', () => {
  it.each([
    { own: [210, 0, 0], twin: [100, 0, 0], expected: [], because: 'it has twice the launches and ten' },
    { own: [211, 0, 0], twin: [100, 0, 0], expected: ['launches'], because: 'it has one launch more' },
    { own: [9, 180, 0], twin: [9, 100, 0], expected: [], because: 'waits are half as long again and 30 s' },
    { own: [9, 181, 0], twin: [9, 100, 0], expected: ['seconds'], because: 'waits are a second longer' },
    { own: [9, 0, 20], twin: [9, 0, 10], expected: [], because: 'half as many jobs again and five fail' },
    { own: [9, 0, 21], twin: [9, 0, 10], expected: ['jobs'], because: 'one job more fails' },
    {
      own: [99, 999, 99],
      twin: [9, 9, 9],
      expected: ['launches', 'seconds', 'jobs'],
      because: 'all is dear',
    },
    { own: [1, 0, 0], twin: [99, 99, 99], expected: [], because: 'it costs less' },
  ] as const)('exceeds the bounds $expected if $because', ({ own, twin, expected }) => {
    const texts = exceededByTwin(resultOf(own, twin));
    expect(texts.map((text) => / \d+ (\w+)/.exec(text)?.[1])).toEqual(expected);
  });

  it('is named with both numbers and the bound', () => {
    expect(exceededByTwin(resultOf([300, 0, 0], [100, 0, 0]))).toEqual([
      'world 7: 300 launches, but 100 if looks see all; at most 2 times as much and 10 more are allowed',
    ]);
  });
});

it('the table has both numbers of each world, and of all', () => {
  const lines = twinTable([resultOf([30, 60, 2], [10, 40, 1]), resultOf([5, 20, 0], [5, 20, 0])]).split('\n');
  const cells = lines.map((line) =>
    line
      .split('│')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  expect(cells.filter(([name]) => name === '7' || name === 'all')).toEqual([
    ['7', '3', '30 (10)', '0 (0)', '60 (40)', '60 (40)', '2 (1)'],
    ['7', '3', '5 (5)', '0 (0)', '20 (20)', '20 (20)', '0 (0)'],
    ['all', '6', '35 (15)', '0 (0)', '20 (20)', '60 (40)', '2 (1)'],
  ]);
});

it('a world has no twin unless it is asked for; then only looks cannot see all', async () => {
  const request = { seed: SEED, isUnguarded: false, isQuiet: false };
  expect(await runRequest({ ...request, hasTwin: false })).not.toHaveProperty('twin');
  const alone = await runWorld(sightPlanOf(SEED));
  expect(alone.sightFaults).toBeGreaterThan(0);
  const whole = await runWorld({ ...sightPlanOf(SEED), hasWholeSight: true });
  expect(whole.sightFaults).toBe(0);
  expect(await runRequest({ ...request, hasTwin: true })).toEqual({ ...alone, twin: costOf(whole) });
});
