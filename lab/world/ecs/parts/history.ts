import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { SimulatorError } from '../../base/simulator-error.ts';

/** A value with its recent history: reads of ECS are eventually consistent (docs/internals/aws.md §2). */
export class History<T> {
  readonly #keepMs: number;
  readonly #entries: { readonly at: EpochMs; readonly value: T }[] = [];

  constructor(keepMs: number, at: EpochMs, first: T) {
    this.#keepMs = keepMs;
    this.#entries.push({ at, value: first });
  }

  get latest(): T {
    const entry = this.#entries.at(-1);
    if (entry === undefined) throw new SimulatorError('reading a history: it is empty; put a value first');
    return entry.value;
  }

  get entries(): readonly { readonly at: EpochMs; readonly value: T }[] {
    return this.#entries;
  }

  put(at: EpochMs, value: T): void {
    this.#entries.push({ at, value });
    while ((this.#entries[1]?.at ?? Infinity) <= at - this.#keepMs) this.#entries.shift();
  }

  /** The value at `time`; undefined before the first value. */
  at(time: EpochMs): T | undefined {
    return this.#entries.findLast((entry) => entry.at <= time)?.value;
  }
}
