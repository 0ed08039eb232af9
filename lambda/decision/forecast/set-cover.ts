/**
 * Weighted set cover: the options that satisfy every need at the least total cost, where any option
 * of a need satisfies it. The result is exact. Simple deductions come first and mostly settle
 * everything; a branch-and-bound search does the rest.
 */
import { by, sum } from '../model/collections.ts';

type Sets<T> = readonly ReadonlySet<T>[];
type Choice<T> = { readonly open: Sets<T>; readonly chosen: readonly T[] };

/** In steps times options, some 50 ms. After it, the best cover found so far is used. */
const MAX_WORK = 50_000;

/** At equal costs, earlier options win. Needs without options are ignored. */
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
    if (best !== undefined && totalOf(chosen) + lowerBound(open, cost) >= totalOf(best)) return;
    const [next] = open.toSorted(by(({ size }) => size));
    work += size;
    if (next === undefined) best = chosen;
    else if (work <= MAX_WORK || best === undefined)
      for (const option of [...next].toSorted(by(cost)))
        search({ open: without(open, option), chosen: [...chosen, option] });
  };
  search({ open: needs.filter(({ length }) => length > 0).map((options) => new Set(options)), chosen: [] });
  return new Set(best);
}

function without<T>(open: Sets<T>, option: T): Sets<T> {
  return open.filter((options) => !options.has(option));
}

/** Chooses the options that are forced, until nothing more follows. */
function settle<T>({ open, chosen }: Choice<T>, cost: (option: T) => number): Choice<T> {
  const left = withoutDominated(withoutImplied(open), cost);
  const forced = new Set(left.filter(({ size }) => size === 1).flatMap((options) => [...options]));
  if (forced.size > 0) {
    const rest = left.filter((options) => options.isDisjointFrom(forced));
    return settle({ open: rest, chosen: [...chosen, ...forced] }, cost);
  }
  const isSmaller = sum(left, ({ size }) => size) < sum(open, ({ size }) => size);
  return isSmaller ? settle({ open: left, chosen }, cost) : { open: left, chosen };
}

/** Removes needs that have all options of another need. */
function withoutImplied<T>(open: Sets<T>): Sets<T> {
  const inOrder = open.toSorted(by(({ size }) => size));
  return inOrder.filter(
    (options, index) => !inOrder.slice(0, index).some((other) => other.isSubsetOf(options)),
  );
}

/** Removes an option if another one costs no more and satisfies all its needs. */
function withoutDominated<T>(open: Sets<T>, cost: (option: T) => number): Sets<T> {
  const needsByOption = new Map<T, Set<ReadonlySet<T>>>();
  for (const options of open)
    for (const option of options)
      needsByOption.set(option, (needsByOption.get(option) ?? new Set()).add(options));
  const best = [...needsByOption].toSorted(
    by(
      ([option]) => cost(option),
      ([, satisfied]) => -satisfied.size,
    ),
  );
  const dominated = new Set(
    best.flatMap(([option, satisfied], index) =>
      best.slice(0, index).some(([, others]) => satisfied.isSubsetOf(others)) ? [option] : [],
    ),
  );
  return open.map((options) => options.difference(dominated));
}

/** A lower bound of the remaining cost: needs without a common option are paid one by one. */
function lowerBound<T>(open: Sets<T>, cost: (option: T) => number): number {
  const taken = new Set<T>();
  let total = 0;
  for (const options of open.toSorted(by(({ size }) => size))) {
    if (!options.isDisjointFrom(taken)) continue;
    for (const option of options) taken.add(option);
    total += Math.min(...[...options].map(cost));
  }
  return total;
}
