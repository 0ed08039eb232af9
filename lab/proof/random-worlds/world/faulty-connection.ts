/**
 * Between a look and a service. A call may fail before it takes effect, or its answer may be lost
 * after that (the SDK retries, or gives up). A look may end between any two calls.
 */
import type { Random } from '../../../world/base/random.ts';
import type { VirtualScheduler } from '../../../world/base/virtual-scheduler.ts';
import { NoAnswer } from '../../../world/coderd/routes/in-process.ts';
import type { Range } from '../../../world/ecs/parts/latencies.ts';
import { ENDED } from '../../../world/in-process/ports.ts';

export type ConnectionFaults = {
  /** Share of all calls that fail before they take effect, 0 to 1. */
  readonly failing: number;
  /** Share of all calls whose answer is lost, 0 to 1. */
  readonly losing: number;
};

export type ConnectionOptions = {
  readonly scheduler: VirtualScheduler;
  readonly random: Random;
  /** Time from a call to its answer, in milliseconds. */
  readonly latency: Range;
  /** What an answer takes beside that, in milliseconds. @default nothing */
  readonly costMs?: () => number;
  readonly faults: () => ConnectionFaults;
  /** Called before each call: true once the invocation has ended, so no later call is made. */
  readonly isCutOff: () => boolean;
};

class ConnectionError extends NoAnswer {
  override readonly name = 'ConnectionError';
}

export class FaultyConnection {
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Returns `ENDED` itself, which tells the ports that the process has ended. */
  call<T>(act: () => T): Promise<T> {
    return this.#options.isCutOff() ? ENDED : this.#call(act);
  }

  async #call<T>(act: () => T): Promise<T> {
    const { faults } = this.#options;
    await this.#waitHalfLatency();
    if (this.#happens(faults().failing)) throw new ConnectionError('calling: the connection was refused');
    const answer = act();
    await this.#waitHalfLatency();
    if (!this.#happens(faults().losing)) return answer;
    if (this.#happens(0.5)) return this.call(act);
    throw new ConnectionError('calling: the connection was reset before an answer came');
  }

  #waitHalfLatency(): Promise<void> {
    const { scheduler, random, latency, costMs = () => 0 } = this.#options;
    return scheduler.wait(Math.round((random.whole(...latency) + costMs()) / 2));
  }

  /** Draws even when the share is 0, so that adding a fault changes nothing else in the world. */
  #happens(share: number): boolean {
    return this.#options.random.next() < share;
  }
}
