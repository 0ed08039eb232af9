/**
 * Parses options of the backtest. Each parser throws InvalidArgumentError; commander adds the
 * option's name.
 */
import { InvalidArgumentError } from 'commander';
import { BASELINES } from '../../backtest/policies/index.ts';
import { priceDate } from '../../backtest/replay/prices.ts';

/** Ids of policies in `BASELINES`. */
export function parseAgainst(text: string): readonly string[] {
  const known = BASELINES.map(({ id }) => id);
  if (text === 'all') return known;
  if (text === 'none') return [];
  const ids = text.split(',').map((id) => id.trim());
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return ids;
  throw new InvalidArgumentError(
    `There is no policy "${unknown}". Write all, none, or some of ${known.join(',')}.`,
  );
}

/** Dollars. */
export function parseValue(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number of dollars, 0 or more, such as 0.75.');
}

export function parseRegion(text: string): string {
  try {
    priceDate(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
