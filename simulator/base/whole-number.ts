import { InvalidArgumentError } from 'commander';

/** Reads an option of a command that is a whole number of at most nine digits. Throws what commander shows to its user. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('it must be a whole number');
  return Number(text);
}
