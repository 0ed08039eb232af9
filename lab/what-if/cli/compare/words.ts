/** Formats figures and differences for Markdown. */
import { oneLine } from '../../../../cli/shared/plain-table.ts';
import type { Difference } from '../../change/difference.ts';
import { type Format, share } from '../../report/parts/numbers.ts';

/** Counts are means of several replays. */
export const mean: Format = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
export const minutes: Format = (value) => `${mean(value)} min`;

/** `+$31 (+12%) ± $2.10`, `no clear change (+$3.00 ± $5.10)`, `none`. */
export function changeText({ before, change, margin, clarity }: Difference, format: Format): string {
  if (clarity === 'none') return 'none';
  const spread = margin === undefined || format(margin) === format(0) ? '' : ` ± ${format(margin)}`;
  const rise = signed(change, format);
  if (clarity === 'unclear') {
    const isTiny = format(Math.abs(change)) === format(0) && spread === '';
    return isTiny ? 'no clear change' : `no clear change (${rise}${spread})`;
  }
  return `${rise}${percentText(before, change)}${spread}`;
}

const signed = (change: number, format: Format): string =>
  `${change < 0 ? '-' : '+'}${format(Math.abs(change))}`;

/** ` (+12%)`; nothing where the figure was zero or has grown more than tenfold. */
function percentText(before: number, change: number): string {
  const part = change / before;
  return before <= 0 || part > 9 ? '' : ` (${signed(part, share)})`;
}

/** `$41.20 → $43.10`, or one of them if they read the same. */
export function arrow({ before, after }: Pick<Difference, 'before' | 'after'>, format: Format): string {
  const [from, to] = [format(before), format(after)];
  return from === to ? from : `${from} → ${to}`;
}

/** Text from a file as code: pull requests come from anyone, and code has no links, mentions or HTML. */
export function code(text: string): string {
  const line = oneLine(text).replaceAll('`', "'");
  const short = line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line;
  // GitHub splits a row at each bar without a backslash, also in code
  return `\`${short.trim() === '' ? '(empty)' : short.replaceAll('|', '\\|')}\``;
}

const LONGEST_TEXT = 160;

/** A Markdown table whose source is aligned too. The first column is text, the others as given. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, at) =>
    Math.max(3, ...[head, ...rows.map((row) => row[at] ?? '')].map(lengthOf)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const lengthOf = (text: string): number => text.length;
