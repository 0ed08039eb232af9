/** Tracks the desired counts of all pools, and their peaks. */
import { sum } from '../../lambda/decision/model/collections.ts';
import type { Figures } from './result.ts';

export class DesiredCounts {
  readonly #now = new Map<string, number>();
  readonly #most = new Map<string, number>();
  #mostOfAll = 0;

  set(pool: string, count: number): void {
    this.#now.set(pool, count);
    this.#most.set(pool, Math.max(count, this.#most.get(pool) ?? 0));
    this.#mostOfAll = Math.max(
      this.#mostOfAll,
      sum([...this.#now.values()], (each) => each),
    );
  }

  peaks(): Figures['peaks'] {
    return { all: this.#mostOfAll, byPool: Object.fromEntries(this.#most) };
  }
}
