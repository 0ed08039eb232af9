/** The history as rows of numbers, one for each bin: null where no look was. */
import { type EpochMs, isoTime } from '../../../lambda/decision/model/brands.ts';
import { percentile, sum } from '../../../lambda/decision/model/collections.ts';
import type { IsoTime } from '../../../lambda/decision/model/plan.ts';
import { HOUR_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { type Bin, Cell, type History, SHORTEST_MS } from './history.ts';

/** Null: no look was, or no job started (`p95`). */
type Values = readonly (number | null)[];

export type Series = {
  /** Means, in tasks. */
  readonly desired: Values;
  readonly busy: Values;
  /** The most jobs that waited at once. */
  readonly waiting: Values;
  /** 95 % of the jobs that started had waited for less seconds. */
  readonly p95: Values;
  /** What the tasks cost in the bin. */
  readonly dollars: Values;
};

/** `from` and `to` are bins; the last is included. */
export type Mark = {
  readonly kind: 'deployment' | 'override' | 'alarm';
  readonly from: number;
  readonly to: number;
  readonly text: string;
};

export type PoolSeries = Series & {
  readonly name: string;
  /** How long `max` or `maxTasks` kept its jobs waiting, in seconds. */
  readonly atMaxSeconds: number;
  readonly marks: readonly Mark[];
};

export type StripSeries = {
  readonly from: IsoTime;
  readonly widthSeconds: number;
  readonly bins: number;
  /** Those until now, of at least one. The others are to come. */
  readonly known: number;
  /** Bins until now without a look, as first and last. */
  readonly gaps: readonly (readonly [number, number])[];
  /** Of all pools. `p95` is that of the pool whose jobs waited longest, which `slowest` names. */
  readonly all: Series;
  readonly slowest: readonly (string | null)[];
  /** What the tasks cost an hour while looks saw them: a bin may be seen in part. */
  readonly dollarsAnHour: Values;
  readonly pools: readonly PoolSeries[];
  readonly marks: readonly Mark[];
  /** Null: no look is known. `fixedFleet`: what the peak of each pool would have cost all the time. */
  readonly past: { readonly hours: number; readonly dollars: number; readonly fixedFleet: number } | null;
};

/** `prices`: dollars an hour of a task, by pool, in the order in which the page has them. */
export function seriesOf(history: History, now: EpochMs, prices: ReadonlyMap<string, number>): StripSeries {
  const { widthMs } = history;
  const { from, to } = history.span(now);
  const known = Math.max(1, Math.round((to - from) / widthMs));
  const bins = Array.from({ length: Math.max(known, Math.ceil(SHORTEST_MS / widthMs)) }, (_, at) =>
    history.bins.get((from + at * widthMs) as EpochMs),
  );
  const covered = bins.map((bin) => Math.max(0, ...[...(bin?.pools.values() ?? [])].map((c) => c.coveredMs)));
  const isSeen = (at: number): boolean => (covered[at] ?? 0) > 0;
  const pools = [...prices].map(([name, price]) => poolSeries(name, price, bins));
  const hours = sum(covered, (ms) => ms) / HOUR_MS;
  const p95s = bins.map((bin) => slowestOf(bin, prices));
  const total = (field: 'desired' | 'busy' | 'dollars'): Values =>
    bins.map((_, at) => (isSeen(at) ? rounded(sum(pools, (pool) => pool[field][at] ?? 0)) : null));
  const dollars = total('dollars');
  return {
    from: isoTime(from),
    widthSeconds: widthMs / SECOND_MS,
    bins: bins.length,
    known,
    gaps: runsOf(bins.map((_, at) => (isSeen(at) || at >= known ? null : 'gap'))).map(([first, last]) => [
      first,
      last,
    ]),
    all: {
      desired: total('desired'),
      busy: total('busy'),
      waiting: bins.map((bin, at) => (isSeen(at) ? (bin?.waiting ?? 0) : null)),
      p95: p95s.map((slowest) => slowest?.seconds ?? null),
      dollars,
    },
    slowest: p95s.map((slowest) => slowest?.pool ?? null),
    dollarsAnHour: dollars.map((each, at) =>
      each === null ? null : rounded((each * HOUR_MS) / (covered[at] ?? widthMs)),
    ),
    pools,
    marks: [
      ...alarmMarks(bins),
      ...pools.flatMap(({ name, marks }) =>
        marks.map((mark) => ({ ...mark, text: `${name}: ${mark.text}` })),
      ),
    ],
    past:
      hours === 0
        ? null
        : {
            hours,
            dollars: sum(pools, ({ dollars }) => sum(dollars, (each) => each ?? 0)),
            fixedFleet: sum([...prices], ([name, price]) => price * hours * peakOf(name, bins)),
          },
  };
}

type Bins = readonly (Bin | undefined)[];

function poolSeries(name: string, price: number, bins: Bins): PoolSeries {
  const cells = bins.map((bin) => bin?.pools.get(name));
  const values = (of: (cell: Cell) => number): Values =>
    cells.map((cell) => (cell === undefined || cell.coveredMs === 0 ? null : rounded(of(cell))));
  return {
    name,
    desired: values((cell) => cell.desired / cell.coveredMs),
    busy: values((cell) => cell.busy / cell.coveredMs),
    waiting: values((cell) => cell.waiting),
    p95: cells.map((cell) => p95Of(cell)),
    dollars: values((cell) => (price * cell.tasks) / HOUR_MS),
    atMaxSeconds: Math.round(sum(cells, (cell) => cell?.atMax ?? 0) / SECOND_MS),
    marks: marksOf(cells.map((cell) => [...(cell?.marks ?? [])])),
  };
}

/** Enough for hundredths of a cent and tenths of a task. */
const rounded = (value: number): number => Number(value.toPrecision(4));

/** In seconds. */
function p95Of(cell: Cell = new Cell()): number | null {
  const { waitsMs, p95Ms } = cell;
  const own =
    waitsMs.length === 0
      ? undefined
      : percentile(
          waitsMs.toSorted((a, b) => a - b),
          0.95,
        );
  if (own === undefined && p95Ms === undefined) return null;
  return Math.round(Math.max(own ?? 0, p95Ms ?? 0) / 100) / 10;
}

function slowestOf(bin: Bin | undefined, prices: ReadonlyMap<string, number>) {
  const waits = [...(bin?.pools ?? [])].flatMap(([pool, cell]) => {
    const seconds = p95Of(cell);
    return seconds === null || !prices.has(pool) ? [] : [{ pool, seconds }];
  });
  return waits.toSorted((a, b) => b.seconds - a.seconds)[0];
}

function peakOf(pool: string, bins: Bins): number {
  return Math.max(0, ...bins.map((bin) => bin?.pools.get(pool)?.most ?? 0));
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['deployment', 'deployment'],
  ['pause', 'paused'],
  ['pause-scale-in', 'scale-in paused'],
  ['pin', 'pinned'],
  ['floor', 'pinned at least'],
]);

/** A mark for each run of bins that have the word. */
function marksOf(words: readonly (readonly string[])[]): readonly Mark[] {
  return [...new Set(words.flat())].toSorted().flatMap((word) =>
    runsOf(words.map((own) => (own.includes(word) ? word : null))).map(([from, to]) => {
      const kind = word === 'deployment' ? ('deployment' as const) : ('override' as const);
      return { kind, from, to, text: KINDS.get(word) ?? word };
    }),
  );
}

function alarmMarks(bins: Bins): readonly Mark[] {
  const words = bins.map((bin) => [...(bin?.alarms ?? [])]);
  return marksOf(words).map((mark) => ({ ...mark, kind: 'alarm', text: `limit of alarm ${mark.text}` }));
}

/** First and last index of each run of equal values that are not null. */
function runsOf(values: readonly (string | null)[]): readonly (readonly [number, number])[] {
  const starts = values.flatMap((value, at) => (value !== null && values[at - 1] !== value ? [at] : []));
  return starts.map((from) => {
    const end = values.findIndex((value, at) => at > from && value !== values[from]);
    return [from, end === -1 ? values.length - 1 : end - 1];
  });
}
