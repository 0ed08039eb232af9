import { describe, expect, it } from 'vitest';
import { partOf } from '../../bench/bundle.ts';
import { growthExponent, median } from '../../bench/shared/statistics.ts';

describe('median', () => {
  it.each([
    { values: [3], expected: 3 },
    { values: [9, 1, 5], expected: 5 },
    { values: [9, 1, 5, 7], expected: 6 },
  ])('is $expected for $values', ({ values, expected }) => {
    expect(median(values)).toBe(expected);
  });

  it('throws without values', () => {
    expect(() => median([])).toThrow('there are no values');
  });
});

describe('growthExponent', () => {
  it.each([0, 0.5, 1, 2])('is %d for times that grow with this power of the size', (exponent) => {
    const points = [100, 1_000, 10_000].map((size) => ({ size, ms: 3 * size ** exponent }));
    expect(growthExponent(points)).toBeCloseTo(exponent, 10);
  });
});

describe('partOf', () => {
  it.each([
    { source: '../../node_modules/undici/lib/core/util.js', expected: 'undici' },
    { source: '../../node_modules/@smithy/core/dist-es/index.js', expected: 'AWS SDK (@aws-sdk, @smithy)' },
    { source: '../../node_modules/@aws-sdk/core/node_modules/tslib/tslib.js', expected: 'tslib' },
    { source: '../../node_modules/@aws-lambda-powertools/logger/lib/esm/Logger.js', expected: 'Powertools' },
    { source: '../../lambda/core/decide.ts', expected: 'the autoscaler itself' },
    { source: undefined, expected: 'bundler runtime' },
  ])('assigns $source to $expected', ({ source, expected }) => {
    expect(partOf(source)).toBe(expected);
  });
});
