import * as z from 'zod';
import { shownDuration } from '../problems/shown.ts';
import type { Kind } from './kinds.ts';

const MS_PER_UNIT = { s: 1000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d{1,6})([smh])$/;

/** Reads a duration such as `90s`, `5m` or `1h` into milliseconds; undefined if it is not one. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (unit !== 's' && unit !== 'm' && unit !== 'h') return undefined;
  return Number(count) * MS_PER_UNIT[unit];
}

type Range = { readonly fromMs: number; readonly toMs: number };
const ANY: Range = { fromMs: 0, toMs: Number.POSITIVE_INFINITY };

/** A setting that is written as a duration and read as milliseconds. */
export function duration({ fromMs, toMs }: Range = ANY) {
  return z
    .string()
    .regex(DURATION, 'is not a duration; write a whole number and a unit (s, m or h), such as 90s, 5m or 1h')
    .meta({ title: 'duration' satisfies Kind, examples: ['90s', '5m', '1h'] })
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((ms) => Number.isNaN(ms) || (ms >= fromMs && ms <= toMs), {
      error: `is out of range; allowed: ${shownDuration(fromMs)} to ${shownDuration(toMs)}`,
    });
}
