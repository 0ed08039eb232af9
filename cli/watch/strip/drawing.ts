/**
 * The strip as shapes of SVG, for the page and for the file of `watch --out`. Positions are numbers of bins to the
 * right, and 0 (top) to 100 down in each panel: the page stretches both.
 */
import { sum } from '../../../lambda/decision/model/collections.ts';
import { SECOND_MS } from '../../../lambda/decision/model/units.ts';
import type { Mark, PoolSeries, Series, StripSeries } from './series.ts';

type Shape = { readonly kind: 'busy' | 'desired' | 'waiting' | 'p95' | 'dollars'; readonly d: string };

type Panel = {
  readonly title: string;
  /** The value at the top edge, with its unit. */
  readonly top: string;
  /** Its place in the strip, in pixels. */
  readonly y: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
};

/** Of one pool: all shapes share one panel, in tasks and jobs. */
export type SmallStrip = {
  readonly name: string;
  readonly label: string;
  readonly shapes: readonly Shape[];
  readonly marks: readonly Mark[];
  readonly values: Series;
};

export type Strip = Omit<StripSeries, 'all' | 'pools' | 'past' | 'dollarsAnHour'> & {
  /** `the last 24 h`. */
  readonly title: string;
  /** What the strip shows in words, for those who do not see it. */
  readonly label: string;
  /** In pixels; times stand below the panels. */
  readonly height: number;
  readonly panels: readonly Panel[];
  readonly values: Series;
  /** Full hours, or minutes of a short strip, and the bins at which they begin. */
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  readonly pools: readonly SmallStrip[];
};

/** In pixels: marks, panels with their titles above, times. */
const [MARKS, TITLE, SPACE, TIMES] = [20, 13, 4, 16];
/** The first panel and the others. Rows of many pools need the space. */
const HEIGHTS = { few: [46, 20], many: [32, 13] } as const;
const FEW_POOLS = 8;

export function drawStrip({ all, pools, past, dollarsAnHour, ...series }: StripSeries): Strip {
  const title = spanText(series.known * series.widthSeconds);
  const [tall, low] = HEIGHTS[pools.length > FEW_POOLS ? 'many' : 'few'];
  const tasks = topOf(all.desired, all.busy);
  const [waiting, p95, dollars] = [
    topOf(all.waiting),
    topOf(all.p95),
    Math.max(...numbersIn(dollarsAnHour), 0.01),
  ];
  const shape = (kind: Shape['kind'], values: Series['busy'], top: number): Shape => ({
    kind,
    d: kind === 'desired' ? lineOf(values, top) : areaOf(values, top),
  });
  return {
    ...series,
    title,
    label: `${title}: ${[...labelsOf(all), ...(past === null ? [] : [`${dollarText(past.dollars)} for tasks`])].join(', ')}`,
    height: MARKS + TITLE + tall + 3 * (SPACE + TITLE + low) + TIMES,
    panels: [
      {
        ...{ title: 'tasks: desired (line), busy (area)', top: `${tasks}`, y: MARKS + TITLE, height: tall },
        shapes: [shape('busy', all.busy, tasks), shape('desired', all.desired, tasks)],
      },
      ...[
        { title: 'jobs that wait', top: `${waiting}`, shapes: [shape('waiting', all.waiting, waiting)] },
        { title: 'p95 of waits, slowest pool', top: waitText(p95), shapes: [shape('p95', all.p95, p95)] },
        {
          title: 'dollars an hour',
          top: dollarText(dollars),
          shapes: [shape('dollars', dollarsAnHour, dollars)],
        },
      ].map((panel, at) => ({
        ...panel,
        y: MARKS + TITLE + tall + (at + 1) * (SPACE + TITLE) + at * low,
        height: low,
      })),
    ],
    values: all,
    ticks: ticksOf(series),
    pools: pools.map((pool) => smallStrip(pool, title)),
  };
}

