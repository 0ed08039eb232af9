/** Parsers of options. Each throws InvalidArgumentError; commander adds the option's name. */
import { InvalidArgumentError } from 'commander';
import { time } from '../../lambda/adapters/shared/time.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';

export function parseTime(text: string): EpochMs {
  const result = time.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError(
    'Write a time with its zone: 2026-03-02T08:58:00Z or 2026-03-02T09:58:00+01:00.',
  );
}

/** The parser of a whole number from 1 to `most`. */
export function countTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`Write a whole number from 1 to ${most}.`);
  };
}
