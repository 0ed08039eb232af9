/** The start time, from the tasks that ECS lists. */
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { learnStartTime } from '../../../lambda/decision/supply/start-time.ts';
import { ago, arnOf, aTask, HOUR, MINUTE, NOW, SECOND } from '../../support/parts.ts';

/** Tasks with these start times in seconds; the first one is the newest. */
function learn(seconds: readonly (number | 'never')[]) {
  const createdAt = (index: number): EpochMs => ago((index + 20) * MINUTE);
  const tasks = seconds.map((_, index) =>
    aTask({ taskArn: arnOf(index), createdAt: createdAt(index), startedAt: createdAt(index) }),
  );
  return learnStartTime({
    tasks,
    settingMs: 90 * SECOND,
    registration: (task) => {
      const index = tasks.indexOf(task);
      const took = seconds[index];
      return typeof took === 'number' ? ((createdAt(index) + took * SECOND) as EpochMs) : 'never';
    },
  });
}

describe('the start time of a pool', () => {
  it.each([
    {
      seconds: [],
      expected: { from: 'setting', samples: 0, p50Ms: 90_000, p95Ms: 90_000 },
      because: 'no start was seen',
    },
    {
      seconds: [30, 40],
      expected: { from: 'setting', samples: 2, p50Ms: 90_000, p95Ms: 90_000 },
      because: 'two starts are too few',
    },
    {
      seconds: [30, 50, 40],
      expected: { from: 'learned', samples: 3, p50Ms: 40_000, p95Ms: 50_000 },
      because: 'three do',
    },
    {
      seconds: [30, 'never', 40],
      expected: { from: 'setting', samples: 2, p50Ms: 90_000, p95Ms: 90_000 },
      because: 'a task without a daemon is no start',
    },
    {
      seconds: [30, 50, 40, 901, -1],
      expected: { from: 'learned', samples: 3, p50Ms: 40_000, p95Ms: 50_000 },
      because: 'a daemon that registered again, or before its task, gives no start time',
    },
    {
      seconds: Array.from({ length: 20 }, (_, index) => index + 1),
      expected: { from: 'learned', samples: 20, p50Ms: 10_000, p95Ms: 19_000 },
      because: 'one start in twenty may take longer',
    },
    {
      seconds: [...Array<number>(50).fill(30), ...Array<number>(50).fill(300)],
      expected: { from: 'learned', samples: 50, p50Ms: 30_000, p95Ms: 30_000 },
      because: 'the newest fifty count',
    },
  ] as const)('of starts of $seconds s is $expected, because $because', ({ seconds, expected }) => {
    expect(learn(seconds)).toEqual(expected);
  });

  it('needs the time when ECS created a task', () => {
    const tasks = [1, 2, 3].map((index) => {
      const { createdAt: _, ...task } = aTask({ taskArn: arnOf(index) });
      return task;
    });
    expect(learnStartTime({ tasks, settingMs: 1, registration: () => NOW }).from).toBe('setting');
  });
});

it('ignores a daemon that had to wait for its lease', () => {
  const [quick, late] = [10 * SECOND, 121 * SECOND];
  const of = (ms: number) =>
    learnStartTime({
      tasks: [1, 2, 3].map((index) =>
        aTask({ taskArn: arnOf(index), createdAt: ago(HOUR), startedAt: ago(HOUR - 30 * SECOND) }),
      ),
      settingMs: 90 * SECOND,
      registration: () => ago(HOUR - 30 * SECOND - ms),
    });
  expect(of(quick)).toMatchObject({ from: 'learned', p95Ms: 40_000 });
  expect(of(late)).toMatchObject({ from: 'setting', samples: 0 });
});
