/** Orders strings by code unit. The order is the same on every machine. */
export function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
/** Makes a comparator by the first key that differs: the name of a field, or a function. */
export function by(...keys) {
  const values = keys.map((key) => (typeof key === 'function' ? key : (item) => item[key]));
  return (a, b) => {
    for (const value of values) {
      const [left, right] = [value(a), value(b)];
      if (left < right) return -1;
      if (left > right) return 1;
    }
    return 0;
  };
}
/** Keeps the first of all items that have the same key. */
export function unique(items, key) {
  const seen = new Set();
  return items.filter((item) => seen.size < seen.add(key(item)).size);
}
/** Splits items into those for which the predicate holds and the others. */
export function partition(items, holds) {
  return [items.filter(holds), items.filter((item) => !holds(item))];
}
/** Splits items into groups of the same key, in the order in which the keys come. */
export function groupsBy(items, keyOf) {
  return [...Map.groupBy(items, keyOf).values()];
}
/** Adds up one number of each item. */
export function sum(items, of) {
  return items.reduce((total, item) => total + of(item), 0);
}
/** Splits items into batches of `size`, in order. The last batch may be smaller. */
export function batchesOf(items, size) {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
/** By nearest rank, of ascending values: at least `share` (0 to 1) are no greater. */
export function percentile(sorted, share, none = 0) {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? none;
}
/** The mean of the values; 0 if there are none. */
export function meanOf(values) {
  return values.length === 0 ? 0 : sum(values, (value) => value) / values.length;
}
/** Counts the numbers up to `most`. The numbers are in ascending order. */
export function countUpTo(sorted, most) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}
