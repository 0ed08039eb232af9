import { sum } from '../../lambda/decision/model/collections.ts';

/** 0 of nothing. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values, (value) => value) / values.length;
}
