/** Chooses the settings of a policy with the lowest total on one trace. */
import type { PolicySettings } from '../policies/policy.ts';
import type { Figures } from '../replay/result.ts';

export type Tried = { readonly settings: PolicySettings; readonly figures: Figures };

/** `totalOf`: the dollars to minimize. The first of equal ones. `tried`: at least one. */
export function cheapestOf<T extends Tried>(
  tried: readonly T[],
  totalOf: (figures: Figures) => number = ({ dollars }) => dollars.total,
): T {
  return tried.reduce((best, each) => (totalOf(each.figures) < totalOf(best.figures) ? each : best));
}
