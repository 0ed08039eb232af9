/**
 * The line between a look and what it calls. A call takes effect somewhere on the way; it may fail before that, its answer may be
 * lost after that (the SDK then calls again, or gives up), and the look may end between any two calls.
 */

import type { Random } from '../../../simulator/base/random.ts';
import { NoAnswer } from '../../../simulator/coderd/routes/in-process.ts';
import type { Range } from '../../../simulator/ecs/parts/latencies.ts';
import type { VirtualScheduler } from './virtual-scheduler.ts';

export type LineFaults = {
  /** Shares of all calls. */
  readonly failing: number;
  readonly losing: number;
};

export type LineOptions = {
  readonly pace: VirtualScheduler;
  readonly random: Random;
  /** From a call to its answer. */
  readonly latency: Range;
  readonly faults: () => LineFaults;
  /** Asked before each call: whether the invocation has been cut off, so that this call and all others are never made. */
  readonly isCutOff: () => boolean;
};

/** A call that came to nothing, or whose answer did. */
export class LineError extends NoAnswer {
  override readonly name = 'LineError';
}

const NEVER: Promise<never> = new Promise(() => {});

export class FaultyConnection {
  readonly #options: LineOptions;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  async call<T>(act: () => T): Promise<T> {
    const { faults, isCutOff } = this.#options;
    if (isCutOff()) return NEVER;
    await this.#half();
    if (this.#happens(faults().failing)) throw new LineError('calling: the connection was refused');
    const answer = act();
    await this.#half();
    if (!this.#happens(faults().losing)) return answer;
    if (this.#happens(0.5)) return this.call(act);
    throw new LineError('calling: the connection was reset before an answer came');
  }

  #half(): Promise<void> {
    return this.#options.pace.wait(Math.round(this.#options.random.whole(...this.#options.latency) / 2));
  }

  /** Draws in any case, so that a fault more changes nothing else. */
  #happens(share: number): boolean {
    return this.#options.random.next() < share;
  }
}
