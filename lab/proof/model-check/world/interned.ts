/** A state does not fit into the numbers that the exploration packs states into. */
export class ExplorationError extends Error {
  override readonly name = 'ExplorationError';
}

/** Numbers values: values with the same key get the same small number. */
export class Interned<T> {
  readonly #values: { readonly value: T }[] = [];
  readonly #ids = new Map<string, number>();
  readonly #keyOf: (value: T) => string;
  readonly #most: number;

  /** @throws ExplorationError from `idOf` above `most` values, and from `at` for an unknown id */
  constructor(keyOf: (value: T) => string, most: number) {
    this.#keyOf = keyOf;
    this.#most = most;
  }

  idOf(value: T): number {
    const key = this.#keyOf(value);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#values.length;
    if (id >= this.#most)
      throw new ExplorationError(
        `numbering parts of a state: there are more than ${this.#most} different parts; choose a smaller bound`,
      );
    this.#values.push({ value });
    this.#ids.set(key, id);
    return id;
  }

  at(id: number): T {
    const entry = this.#values[id];
    if (entry === undefined)
      throw new ExplorationError(`reading part ${id} of a state: no part has this number`);
    return entry.value;
  }
}

/** Caches a function of small whole numbers. */
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
