import Table from 'cli-table3';

const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((position) => [position, '']),
);

export type Column = { readonly head: string; readonly align: 'left' | 'right' };

/** A table without borders and colours, for pipes and chat windows. */
export function plainTable(
  columns: readonly Column[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const table = new Table({
    head: columns.map(({ head }) => head),
    chars: { ...NO_LINES, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map(({ align }) => align),
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
