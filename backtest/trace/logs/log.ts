/** A log of another system, line by line, before it is a trace. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { LineProblem } from '../problems.ts';

export type Log = {
  readonly lines: readonly LogLine[];
  /** The IANA name of the log's own time zone, if it has one. */
  readonly timezone?: string;
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
export type Omission =
  | 'unfinished'
  | 'never-ran'
  | 'part'
  | 'listed-twice'
  | 'other-time'
  | 'other-group'
  | 'too-long';

export const leftOut = (omission: Omission): LogLine => ({ kind: 'left-out', omission });

/** `line` is undefined in a JSON document. */
export function bad(line: number | undefined, ...problems: readonly Omit<LineProblem, 'line'>[]): LogLine {
  return { kind: 'bad', problems: problems.map((each) => (line === undefined ? each : { line, ...each })) };
}
