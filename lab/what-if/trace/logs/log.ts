/** A log of another system, line by line, before it is a trace. */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { LineProblem } from '../problems.ts';

export type Log = {
  readonly lines: readonly LogLine[];
};

export type LogLine =
  | { readonly kind: 'job'; readonly job: LogJob }
  | { readonly kind: 'left-out'; readonly omission: Omission }
  | { readonly kind: 'bad'; readonly problems: readonly LineProblem[] };

export type LogJob = {
  readonly at: EpochMs;
  /** How long the job ran, 0 or more. */
  readonly seconds: number;
  /** The value of the field that `--group` names. Undefined without that option. */
  readonly group: string | undefined;
};

/** Why a valid line is not in the trace. */
export type Omission = 'unfinished' | 'other-time' | 'other-group' | 'too-long';

export const leftOut = (omission: Omission): LogLine => ({ kind: 'left-out', omission });

export function bad(line: number, ...problems: readonly Omit<LineProblem, 'line'>[]): LogLine {
  return { kind: 'bad', problems: problems.map((each) => ({ line, ...each })) };
}
