/**
 * The value of a word that others wrote, such as a tag. A table is an object, which inherits values of words such as
 * `constructor`: for these the result is undefined.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** Orders strings by code unit. The order is the same on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The names of the fields that hold a number or a string. */
type Ordered<T> = {
  [Key in keyof T & string]: T[Key] extends number | string ? Key : never;
}[keyof T & string];

/** Makes a comparator by the first key that differs: the name of a field, or a function. */
export function by<T>(
  ...keys: readonly (Ordered<T> | ((item: T) => number | string))[]
): (a: T, b: T) => number {
  const values = keys.map((key) =>
    typeof key === 'function' ? key : (item: T) => item[key] as number | string,
  );
  return (a, b) => {
    for (const value of values) {
      const left = value(a);
      const right = value(b);
      if (left < right) return -1;
      if (left > right) return 1;
    }
    return 0;
  };
}

/** Indexes items by a key. Of items with the same key the last one counts. */
export function indexBy<T, Key>(items: readonly T[], keyOf: (item: T) => Key): ReadonlyMap<Key, T> {
  const index = new Map<Key, T>();
  for (const item of items) index.set(keyOf(item), item);
  return index;
}

/** Keeps the first of all items that have the same key. */
export function unique<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  const seen = new Set<string>();
  return items.filter((item) => seen.size < seen.add(key(item)).size);
}

/** Splits items into those for which the predicate holds and the others. */
export function partition<T>(
  items: readonly T[],
  holds: (item: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  return [items.filter(holds), items.filter((item) => !holds(item))];
}

/** Splits items into groups of the same key, in the order in which the keys come. */
export function groupsBy<T>(
  items: readonly T[],
  keyOf: (item: T) => unknown,
): readonly (readonly [T, ...T[]])[] {
  return [...Map.groupBy(items, keyOf).values()] as [T, ...T[]][];
}

/** Adds up one number of each item. */
export function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** Splits items into batches of `size`, in order. The last batch may be smaller. */
export function batchesOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** By nearest rank, of ascending values: at least `share` (0 to 1) are no greater. */
export function percentile(sorted: readonly number[], share: number, none = 0): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? none;
}

/** The mean of the values; 0 if there are none. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values, (value) => value) / values.length;
}

/** Counts the numbers up to `most`. The numbers are in ascending order. */
export function countUpTo(sorted: readonly number[], most: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}
