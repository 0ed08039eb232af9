/**
 * The world's virtual time: a queue of events. Nothing in the world waits for real time or sets a timer; whoever
 * drives the world (a test, the HTTP faces with a scaled clock, a simulation) advances the timeline, and
 * everything due by then happens in order of time, ties in order of planning.
 */
import type { EpochMs } from '../lambda/core/brands.ts';

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

  /** Lets everything due until `time` happen. Time never goes back: an earlier `time` does nothing. */
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
    heap.push(event);
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfLater(parent, child)) return;
      child = parent;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const right = left + 1;
      const least = right < heap.length && this.#isLater(left, right) ? right : left;
      if (least >= heap.length || !this.#swapIfLater(parent, least)) return;
      parent = least;
    }
  }

  #isLater(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    if (left === undefined || right === undefined) return false;
    return left.at > right.at || (left.at === right.at && left.order > right.order);
  }

  #swapIfLater(upper: number, lower: number): boolean {
    if (!this.#isLater(upper, lower)) return false;
    const [a, b] = [this.#heap[upper], this.#heap[lower]];
    if (a === undefined || b === undefined) return false;
    this.#heap[upper] = b;
    this.#heap[lower] = a;
    return true;
  }
}
