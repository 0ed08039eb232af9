/**
 * What looks of the last day saw of each pool, in bins of equal width. A look holds until the next one, for two
 * minutes at most: after that there is a gap, which is no zero. Pure data, without a clock.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';

/** What one look saw of one pool, in tasks and jobs; or the means of several looks. */
export type Sample = {
  readonly desired: number;
  readonly busy: number;
  readonly tasks: number;
  /** The most tasks of the looks. */
  readonly most: number;
  /** The most jobs that waited for the pool. */
  readonly waiting: number;
  /** 1 while `max` or `maxTasks` keeps jobs waiting, 0 otherwise. */
  readonly atMax: number;
  /** Overrides and deployments. */
  readonly marks: readonly string[];
};

/** What all pools have in common at a look. */
export type Common = {
  /** The most jobs that waited for any pool, or were unschedulable. */
  readonly waiting: number;
  /** The alarms whose limit was crossed. */
  readonly alarms: readonly string[];
};

export type Span = { readonly from: EpochMs; readonly to: EpochMs };

/** The sums of a bin, in milliseconds times the unit of the field; `waiting` and `most` are the largest. */
export class Cell {
  coveredMs = 0;
  desired = 0;
  busy = 0;
  tasks = 0;
  atMax = 0;
  most = 0;
  waiting = 0;
  readonly marks = new Set<string>();
  /** Of jobs whose starts were read one by one. */
  waitsMs: number[] = [];
  /** Of a query, which tells no single waits. */
  p95Ms: number | undefined;

  add(sample: Sample, ms: number): void {
    this.coveredMs += ms;
    this.desired += sample.desired * ms;
    this.busy += sample.busy * ms;
    this.tasks += sample.tasks * ms;
    this.atMax += sample.atMax * ms;
    this.most = Math.max(this.most, sample.most);
    this.waiting = Math.max(this.waiting, sample.waiting);
    for (const mark of sample.marks) this.marks.add(mark);
  }

  merge(other: Cell): void {
    for (const field of ['coveredMs', 'desired', 'busy', 'tasks', 'atMax'] as const)
      this[field] += other[field];
    for (const field of ['most', 'waiting'] as const) this[field] = Math.max(this[field], other[field]);
    for (const mark of other.marks) this.marks.add(mark);
    this.waitsMs.push(...other.waitsMs);
    this.addP95(other.p95Ms);
  }

  /** Of two percentiles the larger one: they cannot be added. */
  addP95(ms: number | undefined): void {
    if (ms !== undefined) this.p95Ms = Math.max(this.p95Ms ?? 0, ms);
  }
}

/** One bin of all pools. */
export class Bin {
  waiting = 0;
  readonly alarms = new Set<string>();
  readonly pools = new Map<string, Cell>();

  cell(pool: string): Cell {
    const found = this.pools.get(pool) ?? new Cell();
    this.pools.set(pool, found);
    return found;
  }

  addCommon({ waiting, alarms }: Common): void {
    this.waiting = Math.max(this.waiting, waiting);
    for (const alarm of alarms) this.alarms.add(alarm);
  }

  merge(other: Bin): void {
    this.addCommon({ waiting: other.waiting, alarms: [...other.alarms] });
    for (const [pool, cell] of other.pools) this.cell(pool).merge(cell);
  }
}

/** Each width is a multiple of the one before. */
const WIDTHS_MS = [10 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS / 2];
/** The schedule looks once a minute. */
export const HOLDS_MS = 2 * MINUTE_MS;
/** More than a page can draw, and numbers of a frame for all pools together. */
const MOST_BINS = 300;
const MOST_CELLS = 9_000;
/** Of a strip: that of a young deployment fills from the left. */
export const SHORTEST_MS = 10 * MINUTE_MS;

type Held = {
  readonly samples: ReadonlyMap<string, Sample>;
  readonly common: Common;
  readonly until: EpochMs;
};

