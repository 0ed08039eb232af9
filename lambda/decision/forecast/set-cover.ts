/**
 * Covering: the options that answer every need at the least cost together, where a need is answered by any of its options.
 * Exact: what follows from the needs alone is settled first, which mostly leaves nothing; the rest is tried, the best bound first.
 */
import { by, sum } from '../model/collections.ts';

type Sets<T> = readonly ReadonlySet<T>[];
type Choice<T> = { readonly open: Sets<T>; readonly chosen: readonly T[] };

/** Steps times options: far more than real needs take, and some 50 ms. The best that was found until then is good. */
const MOST_WORK = 50_000;

/** The cheapest cover; between equals the options that come first. Needs without any option are left out. */
export function cheapestCover<T>(
  needs: readonly (readonly T[])[],
  costOf: (option: T) => number,
): ReadonlySet<T> {
  const costs = new Map(needs.flat().map((option) => [option, costOf(option)]));
  const cost = (option: T): number => costs.get(option) ?? 0;
  const totalOf = (options: readonly T[]): number => sum(options, cost);
  let best: readonly T[] | undefined;
  const size = sum(needs, ({ length }) => length);
  let work = 0;
  const search = (choice: Choice<T>): void => {
    const { open, chosen } = settle(choice, cost);
    if (best !== undefined && totalOf(chosen) + atLeast(open, cost) >= totalOf(best)) return;
    const [next] = open.toSorted(by(({ size }) => size));
    work += size;
    if (next === undefined) best = chosen;
    else if (work <= MOST_WORK || best === undefined)
      for (const option of [...next].toSorted(by(cost)))
        search({ open: without(open, option), chosen: [...chosen, option] });
  };
  search({ open: needs.filter(({ length }) => length > 0).map((options) => new Set(options)), chosen: [] });
  return new Set(best);
}

function without<T>(open: Sets<T>, option: T): Sets<T> {
  return open.filter((options) => !options.has(option));
}

/** Takes what has to be taken, until nothing more follows. */
function settle<T>({ open, chosen }: Choice<T>, cost: (option: T) => number): Choice<T> {
  const left = withoutBeaten(withoutImplied(open), cost);
  const forced = new Set(left.filter(({ size }) => size === 1).flatMap((options) => [...options]));
  if (forced.size > 0) {
    const rest = left.filter((options) => options.isDisjointFrom(forced));
    return settle({ open: rest, chosen: [...chosen, ...forced] }, cost);
  }
  const isSmaller = sum(left, ({ size }) => size) < sum(open, ({ size }) => size);
  return isSmaller ? settle({ open: left, chosen }, cost) : { open: left, chosen };
}

/** What answers a need answers every need that has all its options. */
function withoutImplied<T>(open: Sets<T>): Sets<T> {
  const inOrder = open.toSorted(by(({ size }) => size));
  return inOrder.filter(
    (options, index) => !inOrder.slice(0, index).some((other) => other.isSubsetOf(options)),
  );
}

/** An option that answers nothing that another, which is no dearer, doesn't answer too, is not needed. */
function withoutBeaten<T>(open: Sets<T>, cost: (option: T) => number): Sets<T> {
  const answers = new Map<T, Set<ReadonlySet<T>>>();
  for (const options of open)
    for (const option of options) answers.set(option, (answers.get(option) ?? new Set()).add(options));
  const best = [...answers].toSorted(
    by(
      ([option]) => cost(option),
      ([, answered]) => -answered.size,
    ),
  );
  const beaten = new Set(
    best.flatMap(([option, answered], index) =>
      best.slice(0, index).some(([, others]) => answered.isSubsetOf(others)) ? [option] : [],
    ),
  );
  return open.map((options) => options.difference(beaten));
}

/** A bound on what the rest costs: needs that have no option in common are answered one by one. */
function atLeast<T>(open: Sets<T>, cost: (option: T) => number): number {
  const taken = new Set<T>();
  let total = 0;
  for (const options of open.toSorted(by(({ size }) => size))) {
    if (!options.isDisjointFrom(taken)) continue;
    for (const option of options) taken.add(option);
    total += Math.min(...[...options].map(cost));
  }
  return total;
}