function smallStrip({ name, marks, atMaxSeconds, ...values }: PoolSeries, title: string): SmallStrip {
  const top = topOf(values.desired, values.busy, values.waiting);
  const atMax = atMaxSeconds === 0 ? [] : [`jobs waited at a limit for ${waitText(atMaxSeconds)}`];
  const dollars = dollarText(sum(values.dollars, (each) => each ?? 0));
  return {
    name,
    label: `${title}: ${[...labelsOf(values), dollars, ...atMax].join(', ')}`,
    shapes: [
      { kind: 'busy', d: areaOf(values.busy, top) },
      { kind: 'waiting', d: areaOf(values.waiting, top) },
      { kind: 'desired', d: lineOf(values.desired, top) },
    ],
    marks,
    values,
  };
}

const labelsOf = ({ desired, waiting, p95 }: Series): readonly string[] => [
  `${mostText(desired)} desired tasks at most`,
  `${mostText(waiting)} jobs waited at most`,
  ...(numbersIn(p95).length === 0 ? [] : [`p95 of waits ${waitText(Math.max(...numbersIn(p95)))} at most`]),
];

const numbersIn = (values: Series['busy']): readonly number[] => values.filter((value) => value !== null);
const mostText = (values: Series['busy']): string => `${Math.ceil(Math.max(0, ...numbersIn(values)))}`;

/** A round number above all values. */
function topOf(...rows: readonly Series['busy'][]): number {
  const most = Math.max(1, ...rows.flatMap(numbersIn));
  const unit = 10 ** Math.floor(Math.log10(most));
  return (
    [1, ...(unit > 1 ? [1.5] : []), 2, 3, 4, 5, 6, 8]
      .map((factor) => factor * unit)
      .find((top) => top >= most) ?? 10 * unit
  );
}

/** From the top edge, where the largest value is. */
const heightOf = (value: number, top: number): number => Math.round(1000 * (1 - value / top)) / 10;

/** Runs without null, each as its bins and heights; equal neighbours are one step. */
function runsOf(values: Series['busy'], top: number) {
  const runs: { at: number; end: number; y: number }[][] = [];
  values.forEach((value, at) => {
    if (value === null) return;
    const y = heightOf(value, top);
    const step = runs.at(-1)?.at(-1);
    if (step?.end !== at) runs.push([{ at, end: at + 1, y }]);
    else if (step.y === y) step.end = at + 1;
    else runs.at(-1)?.push({ at, end: at + 1, y });
  });
  return runs;
}

/** A gap ends the line, and a new one begins after it. */
export function lineOf(values: Series['busy'], top: number): string {
  return runsOf(values, top)
    .map((steps) =>
      steps.map(({ at, end, y }, index) => `${index === 0 ? `M${at} ${y}` : `V${y}`}H${end}`).join(''),
    )
    .join('');
}

export function areaOf(values: Series['busy'], top: number): string {
  return runsOf(values, top)
    .map((steps) => `M${steps[0]?.at ?? 0} 100${steps.map(({ end, y }) => `V${y}H${end}`).join('')}V100Z`)
    .join('');
}

const TICKS_SECONDS = [60, 120, 300, 600, 1_800, 3_600, 2 * 3_600, 3 * 3_600];
const MOST_TICKS = 9;

function ticksOf({ from, widthSeconds, bins }: Pick<StripSeries, 'from' | 'widthSeconds' | 'bins'>) {
  const start = Date.parse(from) / SECOND_MS;
  const seconds = bins * widthSeconds;
  const every = TICKS_SECONDS.find((each) => seconds / each <= MOST_TICKS) ?? 3 * 3_600;
  const first = Math.ceil(start / every) * every;
  return Array.from({ length: Math.floor((start + seconds - first) / every) + 1 }, (_, index) => {
    const at = first + index * every;
    return { at: (at - start) / widthSeconds, text: clockText(at) };
  });
}

/** `09:30`, in UTC, of a time in seconds. */
export const clockText = (seconds: number): string =>
  new Date(seconds * SECOND_MS).toISOString().slice(11, 16);

function spanText(seconds: number): string {
  if (seconds < 120) return `the last ${seconds} s`;
  if (seconds <= 5_400) return `the last ${Math.round(seconds / 60)} min`;
  return `the last ${Math.round(seconds / 3_600)} h`;
}

export const dollarText = (dollars: number): string => `$${dollars.toFixed(dollars < 10 ? 2 : 0)}`;

export function waitText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