export class History {
  readonly bins = new Map<EpochMs, Bin>();
  #width = 0;
  #held: Held | undefined;
  /** Looks are added up to this time. */
  #addedTo = Number.NEGATIVE_INFINITY;
  #liveSince: EpochMs | undefined;

  /** In milliseconds. */
  get widthMs(): number {
    return WIDTHS_MS[this.#width] ?? HOUR_MS / 2;
  }

  /** When the first look that `look` was told of began. */
  get liveSince(): EpochMs | undefined {
    return this.#liveSince;
  }

  /** Looks in the order of their times. */
  look(at: EpochMs, samples: ReadonlyMap<string, Sample>, common: Common): void {
    this.advance(at);
    this.#liveSince ??= at;
    this.#addedTo = Math.max(this.#addedTo, at);
    this.#held = { samples, common, until: (at + HOLDS_MS) as EpochMs };
  }

  /** What the last look saw holds until now, and bins of more than a day ago go. */
  advance(now: EpochMs): void {
    if (this.#held !== undefined) {
      const { samples, common, until } = this.#held;
      const to = Math.min(now, until) as EpochMs;
      const span = { from: this.#addedTo as EpochMs, to };
      for (const [pool, sample] of samples) this.add(span, pool, sample);
      this.addCommon(span, common);
      this.#addedTo = Math.max(this.#addedTo, to);
    }
    for (const at of this.bins.keys()) if (at + this.widthMs <= now - DAY_MS) this.bins.delete(at);
    this.#widen(now);
  }

  wait(at: EpochMs, pool: string, waitMs: number): void {
    this.#bin(at).cell(pool).waitsMs.push(waitMs);
  }

  /** Of a query: 95 % of the jobs that started in the span had waited for less. */
  p95(span: Span, pool: string, p95Ms: number): void {
    for (const [bin] of this.#parts(span)) bin.cell(pool).addP95(p95Ms);
  }

  add(span: Span, pool: string, sample: Sample): void {
    for (const [bin, ms] of this.#parts(span)) bin.cell(pool).add(sample, ms);
  }

  addCommon(span: Span, common: Common): void {
    for (const [bin] of this.#parts(span)) bin.addCommon(common);
  }

  /** From the first look until now, at most a day. Whole bins; ten minutes without a look. */
  span(now: EpochMs): Span {
    const to = this.#floor(now + this.widthMs - 1);
    const first = this.bins.size === 0 ? to - SHORTEST_MS : Math.min(...this.bins.keys());
    return { from: this.#floor(Math.max(this.#floor(now - DAY_MS), first)), to };
  }

  #floor(at: number): EpochMs {
    return (Math.floor(at / this.widthMs) * this.widthMs) as EpochMs;
  }

  #bin(at: EpochMs): Bin {
    const start = this.#floor(at);
    const found = this.bins.get(start) ?? new Bin();
    this.bins.set(start, found);
    return found;
  }

  /** Each bin of the span, and how many milliseconds of the span are in it. */
  #parts({ from, to }: Span): readonly (readonly [Bin, number])[] {
    const parts: (readonly [Bin, number])[] = [];
    for (let at = from; at < to; ) {
      const end = Math.min(to, this.#floor(at) + this.widthMs);
      parts.push([this.#bin(at), end - at]);
      at = end as EpochMs;
    }
    return parts;
  }

  #widen(now: EpochMs): void {
    const pools = Math.max(1, ...[...this.bins.values()].map((bin) => bin.pools.size));
    const most = Math.min(MOST_BINS, Math.floor(MOST_CELLS / pools));
    const { from, to } = this.span(now);
    const enough = WIDTHS_MS.findIndex((width) => (to - from) / width <= most);
    const next = enough === -1 ? WIDTHS_MS.length - 1 : enough;
    if (next <= this.#width) return;
    const before = [...this.bins];
    this.#width = next;
    this.bins.clear();
    for (const [at, bin] of before) this.#bin(at).merge(bin);
  }
}
