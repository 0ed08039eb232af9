import { describe, expect, it } from 'vitest';
import { nextWeekText } from '../../../backtest/report/parts/headline.ts';

describe('nextWeekText', () => {
  it.each([
    {
      situation: 'days that differ',
      estimates: {
        dollarsPerMonth: { value: 41, range: [36, 47.2] as const },
        meanWaitS: { value: 4, range: [3.14, 6] as const },
        p95WaitS: { value: 40, range: [40, 40] as const },
      },
      text: 'Nine in ten weeks like these days: $36.00 to $47.20 a month of tasks, mean wait 3.1 s to 6 s, p95 40 s.',
    },
    {
      situation: 'two days',
      estimates: { dollarsPerMonth: { value: 41 }, meanWaitS: { value: 4 }, p95WaitS: { value: 40 } },
      text: 'Fewer than three days show no range for another week.',
    },
  ])('of $situation is $text', ({ estimates, text }) => {
    expect(nextWeekText(estimates)).toBe(text);
  });
});
