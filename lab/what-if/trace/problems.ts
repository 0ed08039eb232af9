/** Collects the problems of a trace file. Its text has one line for each problem. */
import { formatProblem } from '../../../lambda/config/problems/problems.ts';
import { some } from '../../../lambda/explain/format.ts';

/** A trace cannot be used. The message has one line for each problem. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
}

export type LineProblem = {
  /** The first line is 1. */
  readonly line: number;
  /** Such as `tags.size`; empty for the whole line. */
  readonly path: string;
  readonly message: string;
};

const MOST = 10;

/** The problems of a file: the first 10, and the number of all. */
export class Problems {
  readonly #file: string;
  readonly #first: string[] = [];
  #count = 0;
  #badLines = 0;

  constructor(file: string) {
    this.#file = file;
  }

  add(problems: readonly LineProblem[]): void {
    if (problems.length > 0) this.#badLines++;
    for (const problem of problems) {
      this.#count++;
      if (this.#first.length < MOST)
        this.#first.push(formatProblem({ severity: 'error', file: this.#file, ...problem }));
    }
  }

  get badLines(): number {
    return this.#badLines;
  }

  /** Returns a remark about bad lines. Throws TraceError if all are bad, or without `skipBad`. */
  settle(good: number, skipBad: boolean): readonly string[] {
    if (this.#badLines === 0) return [];
    const bad = `${some(this.#badLines, 'line')} with errors`;
    if (good === 0) throw new TraceError(this.#text);
    if (!skipBad)
      throw new TraceError(
        `${this.#text}\n${this.#file}: ${bad}, ${good} valid; correct the errors, or use --skip-bad to leave those lines out`,
      );
    return [`left out ${bad}; the first: ${this.#first[0] ?? ''}`];
  }

  /** Throws TraceError with the problems so far. */
  refuse(): never {
    throw new TraceError(this.#text);
  }

  get #text(): string {
    const more = this.#count - this.#first.length;
    return [...this.#first, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
  }
}
