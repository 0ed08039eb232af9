/** Frames of a terminal as one animated SVG: a strip of which CSS shows one at a time, without scripts. */

/** A screen, and how long it is shown. */
export type TimedFrame = { readonly frame: string; readonly ms: number };

export type SvgOptions = {
  readonly columns: number;
  readonly rows: number;
  /** The description for people who do not see it. */
  readonly title: string;
  /** The frame that viewers without animation show. */
  readonly still: number;
};

/** How long a frame is shown, and the last one. */
export const FRAME_MS = 500;
const LAST_MS = 5_000;

export function demoSvg(frames: readonly string[]): string {
  return animatedSvg(
    frames.map((frame, index) => ({ frame, ms: index === frames.length - 1 ? LAST_MS : FRAME_MS })),
    {
      columns: 80,
      rows: Math.max(...frames.map((frame) => frame.split('\n').length)),
      still: Math.floor(frames.length / 4),
      title: 'A recording of the demo: five pools scale out from zero, run 62 jobs and scale in to zero.',
    },
  );
}

const CELL = { width: 8, height: 18, font: 13.3 };
const PADDING = 14;
const COLOURS: Readonly<Record<string, string>> = {
  green: '#56d364',
  yellow: '#e3b341',
  cyan: '#56d4dd',
  red: '#ff7b72',
};

export function animatedSvg(frames: readonly TimedFrame[], options: SvgOptions): string {
  const width = options.columns * CELL.width + 2 * PADDING;
  const height = options.rows * CELL.height + 2 * PADDING;
  const ids = new Map<string, string>();
  const strip = frames.map(({ frame }, index) => {
    const lines = frame.split('\n').map((line, row) => {
      if (line.trim() === '') return '';
      const id = ids.get(line) ?? `l${ids.size}`;
      ids.set(line, id);
      return `<use href="#${id}" y="${row * CELL.height}"/>`;
    });
    return `<g transform="translate(${index * width} 0)">${lines.join('')}</g>`;
  });
  const defs = [...ids].map(([line, id]) => `<g id="${id}">${runsOf(line).map(textOf).join('')}</g>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(options.title)}</title>`,
    `<style>${styles(frames, { width, still: options.still })}</style>`,
    `<defs>${defs.join('\n')}</defs>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    `<g transform="translate(${PADDING} ${PADDING + CELL.font})"><g class="strip">`,
    ...strip,
    '</g></g>',
    '</svg>',
    '',
  ].join('\n');
}

function textOf({ column, text, colour, isBold, isDim }: StyledRun): string {
  const fill = colour === undefined ? '' : ` fill="${COLOURS[colour] ?? '#e6edf3'}"`;
  const weight = isBold ? ' font-weight="bold"' : '';
  const opacity = isDim ? ' opacity=".6"' : '';
  // the length keeps columns aligned whatever font the viewer has
  const length = `textLength="${[...text].length * CELL.width}" lengthAdjust="spacingAndGlyphs"`;
  return `<text x="${column * CELL.width}" ${length}${fill}${weight}${opacity}>${escaped(text)}</text>`;
}

/** Key frames that jump from one frame to the next. */
function styles(frames: readonly TimedFrame[], { width, still }: { width: number; still: number }): string {
  const wholeMs = frames.reduce((sum, { ms }) => sum + ms, 0);
  let atMs = 0;
  const steps = frames.map(({ ms }, index) => {
    const at = `${((atMs / wholeMs) * 100).toFixed(3)}%{transform:translateX(-${index * width}px)}`;
    atMs += ms;
    return at;
  });
  return [
    `text{font-size:${CELL.font}px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}`,
    ...Object.entries(COLOURS).map(([, colour]) => `text[fill="${colour}"]{fill:${colour}}`),
    `.strip{transform:translateX(-${still * width}px);animation:play ${(wholeMs / 1000).toFixed(1)}s step-end infinite}`,
    `@media(prefers-reduced-motion){.strip{animation:none}}`,
    `@keyframes play{${steps.join('')}}`,
  ].join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

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
