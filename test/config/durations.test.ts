import { expect, it } from 'vitest';
import { shownDuration } from '../../lambda/config/problems/shown.ts';
import { parseDuration } from '../../lambda/config/schema/durations.ts';

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
