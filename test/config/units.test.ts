/** Values of settings with units. */
import { expect, it } from 'vitest';
import { shownDuration } from '../../lambda/config/problems/shown.ts';
import { parseDuration } from '../../lambda/config/schema/durations.ts';
import {
  cpusFor,
  describeMemories,
  FARGATE_CPUS,
  FARGATE_MEMORY,
  memoriesFor,
} from '../../lambda/config/schema/fargate-sizes.ts';

it.each([
  ['0s', 0],
  ['90s', 90_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['999999h', 999_999 * 3_600_000],
])('reads %s as %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each(['', '5', '5 m', '1.5h', '-1s', '1h30m', '5M', '5min', '1d', ' 5m', '5m\n', '1000000h'])(
  'refuses %j as a duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

it.each(['0s', '90s', '5m', '1h', '36h'])('formats %s as it was written', (text) => {
  expect(shownDuration(parseDuration(text) ?? Number.NaN)).toBe(text);
});

it.each([
  { cpu: 256, smallest: 512, largest: 2048, sizes: 3 },
  { cpu: 512, smallest: 1024, largest: 4096, sizes: 4 },
  { cpu: 1024, smallest: 2048, largest: 8192, sizes: 7 },
  { cpu: 2048, smallest: 4096, largest: 16_384, sizes: 13 },
  { cpu: 4096, smallest: 8192, largest: 30_720, sizes: 23 },
  { cpu: 8192, smallest: 16_384, largest: 61_440, sizes: 12 },
  { cpu: 16_384, smallest: 32_768, largest: 122_880, sizes: 12 },
])(
  'has $sizes memory sizes for cpu $cpu, from $smallest to $largest MiB',
  ({ cpu, smallest, largest, sizes }) => {
    const memories = memoriesFor(cpu);
    expect([memories[0], memories.at(-1), memories.length]).toEqual([smallest, largest, sizes]);
  },
);

it('knows seven cpu sizes and no memory for another', () => {
  expect(FARGATE_CPUS).toEqual([256, 512, 1024, 2048, 4096, 8192, 16_384]);
  expect(memoriesFor(768)).toEqual([]);
});

it('has the smallest and the largest memory of the table', () => {
  const all = FARGATE_CPUS.flatMap(memoriesFor);
  expect(FARGATE_MEMORY).toEqual({ min: Math.min(...all), max: Math.max(...all) });
});

it('lists the cpu sizes that support a memory size', () => {
  expect(cpusFor(16_384)).toEqual([2048, 4096, 8192]);
  expect(cpusFor(1500)).toEqual([]);
});

it('describes few sizes as a list and many as a range', () => {
  expect(describeMemories(256)).toBe('512, 1024, 2048');
  expect(describeMemories(8192)).toBe('16384 to 61440 in steps of 4096');
});
