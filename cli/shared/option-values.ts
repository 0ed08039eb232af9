/** Parsers of options. Each throws InvalidArgumentError; commander adds the option's name. */
import { InvalidArgumentError } from 'commander';

/** The parser of a whole number from 1 to `most`. */
export function countTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`Write a whole number from 1 to ${most}.`);
  };
}
