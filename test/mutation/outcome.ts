/** What became of a mutant. */
export type Outcome = {
  /** File, line and column, from 1. */
  readonly place: string;
  /** The kind of change, and the new text. */
  readonly change: string;
  readonly status: Status;
};

/** `refused`: the compiler does not take it. `survived`: no test noticed it, or none ran it. */
export type Status = 'killed' | 'timeout' | 'refused' | 'survived';

export const isNoticed = ({ status }: Outcome): boolean => status !== 'survived';
