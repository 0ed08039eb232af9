import { sum } from '../../lambda/decision/model/collections.ts';

/** The mean of the values; 0 if there are none. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values, (value) => value) / values.length;
}
