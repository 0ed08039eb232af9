/** Shows the Markdown of a comparison on a terminal: tables without bars, and lines, fit its width. */
import { plainTable, wrapLines } from '../../../../cli/shared/plain-table.ts';

/** `width`: characters of a line. @default the Markdown as it is */
export function terminalText(markdown: string, width?: number): string {
  if (width === undefined) return markdown;
  return markdown
    .split('\n\n')
    .map((block) => (block.startsWith('| ') ? tableText(block, width) : wrapLines(block, width)))
    .join('\n\n');
}

function tableText(block: string, width: number): string {
  const [heads = [], _line, ...rows] = block.split('\n').map(cellsOf);
  return plainTable(
    heads.map((head) => ({ head, align: 'left' })),
    rows,
    width,
  );
}

/** A bar within a cell has a backslash. */
const cellsOf = (line: string): readonly string[] =>
  line
    .slice(2, -2)
    .split(' | ')
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
