import { describe, expect, it } from 'vitest';
import type { WorldResult } from '../../../proof/random-worlds/figures.ts';
import { runWorld } from '../../../proof/random-worlds/run-world.ts';
import { costOf, exceededByTwin, twinTable } from '../../../proof/random-worlds/twins.ts';
import { sightPlanOf } from '../../../proof/random-worlds/world/quiet.ts';
import { planOfRequest, runRequest } from '../../../proof/random-worlds/worlds.ts';

/** A short world. */
const SEED = 454;

type Numbers = readonly [launches: number, aboveLimits: number, wait: number, reaped: number];

/** A world that cost so much, and its twin. 94 % of its jobs wait for no time, the others as long as is given. */
function resultOf(own: Numbers, twin: Numbers, isBrief = true): WorldResult {
  const [result, other] = [own, twin].map(([launches, aboveLimits, wait, reaped]) => {
    const launchableWaits = [...Array<number>(6).fill(wait), ...Array<number>(94).fill(0)];
    const watched = { launches, tasksAboveMax: aboveLimits, tasksAboveMaxTasks: 0, launchableWaits, reaped };
    return { seed: 7, sightFaults: 3, watched };
  }) as unknown as [WorldResult, WorldResult];
  return { ...result, twin: { ...costOf(other), isBrief } };
}

describe('a world that costs more than its twin', () => {
  it.each([
    { own: [210, 0, 0, 0], twin: [100, 0, 0, 0], expected: [], because: 'it has twice the launches and ten' },
    { own: [211, 0, 0, 0], twin: [100, 0, 0, 0], expected: ['launches'], because: 'it has one launch more' },
    { own: [9, 15, 0, 0], twin: [9, 5, 0, 0], expected: [], because: 'it is above limits in ten looks more' },
    { own: [9, 16, 0, 0], twin: [9, 5, 0, 0], expected: ['looks'], because: 'it is in eleven looks more' },
    {
      own: [9, 0, 180, 0],
      twin: [9, 0, 100, 0],
      expected: [],
      because: 'waits are half as long again and 30 s',
    },
    {
      own: [9, 0, 181, 0],
      twin: [9, 0, 100, 0],
      expected: ['seconds'],
      because: 'waits are a second longer',
    },
    {
      own: [9, 0, 0, 20],
      twin: [9, 0, 0, 10],
      expected: [],
      because: 'half as many jobs again and five fail',
    },
    { own: [9, 0, 0, 21], twin: [9, 0, 0, 10], expected: ['jobs'], because: 'one job more fails' },
    { own: [1, 0, 0, 0], twin: [99, 99, 99, 99], expected: [], because: 'it costs less' },
  ] as const)('exceeds the bounds $expected if $because', ({ own, twin, expected }) => {
    const texts = exceededByTwin(resultOf(own, twin));
    expect(texts.map((text) => /: \d+ (\w+)/.exec(text)?.[1])).toEqual(expected);
  });

  it('may have any waits if its lists fail for long', () => {
    expect(exceededByTwin(resultOf([9, 0, 999, 0], [9, 0, 0, 0], false))).toEqual([]);
  });

  it('is named with both numbers and the bound', () => {
    expect(exceededByTwin(resultOf([300, 0, 0, 0], [100, 0, 0, 0]))).toEqual([
      'world 7: 300 launches, but 100 if looks see all; at most 2 times as much and 10 more are allowed',
    ]);
  });
});

it('the table has both numbers of each world, and of all', () => {
  const results = [resultOf([30, 4, 60, 2], [10, 3, 40, 1]), resultOf([5, 0, 20, 0], [5, 0, 20, 0], false)];
  const cells = twinTable(results)
    .split('\n')
    .map((line) =>
      line
        .split('│')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
  expect(cells.filter(([name = '']) => /^(7|all)/.test(name))).toEqual([
    ['7', '3', '30 (10)', '4 (3)', '0 (0)', '60 (40)', '60 (40)', '2 (1)'],
    ['7 *', '3', '5 (5)', '0 (0)', '0 (0)', '20 (20)', '20 (20)', '0 (0)'],
    ['all', '6', '35 (15)', '4 (3)', '0 (0)', '20 (20)', '60 (40)', '2 (1)'],
  ]);
});

it('a world with a twin has faults of sight alone, and its twin has none', async () => {
  const { incidents, outOfMemoryAnHour, looks } = planOfRequest({
    seed: SEED,
    isQuiet: false,
    hasTwin: true,
  });
  expect(Object.keys(incidents)).toEqual(['service without a row', 'lists failing', 'heartbeats old']);
  expect({ outOfMemoryAnHour, ...looks }).toEqual({ outOfMemoryAnHour: 0, doubled: 0, crashing: 0, slow: 0 });
  const result = await runRequest({ seed: SEED, isUnguarded: false, isQuiet: false, hasTwin: true });
  expect(result.sightFaults).toBeGreaterThan(0);
  const whole = await runWorld({ ...sightPlanOf(SEED), hasWholeSight: true });
  expect(whole.sightFaults).toBe(0);
  expect(result.twin).toEqual({ ...costOf(whole), isBrief: expect.any(Boolean) });
});
