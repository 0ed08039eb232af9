import { describe, expect, it } from 'vitest';
import { priceOf } from '../../../lambda/decision/settings/prices.ts';
import { aPool } from '../../../test/support/parts.ts';
import { dollarsPerHour, priceDate } from '../../what-if/replay/prices.ts';

describe('dollarsPerHour', () => {
  it.each([
    aPool(),
    aPool({ architecture: 'x86_64' }),
    aPool({ cpu: 2048, memory: 8192, spot: true }),
    aPool({ cpu: 256, memory: 512, architecture: 'x86_64', spot: true }),
    aPool({ instances: { provider: 'builders' } }),
    aPool({ instances: { provider: 'builders', dollarsPerHour: 0.01 } }),
  ])('has the prices of the decision for us-east-1 (pool %#)', (pool) => {
    expect(Math.round(dollarsPerHour(pool, 'us-east-1') * 1e6)).toBe(priceOf(pool));
  });

  it.each([
    // 1 vCPU and 2 GB
    { region: 'eu-central-1', architecture: 'arm64', expected: 0.03725 + 2 * 0.00409 },
    { region: 'eu-central-1', architecture: 'x86_64', expected: 0.04656 + 2 * 0.00511 },
    { region: 'ap-south-1', architecture: 'arm64', expected: 0.02383 + 2 * 0.00261 },
  ] as const)(
    'is $expected for a task of 1 vCPU and 2 GB on $architecture in $region',
    ({ region, architecture, expected }) => {
      expect(dollarsPerHour(aPool({ architecture }), region)).toBeCloseTo(expected, 10);
    },
  );

  it('has a date for the prices of each region', () => {
    expect(priceDate('eu-west-1')).toMatch(/^2026-\d\d-\d\d$/);
  });

  it.each(['mars-1', '', 'toString'])(
    'throws for the unknown region "%s" and names the known regions',
    (region) => {
      expect(() => dollarsPerHour(aPool(), region)).toThrow(
        /^finding Fargate's prices: the region ".*" is unknown; choose the region with the nearest prices from us-east-1, .*ap-southeast-1/,
      );
    },
  );
});
