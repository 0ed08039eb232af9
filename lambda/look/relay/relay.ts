/**
 * Hands the next look of a minute to a message that invokes the function again, so that no invocation
 * waits between two looks. A message may be lost, repeated or late: that adds or saves a look, and
 * changes nothing else.
 */
import { type EpochMs, plusMs } from '../../decision/model/brands.ts';
import { HOUR_MS } from '../../decision/model/units.ts';

/** Requests the next look of a minute. */
export type LookMessage = {
  readonly sentAt: EpochMs;
  /** The end of the minute. The schedule starts the looks of the next one. */
  readonly until: EpochMs;
};

/** A queue that invokes the function with each of its messages. */
export interface LookQueue {
  /** Throws if the queue may not have got the message. */
  send(message: LookMessage, delayS: number): Promise<void>;
}

/** Clocks and messages are not exact. */
const EARLY_MS = 500;
/** Short, as the schedule may come early, and messages of another process with it. */
const LONGEST_REST_MS = 10_000;

/** After a failure invocations wait for their looks this long. So there is one warning an hour. */
const CLOSED_MS = HOUR_MS;

/** Lives as long as the process. What it remembers may be lost. */
export class Relay {
  readonly #queue: LookQueue;
  readonly #onFailure: (cause: unknown) => void;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #lastSentAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;

  /** `onFailure`: called at most once an hour. */
  constructor(queue: LookQueue, onFailure: (cause: unknown) => void) {
    this.#queue = queue;
    this.#onFailure = onFailure;
  }

  /** Whether the next look can be handed over, as far as this process knows. */
  isOpen(now: EpochMs): boolean {
    return now >= this.#closedUntil;
  }

  /**
   * Whether a message still requests a look. If this process has sent a newer one, the looks go on
   * without it. A look before the time that the last plan chose is not needed: forged messages make few looks.
   */
  isDue({ sentAt, until }: LookMessage, now: EpochMs): boolean {
    return now < until && sentAt >= this.#lastSentAt && now >= this.#nextAt - EARLY_MS;
  }

  /** Whether this process sent the message, and none since: no other one has looked in between. */
  isOwn({ sentAt }: LookMessage): boolean {
    return sentAt === this.#lastSentAt;
  }

  /** The last plan of this process needs no further look in its minute. */
  rest({ until, now }: Omit<Next, 'delayMs'>): void {
    this.#nextAt = Math.min(until, now + LONGEST_REST_MS);
  }

  /** Returns false if the caller has to wait itself. */
  async handOver({ delayMs, until, now }: Next): Promise<boolean> {
    // the delay of a message is in whole seconds, and the delivery takes some tenths of one
    const delayS = Math.floor(delayMs / 1000);
    if (delayS < 1 || !this.isOpen(now)) return false;
    try {
      await this.#queue.send({ sentAt: now, until }, delayS);
    } catch (cause) {
      this.#closedUntil = plusMs(now, CLOSED_MS);
      this.#onFailure(cause);
      return false;
    }
    this.#lastSentAt = now;
    this.#nextAt = now + delayS * 1000;
    return true;
  }
}

type Next = { readonly delayMs: number; readonly until: EpochMs; readonly now: EpochMs };
