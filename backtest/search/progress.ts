/** Computes the progress of a backtest from the progress of its parts. */
import { sum } from '../../lambda/decision/model/collections.ts';

/** `onProgress`: takes the share of the work that is done, 0 to 1, and the name of the part that runs. */
type ProgressOptions = { readonly onProgress?: (share: number, doing: string) => void };

/**
 * The weighted progress of several parts. `least`: the weight of all parts, as far as it is known
 * before they are added.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #least: number;
  readonly #parts: { readonly weight: number; share: number }[] = [];

  constructor(options: ProgressOptions, least = 0) {
    this.#options = options;
    this.#least = least;
  }

  add(doing: string, weight: number): (share: number) => void {
    const part = { weight, share: 0 };
    this.#parts.push(part);
    return (share) => {
      // two runs may report to the same part
      part.share = Math.max(part.share, share);
      const done = sum(this.#parts, (each) => each.weight * each.share);
      const all = sum(this.#parts, (each) => each.weight);
      this.#options.onProgress?.(done / Math.max(this.#least, all), doing);
    };
  }
}
