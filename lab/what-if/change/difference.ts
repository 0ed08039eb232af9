/** Both replays of a pair have the same jobs and seed, so differences vary less than the figures do. */
import { meanOf, sum } from '../../../lambda/decision/model/collections.ts';
import { studentT } from '../estimate/estimate.ts';

/** `unclear`: 0 is within the margin of the mean difference. `clear`: it is not, or there is one pair. */
type Clarity = 'none' | 'unclear' | 'clear';

export type Difference = {
  readonly before: number;
  readonly after: number;
  /** `after` less `before`. */
  readonly change: number;
  /** Half of the 95 % confidence interval of `change`. Undefined: one pair only. */
  readonly margin?: number;
  readonly clarity: Clarity;
};

export type Pair<T> = { readonly before: T; readonly after: T };

/** Of the interval of a change. */
export const CONFIDENCE = 0.95;

export const MOST_PAIRS = 20;

export function differenceOf<T>(pairs: readonly Pair<T>[], of: (side: T) => number): Difference {
  const changes = pairs.map(({ before, after }) => of(after) - of(before));
  const change = meanOf(changes);
  const means = {
    before: meanOf(pairs.map(({ before }) => of(before))),
    after: meanOf(pairs.map(({ after }) => of(after))),
    change,
  };
  const clarity = changes.every((each) => each === 0) ? 'none' : 'clear';
  if (pairs.length < 2) return { ...means, clarity };
  const margin = marginOf(changes, change);
  return {
    ...means,
    margin,
    clarity: clarity === 'clear' && Math.abs(change) <= margin ? 'unclear' : clarity,
  };
}

function marginOf(changes: readonly number[], mean: number): number {
  const freedom = changes.length - 1;
  const variance = sum(changes, (each) => (each - mean) ** 2) / freedom;
  return studentT(CONFIDENCE, freedom) * Math.sqrt(variance / changes.length);
}
