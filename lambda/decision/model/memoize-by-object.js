/** Caches a pure function by its argument, which must never change. */
export function memoized(of) {
  const known = new WeakMap();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = of(key);
    known.set(key, value);
    return value;
  };
}
/** As `memoized`, and computed again if one of further inputs is another object. */
export function memoizedWith(of) {
  const known = new WeakMap();
  return (key, inputs) => {
    const found = known.get(key);
    if (found !== undefined && Object.keys(inputs).every((name) => found.inputs[name] === inputs[name]))
      return found.value;
    const value = of(key, inputs);
    known.set(key, { inputs, value });
    return value;
  };
}
