/** Weighted set cover: a few options that satisfy every need, where any option of a need satisfies it. */
import { by } from '../model/collections.ts';

/**
 * The option that costs least for each need it satisfies comes first, until all needs are satisfied; then those
 * that turned out to be needless go. It costs at most H(needs) times the least (Chvatal, 1979), and mostly that. At
 * equal costs, earlier options win. Needs without options are ignored.
 */
export function cheapCover<T>(
  needs: readonly (readonly T[])[],
  costs: ReadonlyMap<T, number>,
): ReadonlySet<T> {
  const chosen = new Set<T>();
  const isOpen = (options: readonly T[]): boolean =>
    options.length > 0 && !options.some((option) => chosen.has(option));
  for (let open = needs.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
    const satisfied = Map.groupBy(open.flat(), (option) => option);
    const [best] = [...satisfied].toSorted(by(([option, { length }]) => (costs.get(option) ?? 0) / length));
    if (best !== undefined) chosen.add(best[0]);
  }
  for (const option of [...chosen].toSorted(by((each) => -(costs.get(each) ?? 0))))
    if (
      needs.every(
        (options) => !options.includes(option) || options.some((it) => it !== option && chosen.has(it)),
      )
    )
      chosen.delete(option);
  return chosen;
}
