/** Finds the columns of a table: by name, or by the names that logs usually have. */
import { nearestName } from '../../../lambda/config/schema/names.ts';
import { TraceError } from '../problems.ts';

export const ROLES = ['submitted', 'started', 'finished', 'duration'] as const;
export type Role = (typeof ROLES)[number];

/** Names of columns as `plain` writes them, the best first. */
const USUAL: Readonly<Record<Role, readonly string[]>> = {
  submitted: [
    ...['submitted', 'submittedat', 'submittime', 'created', 'createdat', 'createtime', 'gmtcreate'],
    ...['arrival', 'arrivaltime', 'arrivedat', 'queuedat', 'timestamp', 'time', 'at'],
  ],
  started: ['started', 'startedat', 'starttime', 'start', 'runstartedat', 'begin'],
  finished: ['finished', 'finishedat', 'completed', 'completedat', 'endedat', 'endtime', 'end'],
  duration: ['duration', 'runtime', 'elapsed', 'exectime', 'seconds'],
};

/** The position of each column that the table has. */
export type Columns = Readonly<Partial<Record<Role | 'group', number>>>;

export type ColumnOptions = {
  readonly file: string;
  /** Names of columns, where they are not the usual ones. */
  readonly columns: Readonly<Partial<Record<Role, string>>>;
  readonly group?: string | undefined;
};

/** Throws TraceError if a column is missing. */
export function columnsOf(header: readonly string[], { file, columns, group }: ColumnOptions): Columns {
  const named = (name: string): number => {
    const position = header.indexOf(name);
    if (position >= 0) return position;
    const near = nearestName(name, header);
    const guess = near === undefined ? '' : `did you mean "${near}"? `;
    throw new TraceError(
      `${file}: reading the header: there is no column "${name}"; ${guess}the columns are ${quoted(header)}`,
    );
  };
  const found = ROLES.flatMap((role) => {
    const name = columns[role];
    const position = name === undefined ? usualColumn(header, role) : named(name);
    return position === undefined ? [] : [[role, position] as const];
  });
  const all: Columns = Object.fromEntries([
    ...found,
    ...(group === undefined ? [] : [['group', named(group)] as const]),
  ]);
  checkComplete(all, { file, header });
  return all;
}

function usualColumn(header: readonly string[], role: Role): number | undefined {
  const plainNames = header.map(plain);
  return USUAL[role].map((name) => plainNames.indexOf(name)).find((position) => position >= 0);
}

/**
 * `run_started_at` and `runStartedAt` become `runstartedat`. Without seconds at the end: a column of
 * milliseconds is found only by its name.
 */
const plain = (name: string): string =>
  name
    .replace(/(?<=.)(?:[ _(]+s|[ _(]*(?:secs?|seconds))\)?$/i, '')
    .replaceAll(/[^a-z0-9]/gi, '')
    .toLowerCase();

function checkComplete(
  { submitted, started, finished, duration }: Columns,
  { file, header }: { readonly file: string; readonly header: readonly string[] },
): void {
  const missing = (what: string, role: Role): never => {
    throw new TraceError(
      `${file}: reading the header: no column has ${what}; name it, such as --columns ${role}=NAME. The columns are ${quoted(header)}`,
    );
  };
  if (submitted === undefined && started === undefined)
    missing('the time at which a job was submitted', 'submitted');
  if (duration === undefined && (started === undefined || finished === undefined))
    missing('the duration of a job, nor the times of its start and end', 'duration');
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
