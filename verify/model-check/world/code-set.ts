/**
 * The reached states in the order of discovery, as whole numbers below 2^53. Each has the state
 * from which it was reached.
 */
export class CodeSet {
  #codes = new Float64Array(1 << 12);
  #parents = new Int32Array(1 << 12);
  /** Hash table with open addressing, at most half full: index into `#codes` plus one, 0 for a free entry. */
  #table = new Int32Array(1 << 13);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  codeAt(index: number): number {
    return this.#codes[index] ?? Number.NaN;
  }

  /** Index of the state that this one was first reached from; -1 for the first. */
  parentOf(index: number): number {
    return this.#parents[index] ?? -1;
  }

  add(code: number, parent: number): boolean {
    const slot = this.#slotOf(code);
    if (this.#table[slot] !== 0) return false;
    if (this.#size === this.#codes.length) this.#growList();
    this.#codes[this.#size] = code;
    this.#parents[this.#size] = parent;
    this.#size++;
    this.#table[slot] = this.#size;
    if (this.#size * 2 > this.#table.length) this.#growTable();
    return true;
  }

  has(code: number): boolean {
    return this.#table[this.#slotOf(code)] !== 0;
  }

  #slotOf(code: number): number {
    const mask = this.#table.length - 1;
    let slot = hash(code) & mask;
    for (;;) {
      const entry = this.#table[slot] ?? 0;
      if (entry === 0 || this.#codes[entry - 1] === code) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #growList(): void {
    const codes = new Float64Array(this.#codes.length * 2);
    codes.set(this.#codes);
    this.#codes = codes;
    const parents = new Int32Array(codes.length);
    parents.set(this.#parents);
    this.#parents = parents;
  }

  #growTable(): void {
    this.#table = new Int32Array(this.#table.length * 2);
    for (let index = 0; index < this.#size; index++)
      this.#table[this.#slotOf(this.#codes[index] ?? 0)] = index + 1;
  }
}

const TWO_32 = 2 ** 32;

function hash(code: number): number {
  const low = code | 0;
  const high = (code / TWO_32) | 0;
  let mixed = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high + 0x9e3779b9, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0x27d4eb2f);
  return mixed ^ (mixed >>> 16);
}
