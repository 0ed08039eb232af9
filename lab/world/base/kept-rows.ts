/**
 * A row of a list is the same object until something that it shows has changed, which most rows do seldom: then who
 * reads the list in this process can parse each row once (lab/world/base/parse-once.ts).
 */
export class KeptRows<R extends object> {
  readonly #known = new WeakMap<R, { readonly shown: readonly unknown[]; readonly row: object }>();

  /** The row of a record. `shown`: all that the row shows and that may change. */
  of<Row extends object>(record: R, shown: readonly unknown[], make: () => Row): Row {
    const known = this.#known.get(record);
    if (known !== undefined && areSame(known.shown, shown)) return known.row as Row;
    const row = make();
    this.#known.set(record, { shown, row });
    return row;
  }
}

function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
