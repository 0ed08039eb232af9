/**
 * The world's virtual time: a queue of events. Nothing waits for real time; the caller advances the timeline. Due
 * events run in order of time, those of the same time in the order of planning.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

export type Planned = { readonly cancel: () => void };

type Event = { readonly at: number; readonly order: number; run: (() => void) | undefined };

export class Timeline {
  #now: number;
  #order = 0;
  readonly #heap: Event[] = [];

  constructor(start: EpochMs) {
    this.#now = start;
  }

  now(): EpochMs {
    return this.#now as EpochMs;
  }

  /** Runs `run` at `now + ms`. A time in the past means now. */
  after(ms: number, run: () => void): Planned {
    const event: Event = { at: this.#now + Math.max(0, ms), order: this.#order++, run };
    this.#push(event);
    return {
      cancel: () => {
        event.run = undefined;
      },
    };
  }

  /** Runs `run` every `ms`, the first time after `first` (default: `ms`). */
  every(ms: number, run: () => void, first: number = ms): Planned {
    let cancelled = false;
    const loop = (): void => {
      run();
      if (!cancelled) planned = this.after(ms, loop);
    };
    let planned: Planned = this.after(first, loop);
    return {
      cancel: () => {
        cancelled = true;
        planned.cancel();
      },
    };
  }

  /** Runs all events that are due until `time`. Time never goes back: an earlier `time` does nothing. */
  advanceTo(time: EpochMs): void {
    for (let next = this.#heap[0]; next !== undefined && next.at <= time; next = this.#heap[0]) {
      this.#pop();
      if (next.run === undefined) continue;
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = Math.max(this.#now, time);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, event)) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = event;
  }

  /** Removes the first event. The last one takes its place and sinks down the heap. */
  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    while (2 * place + 1 < heap.length) {
      const below = this.#earlierOf(2 * place + 1);
      const child = heap[below];
      if (child === undefined || isBefore(last, child)) break;
      heap[place] = child;
      place = below;
    }
    heap[place] = last;
  }

  #earlierOf(left: number): number {
    const heap = this.#heap;
    const right = left + 1;
    if (right >= heap.length) return left;
    const [one, other] = [heap[left], heap[right]];
    return one !== undefined && other !== undefined && isBefore(other, one) ? right : left;
  }
}

/** The same events, seen on a clock that is ahead of or behind another. */
export class SkewedTimeline extends Timeline {
  readonly #true: Timeline;
  readonly #aheadMs: number;

  constructor(timeline: Timeline, aheadMs: number) {
    super(timeline.now());
    this.#true = timeline;
    this.#aheadMs = aheadMs;
  }

  override now(): EpochMs {
    return (this.#true.now() + this.#aheadMs) as EpochMs;
  }

  override after(ms: number, run: () => void): Planned {
    return this.#true.after(ms, run);
  }

  override advanceTo(time: EpochMs): void {
    this.#true.advanceTo((time - this.#aheadMs) as EpochMs);
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
