import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';

const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((position) => [position, '']),
);
const GAP = 2;

export type Column = { readonly head: string; readonly align: 'left' | 'right' };
type Row = readonly (string | number)[];

/**
 * A table without borders and colours. If it is wider than `width` characters, texts wrap; if that is not
 * enough, each row becomes a block of lines. @default as wide as needed
 */
export function plainTable(columns: readonly Column[], rows: readonly Row[], width = Infinity): string {
  const widths = columns.map((_, index) => lengthOf(textsOf(columns, rows, index)));
  const fitting = columnWidths(columns, rows, { widths, width });
  return fitting === undefined ? blocks(columns, rows) : tableOf(columns, rows, fitting);
}

function textsOf(columns: readonly Column[], rows: readonly Row[], index: number): readonly string[] {
  return [columns[index]?.head ?? '', ...rows.map((row) => String(row[index] ?? ''))];
}

const lengthOf = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));

/** The widths of the columns, or undefined if the table cannot be as narrow as this. */
function columnWidths(
  columns: readonly Column[],
  rows: readonly Row[],
  { widths, width }: { readonly widths: readonly number[]; readonly width: number },
): readonly number[] | undefined {
  let excess = widths.reduce((sum, each) => sum + each, GAP * (columns.length - 1)) - width;
  const narrowed = columns.map(({ align }, index) => {
    const own = widths[index] ?? 0;
    if (align === 'right' || excess <= 0) return own;
    const least = lengthOf(textsOf(columns, rows, index).flatMap((text) => text.split(' ')));
    const less = Math.min(excess, own - least);
    excess -= less;
    return own - less;
  });
  return excess > 0 ? undefined : narrowed;
}

function tableOf(columns: readonly Column[], rows: readonly Row[], widths: readonly number[]): string {
  const table = new Table({
    head: columns.map(({ head }) => head),
    chars: { ...NO_LINES, middle: ' '.repeat(GAP) },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map(({ align }) => align),
    colWidths: [...widths],
    wordWrap: true,
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** One block of lines for each row: `head  cell`. */
function blocks(columns: readonly Column[], rows: readonly Row[]): string {
  const widest = lengthOf(columns.map(({ head }) => head));
  const block = (row: Row): string =>
    columns
      .map(({ head }, index) => ({ head, cell: row[index] ?? '' }))
      .filter(({ cell }) => cell !== '')
      .map(({ head, cell }) => `${head.padEnd(widest + GAP)}${cell}`)
      .join('\n');
  return rows.map(block).join('\n\n');
}

const NARROWEST = 40;

/**
 * Wraps lines, each below its own text: after its mark, or after the last gap of two spaces in its first
 * half. `width`: characters of a line, at least 40. @default as long as needed
 */
export function wrapLines(text: string, width?: number): string {
  if (width === undefined) return text;
  const most = Math.max(width, NARROWEST);
  return text
    .split('\n')
    .map((line) => (line.length <= most ? line : wrapped(line, most)))
    .join('\n');
}

function wrapped(line: string, width: number): string {
  const indent = textStart(line, width);
  const lines = [line.slice(0, indent)];
  let isEmpty = true;
  for (const word of line.slice(indent).split(' ')) {
    const last = lines.at(-1) ?? '';
    if (!isEmpty && last.length + 1 + word.length > width) {
      lines.push(`${' '.repeat(indent)}${word}`);
      continue;
    }
    lines[lines.length - 1] = isEmpty ? `${last}${word}` : `${last} ${word}`;
    isEmpty = false;
  }
  return lines.join('\n');
}

function textStart(line: string, width: number): number {
  const mark = /^\s*(?:[!+~-] )?/.exec(line)?.[0].length ?? 0;
  const gaps = [...line.slice(0, width / 2).matchAll(/\S {2,}(?=\S)/g)];
  const last = gaps.at(-1);
  return last === undefined ? mark : Math.max(mark, last.index + last[0].length);
}

/** A word of a shell, with its quoted parts; an option with its value. */
const SHELL_WORD = /(?:-\S+ (?=[^-|\s]))?(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/**
 * Breaks the lines of a command for a shell between its words, so that the command can be copied from a
 * narrow terminal. `width`: characters of a line. @default as long as needed
 */
export function foldCommand(command: string, width = Infinity): string {
  return command
    .split('\n')
    .map((line) => (line.length <= width ? line : folded(line, width)))
    .join('\n');
}

function folded(line: string, width: number): string {
  const [indent = '', comment = ''] = /^\s*(# )?/.exec(line) ?? [];
  const [end, next] = comment === '' ? [' \\', `${indent}  `] : ['', indent];
  const text = line.slice(indent.length);
  const [first = '', ...words] = comment === '' ? (text.match(SHELL_WORD) ?? []) : text.split(' ');
  const lines = [`${indent}${first}`];
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    if (last.length + 1 + word.length + end.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${next}${word}`);
  }
  return lines.join(`${end}\n`);
}

/** For text that someone else wrote: control characters could move the cursor, hide text or begin a line. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
