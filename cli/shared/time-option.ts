import { InvalidArgumentError } from 'commander';
import { time } from '../../lambda/adapters/shared/time.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';

/**
 * Parses an option that is a time. Throws InvalidArgumentError; commander adds the option's name.
 */
export function parseTime(text: string): EpochMs {
  const result = time.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError(
    'Write a time with its zone: 2026-03-02T08:58:00Z or 2026-03-02T09:58:00+01:00.',
  );
}
