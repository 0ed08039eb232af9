import { describe, expect, it } from 'vitest';
import { studentT } from '../../../backtest/estimate/estimate.ts';

describe('studentT', () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2
  it.each([
    { confidence: 0.9, freedom: 1, t: 6.314 },
    { confidence: 0.9, freedom: 2, t: 2.92 },
    { confidence: 0.9, freedom: 6, t: 1.943 },
    { confidence: 0.9, freedom: 13, t: 1.771 },
    { confidence: 0.95, freedom: 1, t: 12.706 },
    { confidence: 0.95, freedom: 4, t: 2.776 },
    { confidence: 0.95, freedom: 19, t: 2.093 },
    { confidence: 0.98, freedom: 5, t: 3.365 },
    { confidence: 0.998, freedom: 1, t: 318.309 },
  ])('is $t for $confidence and $freedom degrees of freedom', ({ confidence, freedom, t }) => {
    expect(studentT(confidence, freedom)).toBeCloseTo(t, 3);
  });
});
