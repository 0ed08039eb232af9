/** Reads text with the escape sequences that the screen uses, as runs of one style. */

export type Style = {
  readonly colour: string | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
};
/** A part of a line in one style, and the column where it begins. */
export type StyledRun = Style & { readonly column: number; readonly text: string };

const PLAIN: Style = { colour: undefined, isBold: false, isDim: false };

/** Select Graphic Rendition codes (ECMA-48) that `styleText` writes for our colours. */
const EFFECTS: Readonly<Record<string, Partial<Style>>> = {
  0: PLAIN,
  1: { isBold: true },
  2: { isDim: true },
  22: { isBold: false, isDim: false },
  31: { colour: 'red' },
  32: { colour: 'green' },
  33: { colour: 'yellow' },
  36: { colour: 'cyan' },
  39: { colour: undefined },
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of colours
const PARTS = /\u001b\[(\d*)m|([^\u001b]+)/g;

/** The runs of a line, without those that are blank. */
export function runsOf(line: string): readonly StyledRun[] {
  const runs: StyledRun[] = [];
  let style = PLAIN;
  let column = 0;
  for (const [, code, text] of line.matchAll(PARTS)) {
    if (text === undefined) style = { ...style, ...EFFECTS[code ?? '0'] };
    else {
      if (text.trim() !== '') runs.push({ ...style, column, text });
      column += [...text].length;
    }
  }
  return runs;
}
