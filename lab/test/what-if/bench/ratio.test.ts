import { expect, it } from 'vitest';
import { ratioOf, ratioText } from '../../../what-if/bench/ratio.ts';

it('divides the sums, and knows no interval from one day', () => {
  expect(ratioOf([3], [4])).toEqual({ value: 0.75, margin: undefined });
  expect(ratioText(ratioOf([3], [4]))).toBe('0.75');
});

it('tells no ratio to a day that costs nothing', () => {
  expect(ratioText(ratioOf([0.2], [0]))).toBe('-');
  expect(ratioText(ratioOf([0], [0]))).toBe('-');
});

it('has an interval as wide as the days differ', () => {
  // residuals 1 and -1 of a ratio of 1, so the standard error of the sum is 2; t is 12.71 with one degree of freedom
  const { value, margin } = ratioOf([11, 9], [10, 10]);
  expect(value).toBe(1);
  expect(margin).toBeCloseTo((12.706 * 2) / 20, 3);
  expect(ratioOf([8, 4, 2], [10, 5, 2.5]).margin).toBeCloseTo(0);
  expect(ratioText(ratioOf([11, 9], [10, 10]))).toBe('1.00 ± 1.27');
});
