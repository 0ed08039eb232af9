/** Counts the requests of one look, for its log event, and tells when a server has answered. */

export type Api = 'coderd' | 'ecs' | 'secrets-manager';

type Calls = {
  /** Requests sent, retries included. */
  readonly requests: number;
  /** Requests that were answered with "too many requests". */
  readonly throttled: number;
};

type CallEnd = {
  readonly throttled: boolean;
  /** Whether the server answered, with an error too. */
  readonly isAnswered: boolean;
};

export class CallCounter {
  readonly #onAnswer: () => void;
  #counts: Readonly<Record<Api, Calls>> = NONE;

  constructor(onAnswer: () => void = () => {}) {
    this.#onAnswer = onAnswer;
  }

  count(api: Api, { throttled, isAnswered }: CallEnd): void {
    if (isAnswered) this.#onAnswer();
    const { requests, throttled: before } = this.#counts[api];
    const counted = { requests: requests + 1, throttled: before + (throttled ? 1 : 0) };
    this.#counts = { ...this.#counts, [api]: counted };
  }

  /** Returns the counts since the last call, and resets them. */
  take(): Readonly<Record<Api, Calls>> {
    const counts = this.#counts;
    this.#counts = NONE;
    return counts;
  }
}

const NO_CALLS: Calls = { requests: 0, throttled: 0 };
const NONE = { coderd: NO_CALLS, ecs: NO_CALLS, 'secrets-manager': NO_CALLS } as const;
