import { NoAnswerError } from '../../lambda/adapters/shared/aws-calls.ts';

/** With the start of the command this makes about ten seconds. */
const SILENCE_MS = 7_500;

/**
 * Ends all requests when no server has answered for a time. A large deployment takes longer, but
 * its servers answer one request after the other.
 */
export class SilenceLimit {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  /** `silenceMs`: milliseconds. @default 7,500 */
  constructor(silenceMs = SILENCE_MS) {
    const cause = new NoAnswerError(`timed out: no answer within ${silenceMs / 1000} s`);
    this.#timer = setTimeout(() => this.#controller.abort(cause), silenceMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the time again. */
  onAnswer(): void {
    this.#timer.refresh();
  }

  /** Stops the clock. Requests no longer end. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
