/** Computes the progress of a backtest from the progress of its parts. */

/** `onProgress`: takes the share of the work that is done, 0 to 1, and the name of the part that runs. */
type ProgressOptions = { readonly onProgress?: (share: number, doing: string) => void };

/** The weighted progress of several parts. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #parts: { readonly weight: number; share: number }[] = [];

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  add(doing: string, weight: number): (share: number) => void {
    const part = { weight, share: 0 };
    this.#parts.push(part);
    return (share) => {
      // two runs may report to the same part
      part.share = Math.max(part.share, share);
      const sum = (of: (part: { weight: number; share: number }) => number): number =>
        this.#parts.reduce((total, each) => total + of(each), 0);
      this.#options.onProgress?.(sum((each) => each.weight * each.share) / sum((each) => each.weight), doing);
    };
  }
}
