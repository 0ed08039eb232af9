/** Small rules: prices, versions, floors, orders. */
import { describe, expect, it } from 'vitest';
import { configuredFloors, floorOf } from '../../lambda/decision/forecast/floors.ts';
import { by, compare, sum } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig, Schedule } from '../../lambda/decision/model/config.ts';
import {
  cleansUpFailedStops,
  compareVersion,
  daemonApiOf,
  filtersDaemons,
  needsServiceAccounts,
  releaseOfImage,
} from '../../lambda/decision/model/version.ts';
import { priceOf } from '../../lambda/decision/settings/prices.ts';
import { aPool, NOW } from '../support/parts.ts';
import { table } from '../support/table.ts';

describe('priceOf, in micro-dollars an hour', () => {
  // computed by hand from the price list: vCPU and GB
  it.each<{ size: Partial<PoolConfig>; expected: number; because: string }>([
    { size: { cpu: 1024, memory: 2048 }, expected: 39_500, because: '0.03238 + 2 × 0.00356' },
    { size: { cpu: 4096, memory: 8192 }, expected: 158_000, because: 'four times as much of both' },
    { size: { cpu: 256, memory: 512 }, expected: 9_875, because: 'a quarter of both' },
    {
      size: { architecture: 'x86_64', cpu: 1024, memory: 2048 },
      expected: 49_370,
      because: '0.04048 + 2 × 0.004445',
    },
    { size: { cpu: 1024, memory: 2048, spot: true }, expected: 11_850, because: 'Spot takes 70 % off' },
  ])('is $expected for $size, because $because', ({ size, expected }) => {
    expect(priceOf(aPool(size))).toBe(expected);
  });
});

describe('versions', () => {
  it.each([
    { version: 'v2.19.0', expected: false },
    { version: 'v2.33.7+3006da5', expected: false },
    { version: 'v2.33.8+3006da5', expected: true },
    { version: 'v2.33.11', expected: true },
    { version: 'v2.34.0-rc.0', expected: false },
    { version: 'v2.34.1', expected: false },
    { version: 'v2.34.2', expected: true },
    { version: 'v2.35.0-rc.1', expected: true },
    { version: 'v2.36.0', expected: true },
    { version: 'v3.0.0', expected: true },
    { version: 'v1.44.6', expected: false },
    { version: 'v2.33.1-devel+3006da5', expected: true },
    { version: 'v0.0.0-devel', expected: true },
    { version: 'latest', expected: true },
    { version: undefined, expected: true },
  ])('says whether $version cleans up failed stops: $expected', ({ version, expected }) => {
    expect(cleansUpFailedStops(version)).toBe(expected);
  });

  it.each([
    { version: 'v2.30.0+3006da5', other: '2.30', expected: 0 },
    { version: '2.30.7', other: '2.30', expected: 0 },
    { version: 'v2.18.5', other: '2.19', expected: -1 },
    { version: 'v2.9.0', other: '2.19', expected: -10 },
    { version: 'v2.100.0', other: '2.19', expected: 81 },
    { version: 'v3.0.0', other: '2.19', expected: 1 },
    { version: 'v1.44.0', other: '2.19', expected: -1 },
    { version: 'v12.1', other: '2.1', expected: 10 },
    { version: 'v0.1.0', other: '2.19', expected: -2 },
    { version: 'v0.0.0-devel', other: '2.19', expected: undefined },
    { version: undefined, other: '2.19', expected: undefined },
    { version: 'latest', other: '2.19', expected: undefined },
    { version: 'v2', other: '2.19', expected: undefined },
    { version: 'main-v2.30', other: '2.19', expected: undefined },
    { version: 'v2.30', other: 'latest', expected: undefined },
  ])('compares $version with $other: $expected', ({ version, other, expected }) => {
    expect(compareVersion(version, other)).toBe(expected);
  });
});

describe('what a release of coderd does', () => {
  it.each([
    { version: 'v2.25.9', filters: false, needs: false },
    { version: 'v2.26.0', filters: true, needs: false },
    { version: 'v2.35.4', filters: true, needs: false },
    { version: 'v2.36.0', filters: true, needs: true },
    { version: undefined, filters: false, needs: true },
  ])(
    '$version filters the list of daemons: $filters; it needs service accounts: $needs',
    ({ version, filters, needs }) => {
      expect(filtersDaemons(version)).toBe(filters);
      expect(needsServiceAccounts(version)).toBe(needs);
    },
  );
});

