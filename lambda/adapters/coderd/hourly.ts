import type { EpochMs } from '../../decision/model/brands.ts';

const KEPT_MS = 3_600_000;
/** The look waits for the answer, so the time is short. */
const BUDGET_MS = 5_000;

/** A value that is read at most once an hour. */
export class Hourly<T> {
  #last: { readonly about: string; readonly at: EpochMs; readonly value: T | undefined } | undefined;

  /** The value that was read last; undefined if none was. */
  get last(): T | undefined {
    return this.#last?.value;
  }

  /**
   * The value, at most an hour older than `now`. Does not throw: after a failure the value is the
   * one before it, undefined if there is none. Another `about` is read at once.
   */
  async at(
    now: EpochMs,
    read: (signal: AbortSignal) => Promise<T | undefined>,
    about = '',
  ): Promise<T | undefined> {
    const last = this.#last?.about === about ? this.#last : undefined;
    if (last !== undefined && Math.abs(now - last.at) < KEPT_MS) return last.value;
    // Set this before the request: if coderd does not answer, the next look must not ask again.
    this.#last = { about, at: now, value: last?.value };
    try {
      const value = await read(AbortSignal.timeout(BUDGET_MS));
      this.#last = { about, at: now, value };
      return value;
    } catch {
      return last?.value;
    }
  }
}
