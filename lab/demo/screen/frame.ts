/** Draws the demo: progress, one row for each pool, the jobs, and the latest events. */
import type { Colour, Paint } from './event.ts';

export type Frame = {
  /** Simulated time: `09:00:45`. */
  readonly time: string;
  readonly progress: DemoProgress;
  readonly pools: readonly PoolRow[];
  readonly jobs: { readonly pending: number; readonly running: number; readonly succeeded: number };
  /** The lines of each event, wrapped and painted; the latest last. */
  readonly events: readonly (readonly string[])[];
};

export type DemoProgress = {
  /** 0 to 1. */
  readonly done: number;
  readonly secondsLeft: number;
};

export type Canvas = { readonly paint: Paint; readonly columns: number; readonly rows: number };

const BAR = 20;
/** Tags and revisions need a wider terminal than 80 columns. */
const WIDE = 110;

/** The frame as text of at most `columns` by `rows`. */
export function drawFrame(frame: Frame, canvas: Canvas): string {
  const { rows } = canvas;
  const { pending, running, succeeded } = frame.jobs;
  const top = [
    progressLine(frame, canvas),
    '',
    ...poolTable(frame.pools, canvas),
    '',
    `jobs: ${pending} pending, ${running} running, ${succeeded} succeeded`,
    '',
  ];
  return [...top, ...latest(frame.events, Math.max(4, rows - top.length - 1))].join('\n');
}

/** As many of the latest events as fit completely into so many lines. */
function latest(events: Frame['events'], lines: number): readonly string[] {
  let first = events.length;
  for (let left = lines; first > 0; first--) {
    left -= events[first - 1]?.length ?? 0;
    if (left < 0) break;
  }
  return events.slice(first).flat();
}

function progressLine({ time, progress: { done, secondsLeft } }: Frame, { paint, columns }: Canvas): string {
  const width = columns < 80 ? BAR / 2 : BAR;
  const filled = Math.round(done * width);
  const bar = paint('green', '━'.repeat(filled)) + paint('dim', '─'.repeat(width - filled));
  const almost = done < 1 ? 'almost done' : 'done';
  const left = secondsLeft > 0 ? `about ${secondsLeft} s left` : almost;
  return `${paint('bold', `simulated time ${time}`)}  ${bar} ${Math.round(done * 100)} %, ${left}`;
}

type Column = {
  readonly head: string;
  readonly width: number;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** The least width of the terminal that shows it. @default always shown */
  readonly from?: number;
  readonly of: (pool: PoolRow, paint: Paint) => string;
};

const COLUMNS: readonly Column[] = [
  { head: 'pool', width: 8, of: ({ name }, paint) => paint('bold', name) },
  { head: 'tags', width: 24, from: WIDE, of: ({ tags }) => tags },
  { head: 'revision', width: 10, from: WIDE, of: ({ revision }) => revision },
  { head: 'desired', width: 7, isNumber: true, of: ({ desired }) => `${desired}` },
  { head: 'tasks', width: 20, of: taskBar },
  { head: 'busy', width: 4, isNumber: true, of: ({ busy }) => `${busy}` },
  { head: 'idle', width: 4, isNumber: true, of: ({ idle }) => `${idle}` },
  { head: 'draining', width: 8, isNumber: true, from: 62, of: ({ draining }) => `${draining}` },
  { head: 'jobs done', width: 9, isNumber: true, from: 73, of: ({ jobsDone }) => `${jobsDone}` },
];

function poolTable(pools: readonly PoolRow[], { paint, columns }: Canvas): readonly string[] {
  const shown = COLUMNS.filter(({ from = 0 }) => columns >= from);
  const row = (cell: (column: Column) => string): string =>
    shown
      .map((column) => pad(cell(column), column))
      .join('  ')
      .trimEnd();
  return [
    paint(
      'dim',
      row(({ head }) => head),
    ),
    ...pools.map((pool) => row((column) => column.of(pool, paint))),
    STATES.map(({ mark, colour, name }) => `${paint(colour, mark)} ${name}`).join('  '),
  ];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of colours
const ESCAPES = /\u001b\[\d+m/g;

function pad(text: string, { width, isNumber = false }: Column): string {
  const blank = ' '.repeat(Math.max(0, width - text.replaceAll(ESCAPES, '').length));
  return isNumber ? blank + text : text + blank;
}

type State = 'busy' | 'idle' | 'draining' | 'starting';
type Mark = { readonly name: State; readonly mark: string; readonly colour: Colour };

const STATES: readonly Mark[] = [
  { name: 'busy', mark: '█', colour: 'green' },
  { name: 'idle', mark: '▒', colour: 'cyan' },
  { name: 'draining', mark: '░', colour: 'yellow' },
  { name: 'starting', mark: '·', colour: 'dim' },
];

/** One character for each task. */
function taskBar(pool: PoolRow, paint: Paint): string {
  return STATES.map(({ name, mark, colour }) => {
    const count = pool[name];
    return count === 0 ? '' : paint(colour, mark.repeat(count));
  }).join('');
}

/** What the screen shows of a pool. Every task is in one of the four states. */
export type PoolRow = {
  readonly name: string;
  readonly tags: string;
  /** `2 (1 old)` */
  readonly revision: string;
  readonly desired: number;
  readonly busy: number;
  readonly idle: number;
  readonly draining: number;
  readonly starting: number;
  readonly jobsDone: number;
};
