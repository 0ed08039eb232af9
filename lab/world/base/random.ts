import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

const HEX = '0123456789abcdef';

/** A random number generator with a seed. The same seed gives the same world. */
export class Random {
  readonly #generator: RandomGenerator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A number in [0, 1). */
  next(): number {
    return uniformFloat64(this.#generator);
  }

  /** A real number in [from, to). */
  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** A whole number in [from, to]. */
  whole(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.whole(0, items.length - 1)];
  }

  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += HEX[this.whole(0, 15)];
    return text;
  }

  uuid(): string {
    const h = this.hex(32);
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20)}`;
  }
}