describe('floors', () => {
  it.each([
    { min: 0, warm: 0, inUse: 3, expected: { count: 0, from: 'min' }, because: 'no floor' },
    { min: 2, warm: 0, inUse: 3, expected: { count: 2, from: 'min' }, because: 'min counts busy ones too' },
    { min: 2, warm: 1, inUse: 3, expected: { count: 4, from: 'warm' }, because: 'warm comes on top' },
    { min: 4, warm: 1, inUse: 3, expected: { count: 4, from: 'min' }, because: 'min wins a tie' },
    { min: 5, warm: 1, inUse: 3, expected: { count: 5, from: 'min' }, because: 'the higher one counts' },
  ])(
    'is $expected for min $min, warm $warm and $inUse in use, because $because',
    ({ min, warm, inUse, expected }) => {
      expect(
        floorOf(
          { ...configuredFloors({ pool: aPool({ min, warm }), minFrom: 'min' }, NOW), wake: 0 },
          { inUse, due: 0, stock: 0 },
        ),
      ).toEqual(expected);
    },
  );

  const allDay = (given: Partial<Schedule>): Schedule => ({
    days: [0, 1, 2, 3, 4, 5, 6],
    fromMinute: 0,
    toMinute: 1440,
    timezone: 'UTC',
    min: 0,
    warm: 0,
    ...given,
  });
  it.each(table<{ scenario: string; pool: Partial<PoolConfig>; due: number; expected: string }>`
    scenario                      | pool                                                       | due | expected
    a schedule above min          | ${{ min: 1, schedules: [allDay({ min: 3 })] }}             | 0   | 3 from schedule
    a schedule at min             | ${{ min: 3, schedules: [allDay({ min: 3 })] }}             | 0   | 3 from min
    a schedule below min          | ${{ min: 4, schedules: [allDay({ min: 3 })] }}             | 0   | 4 from min
    a schedule above warm         | ${{ warm: 1, schedules: [allDay({ warm: 2 })] }}           | 0   | 4 from schedule
    a schedule that is not active | ${{ warm: 1, schedules: [allDay({ warm: 2, days: [] })] }} | 0   | 3 from warm
    jobs that are due             | ${{}}                                                      | 5   | 7 from wake
    jobs that are due beside warm | ${{ warm: 1 }}                                             | 5   | 8 from wake
    jobs that are due below min   | ${{ min: 9 }}                                              | 5   | 9 from min
  `)('is $expected for $scenario and 2 in use', ({ pool, due, expected }) => {
    expect(
      floorOf(
        { ...configuredFloors({ pool: aPool(pool), minFrom: 'min' }, NOW), wake: 0 },
        { inUse: 2, due, stock: 0 },
      ),
    ).toEqual({ count: Number.parseInt(expected, 10), from: expected.split(' ').at(-1) });
  });
});

describe('orders', () => {
  it('orders strings by code unit', () => {
    expect(['b', 'a', 'B', 'a', 'ä', ''].sort(compare)).toEqual(['', 'B', 'a', 'a', 'b', 'ä']);
    expect([compare('a', 'b'), compare('b', 'a'), compare('a', 'a')]).toEqual([-1, 1, 0]);
  });

  it('orders by the first key that differs', () => {
    const order = by<readonly [number, string]>(
      ([first]) => first,
      ([, second]) => second,
    );
    expect([order([1, 'b'], [2, 'a']), order([2, 'a'], [1, 'b'])]).toEqual([-1, 1]);
    expect([order([1, 'a'], [1, 'b']), order([1, 'b'], [1, 'a']), order([1, 'a'], [1, 'a'])]).toEqual([
      -1, 1, 0,
    ]);
  });

  it('adds up all items', () => expect(sum([1, 2, 3], (item) => item * 2)).toBe(12));
});

describe('the daemon API of a release', () => {
  it.each([
    { version: 'v2.18.5', api: 1 },
    { version: 'v2.19.3', api: 2 },
    { version: 'v2.26.0', api: 9 },
    { version: 'v2.29.19', api: 12 },
    { version: 'v2.30.0+3006da5', api: 14 },
    { version: 'v2.31.0', api: 14 },
    { version: 'v2.31.1', api: 15 },
    { version: 'v2.31', api: 14 },
    { version: 'v2.32.8', api: 16 },
    { version: 'v2.33.9-our-terraform', api: 17 },
    { version: 'v2.34.8', api: 18 },
    { version: 'v2.36.0', api: 18 },
    { version: 'v2.37.0', api: undefined },
    { version: 'v2.34.0-rc.0', api: undefined },
    { version: 'v2.36.1-devel+abc', api: undefined },
    { version: 'v3.30.0', api: undefined },
    { version: 'latest', api: undefined },
  ])('is 1.$api for $version', ({ version, api }) => {
    expect(daemonApiOf(version)).toBe(api);
  });
});

it.each([
  { image: 'ghcr.io/coder/coder:v2.34.8', release: 'v2.34.8' },
  { image: 'mirror/ghcr.io/coder/coder:v2.34.8@sha256:00', release: 'v2.34.8' },
  { image: 'coder/coder:v2.34', release: 'v2.34' },
  { image: 'ghcr.io/coder/coder:latest', release: undefined },
  { image: 'ghcr.io/coder/coder', release: undefined },
  { image: 'ghcr.io/somebody/coder:v2.34.8', release: undefined },
])('releaseOfImage of $image is $release', ({ image, release }) => {
  expect(releaseOfImage(image)).toBe(release);
});
