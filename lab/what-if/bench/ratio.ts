/** What one policy costs for each dollar of another, and how sure that is. */
import { sum } from '../../../lambda/decision/model/collections.ts';
import { studentT } from '../estimate/estimate.ts';

const CONFIDENCE = 0.95;

/** `margin`: half of the 95 % interval. Undefined: there are fewer than two units. */
export type Ratio = { readonly value: number; readonly margin: number | undefined };

/**
 * The ratio of two sums over the same units, such as days, in dollars. The interval is for other units of the kind: it
 * has what differs from unit to unit, and assumes that one says nothing of the next.
 */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Ratio {
  const total = sum(theirs, (each) => each);
  const value = sum(ours, (each) => each) / total;
  const count = ours.length;
  if (count < 2) return { value, margin: undefined };
  const residuals = ours.map((each, index) => each - value * (theirs[index] ?? 0));
  const squares = sum(residuals, (each) => each ** 2);
  const error = Math.sqrt((squares * count) / (count - 1)) / total;
  return { value, margin: studentT(CONFIDENCE, count - 1) * error };
}

/** `-`: the other costs nothing, as on a day without builds. */
export function ratioText({ value, margin }: Ratio): string {
  if (!Number.isFinite(value)) return '-';
  return margin === undefined ? value.toFixed(2) : `${value.toFixed(2)} ± ${margin.toFixed(2)}`;
}
