/**
 * Works something out once for each object, for as long as the object lives. For pure functions of what never changes: the
 * answers are the same as without it.
 */
export function memoized<K extends object, V extends NonNullable<unknown>>(of: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = of(key);
    known.set(key, value);
    return value;
  };
}
