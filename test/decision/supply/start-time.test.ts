/** The start time, from the tasks that ECS lists. */
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { learnStartTime } from '../../../lambda/decision/supply/starts.ts';
import { ago, arnOf, aTask, HOUR, MINUTE, NOW, SECOND } from '../../support/parts.ts';
import { table } from '../../support/table.ts';

/** Tasks with these start times in seconds; the first one is the newest. */
function learn(seconds: readonly (number | 'never')[]) {
  const createdAt = (index: number): EpochMs => ago((index + 20) * MINUTE);
  const tasks = seconds.map((_, index) =>
    aTask({ taskArn: arnOf(index), createdAt: createdAt(index), startedAt: createdAt(index) }),
  );
  const starts = tasks.map((task, index) => {
    const took = seconds[index];
    const registeredAt = (createdAt(index) + Number(took) * SECOND) as EpochMs;
    return { task, registered: took === 'never' ? 'never' : registeredAt } as const;
  });
  return learnStartTime(starts.toReversed(), 90 * SECOND);
}

describe('the start time of a pool', () => {
  it.each(table<{
    seconds: readonly (number | 'never')[];
    from: string;
    samples: number;
    p50S: number;
    p95S: number;
    because: string;
  }>`
    seconds                                                            | from    | samples | p50S | p95S | because
    ${[]}                                                              | setting | 0       | 90   | 90   | no start was seen
    ${[30, 40]}                                                        | setting | 2       | 90   | 90   | two starts are too few
    ${[30, 50, 40]}                                                    | learned | 3       | 40   | 50   | three do
    ${[30, 'never', 40]}                                               | setting | 2       | 90   | 90   | a task without a daemon is no start
    ${[30, 50, 40, 901, -1]}                                           | learned | 3       | 40   | 50   | a daemon that registered again, or before its task, gives no start time
    ${Array.from({ length: 20 }, (_, index) => index + 1)}             | learned | 20      | 10   | 19   | one start in twenty may take longer
    ${[...Array<number>(50).fill(30), ...Array<number>(50).fill(100)]} | learned | 50      | 30   | 30   | the newest fifty count
  `)(
    'of starts of $seconds s is $p50S s, $from, because $because',
    ({ seconds, from, samples, p50S, p95S }) => {
      const expected = { from, samples, p50Ms: p50S * SECOND, p95Ms: p95S * SECOND };
      expect(learn(seconds)).toEqual(expected);
    },
  );

  it('needs the time when ECS created a task', () => {
    const starts = [1, 2, 3].map((index) => {
      const { createdAt: _, ...task } = aTask({ taskArn: arnOf(index) });
      return { task, registered: NOW };
    });
    expect(learnStartTime(starts, 1).from).toBe('setting');
  });
});

it('counts tasks that were created at once alike, however late they registered', () => {
  const starts = Array.from({ length: 100 }, (_, index) => ({
    task: aTask({ taskArn: arnOf((index * 37) % 100), createdAt: ago(HOUR), startedAt: ago(HOUR) }),
    registered: ago(HOUR - (30 + index / 2) * SECOND),
  }));
  const { samples, p50Ms } = learnStartTime(starts, 1);
  expect(samples).toBe(50);
  // the slowest half alone would have 67 s
  expect(p50Ms / SECOND).toBeGreaterThan(48);
  expect(p50Ms / SECOND).toBeLessThan(60);
});

it('ignores a daemon that had to wait for its lease', () => {
  const [quick, late] = [10 * SECOND, 121 * SECOND];
  const of = (ms: number) =>
    learnStartTime(
      [1, 2, 3].map((index) => ({
        task: aTask({ taskArn: arnOf(index), createdAt: ago(HOUR), startedAt: ago(HOUR - 30 * SECOND) }),
        registered: ago(HOUR - 30 * SECOND - ms),
      })),
      90 * SECOND,
    );
  expect(of(quick)).toMatchObject({ from: 'learned', p95Ms: 40_000 });
  expect(of(late)).toMatchObject({ from: 'setting', samples: 0 });
});
