import { expect, it } from 'vitest';
import {
  brief,
  comparison,
  dollars,
  estimateText,
  hours,
  seconds,
  share,
} from '../../../what-if/report/parts/numbers.ts';

it.each([
  { of: seconds, value: 0, says: '0 s' },
  { of: seconds, value: 0.44, says: '0.4 s' },
  { of: seconds, value: 9.98, says: '10 s' },
  { of: seconds, value: 119.4, says: '119 s' },
  { of: seconds, value: 119.6, says: '2 min' },
  { of: seconds, value: 1800, says: '30 min' },
  { of: seconds, value: 9000, says: '2.5 h' },
  { of: dollars, value: 0, says: '$0.00' },
  { of: dollars, value: 0.00412, says: '$0.0041' },
  { of: dollars, value: 41.2, says: '$41.20' },
  { of: dollars, value: 4112.4, says: '$4,112' },
  { of: hours, value: 12.34, says: '12.3 h' },
  { of: hours, value: 27_720.4, says: '27,720 h' },
  { of: share, value: 0, says: '0%' },
  { of: share, value: 0.0001, says: '<0.1%' },
  { of: share, value: 0.0123, says: '1.2%' },
  { of: share, value: 0.456, says: '46%' },
  { of: share, value: 0.9999, says: '>99.9%' },
  { of: share, value: 1, says: '100%' },
])('formats $value as $says', ({ of, value, says }) => {
  expect(of(value)).toBe(says);
});

it.each([
  { value: 13, other: 100, says: '87% less' },
  { value: 112, other: 100, says: '12% more' },
  { value: 320, other: 100, says: '3.2 times as much' },
  { value: 100.4, other: 100, says: 'as much' },
])('compares $value with $other: $says', ({ value, other, says }) => {
  expect(comparison(value, other)).toBe(says);
});

it.each([
  { range: [36, 47.2] as const, of: dollars, says: '$41.00 ($36.00 to $47.20)' },
  { range: [3.14, 1236] as const, of: brief, between: '-', says: '41 (3.14-1,236)' },
  { range: [41, 41.001] as const, of: dollars, says: '$41.00' },
  { range: undefined, of: seconds, says: '41 s' },
])('writes an estimate with the range $range as $says', ({ range, of, between, says }) => {
  expect(estimateText({ value: 41, ...(range && { range }) }, of, between)).toBe(says);
});
