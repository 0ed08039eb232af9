/** What is wrong with a trace, said once a place. */
import { formatProblem } from '../../lambda/config/problems/problems.ts';

/** A trace that can not be used. Its message has a line a problem. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
}

/** One thing that is wrong with a line. */
export type LineProblem = {
  /** Counts from 1. */
  readonly line: number;
  /** Such as `tags.size`; empty for the whole line. */
  readonly path: string;
  readonly message: string;
};

const MOST = 10;

/** The problems of a file: the first few, and how many there are. */
export class Problems {
  readonly #file: string;
  readonly #first: string[] = [];
  #count = 0;
  #badLines = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Those of one line. */
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

  get first(): string | undefined {
    return this.#first[0];
  }

  /** A line each, and how many more there are. */
  get text(): string {
    const more = this.#count - this.#first.length;
    return [...this.#first, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
  }
}
