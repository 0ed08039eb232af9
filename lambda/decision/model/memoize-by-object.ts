/** Caches a pure function by its argument, which must never change. */
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

/** As `memoized`, and computed again if one of further inputs is another object. */
export function memoizedWith<K extends object, S extends Readonly<Record<string, unknown>>, V>(
  of: (key: K, inputs: S) => V,
): (key: K, inputs: S) => V {
  const known = new WeakMap<K, { readonly inputs: S; readonly value: V }>();
  return (key, inputs) => {
    const found = known.get(key);
    if (found !== undefined && Object.keys(inputs).every((name) => found.inputs[name] === inputs[name]))
      return found.value;
    const value = of(key, inputs);
    known.set(key, { inputs, value });
    return value;
  };
}
