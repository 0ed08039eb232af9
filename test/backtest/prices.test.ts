import { describe, expect, it } from 'vitest';
import { dollarsPerHour, priceDate } from '../../backtest/replay/prices.ts';
import { priceOf } from '../../lambda/decision/settings/prices.ts';
import { aPool } from '../support/parts.ts';

describe("Fargate's prices", () => {
  it.each([
    aPool(),
    aPool({ architecture: 'x86_64' }),
    aPool({ cpu: 2048, memory: 8192, spot: true }),
    aPool({ cpu: 256, memory: 512, architecture: 'x86_64', spot: true }),
  ])('of us-east-1 are those that the decision compares', (pool) => {
    expect(Math.round(dollarsPerHour(pool, 'us-east-1') * 1e6)).toBe(priceOf(pool));
  });

  it.each([
    // 1 vCPU and 2 GB
    { region: 'eu-central-1', architecture: 'arm64', expected: 0.03725 + 2 * 0.00409 },
    { region: 'eu-central-1', architecture: 'x86_64', expected: 0.04656 + 2 * 0.00511 },
    { region: 'ap-south-1', architecture: 'arm64', expected: 0.02383 + 2 * 0.00261 },
  ] as const)(
    'make $expected of a task on $architecture in $region',
    ({ region, architecture, expected }) => {
      expect(dollarsPerHour(aPool({ architecture }), region)).toBeCloseTo(expected, 10);
    },
  );

  it('have a day', () => {
    expect(priceDate('eu-west-1')).toMatch(/^2026-\d\d-\d\d$/);
  });

  it.each(['mars-1', '', 'toString'])(
    'of "%s" are an error that names the regions that are known',
    (region) => {
      expect(() => dollarsPerHour(aPool(), region)).toThrow(
        /^finding Fargate's prices: there are none for the region ".*"; take one of us-east-1, .*ap-southeast-1/,
      );
    },
  );
});
