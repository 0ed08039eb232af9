/** Values with small numbers for names: the same number for the same key. */
export class Interned<T> {
  readonly #values: { readonly value: T }[] = [];
  readonly #ids = new Map<string, number>();
  readonly #keyOf: (value: T) => string;
  readonly #most: number;

  /** @param most values that there may be: ids are below it */
  constructor(keyOf: (value: T) => string, most: number) {
    this.#keyOf = keyOf;
    this.#most = most;
  }

  get size(): number {
    return this.#values.length;
  }

  idOf(value: T): number {
    const key = this.#keyOf(value);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#values.length;
    if (id >= this.#most)
      throw new Error(
        `exploring: more than ${this.#most} different parts of a state; choose a smaller bound`,
      );
    this.#values.push({ value });
    this.#ids.set(key, id);
    return id;
  }

  at(id: number): T {
    const entry = this.#values[id];
    if (entry === undefined) throw new Error(`exploring: nothing has the number ${id}`);
    return entry.value;
  }
}

/** A function of small whole numbers, worked out once for each. */
export function remembered<T>(compute: (id: number) => T): (id: number) => T {
  const known: (T | undefined)[] = [];
  return (id) => {
    const found = known[id];
    if (found !== undefined) return found;
    const value = compute(id);
    known[id] = value;
    return value;
  };
}
