import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Timeline } from './timeline.ts';

type Sleeper = { readonly at: number; readonly order: number; readonly go: () => void };

/** Runs asynchronous code on virtual time: waits end one after the other, in order of time. */
export class VirtualScheduler {
  readonly #timeline: Timeline;
  readonly #waiting: Sleeper[] = [];
  #order = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  now(): EpochMs {
    return this.#timeline.now();
  }

  wait(ms: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ at: this.now() + Math.max(0, ms), order: this.#order++, go });
    });
  }

  /** Advances the time to `time`, and runs all events and waits that are due until then. */
  async advanceTo(time: EpochMs): Promise<void> {
    for (let next = this.#takeNext(time); next !== undefined; next = this.#takeNext(time)) {
      this.#timeline.advanceTo(next.at as EpochMs);
      next.go();
      await settledPromises();
    }
    this.#timeline.advanceTo(time);
  }

  #takeNext(time: EpochMs): Sleeper | undefined {
    const waiting = this.#waiting;
    let least = 0;
    for (let index = 1; index < waiting.length; index++)
      if (isBefore(waiting[index], waiting[least])) least = index;
    const next = waiting[least];
    if (next === undefined || next.at > time) return undefined;
    const last = waiting.pop();
    if (last !== undefined && last !== next) waiting[least] = last;
    return next;
  }
}

function isBefore(a: Sleeper | undefined, b: Sleeper | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Resolves when all promises have settled that followed from one wake-up. */
const settledPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
