const NARROWEST = 60;

/**
 * Wraps lines that are longer than the terminal is wide, each below its own text: after its mark, or
 * after the last gap of two spaces in its first half. `width`: characters of a line, at least 60.
 * @default as long as needed
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
