/**
 * Caches the result of a pure function for each object, for as long as the object lives. The
 * objects must never change. Results are the same as without the cache.
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
