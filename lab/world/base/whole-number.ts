import { InvalidArgumentError } from 'commander';

/** A whole number of at most nine digits. Throws InvalidArgumentError, which commander prints. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('it must be a whole number');
  return Number(text);
}
