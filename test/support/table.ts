/**
 * Test cases as a table of text. The first line names the fields.
 *
 *   it.each(table<Row>`
 *     tasks        | min | expected  | because
 *     B I9m I10m   |     | ask cpu#2 | idleTimeout is inclusive
 *     ${'B '.repeat(9)} | 2 | nothing | busy daemons stay
 *   `)
 *
 * A cell is a number, `true`, `false`, one value in `${}`, or else a text, which may have values in
 * it. Quotes keep a text that looks like a number. An empty cell leaves its field out.
 */
export function table<Row>(texts: TemplateStringsArray, ...values: readonly unknown[]): readonly Row[] {
  const lines = texts.map((text, index) => (index === 0 ? text : `\0${index - 1}\0${text}`)).join('');
  const [names = [], ...rows] = lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(/ \|(?: |$)/).map((cell) => cell.trim()));
  return rows.map((cells) => {
    if (cells.length !== names.length) throw new Error(`not ${names.length} cells: ${cells.join(' | ')}`);
    const fields = cells.map((cell, index) => [names[index], cellOf(cell, values)] as const);
    return Object.fromEntries(fields.filter((_, index) => cells[index] !== '')) as Row;
  });
}

function cellOf(cell: string, values: readonly unknown[]): unknown {
  const given = /^\0(\d+)\0$/.exec(cell);
  if (given !== null) return values[Number(given[1])];
  if (cell.includes('\0')) return cell.replace(/\0(\d+)\0/g, (_, index) => String(values[Number(index)]));
  if (/^-?\d[\d_]*(\.\d+)?$/.test(cell)) return Number(cell.replaceAll('_', ''));
  if (cell === 'true' || cell === 'false') return cell === 'true';
  return /^'.*'$/.test(cell) ? cell.slice(1, -1) : cell;
}
