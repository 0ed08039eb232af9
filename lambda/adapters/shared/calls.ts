/** Counts the requests of one look, for its log event. */

/** The services that the function calls. */
export type Api = 'coderd' | 'ecs' | 'secrets-manager';

export type Calls = {
  /** Requests sent, retries included. */
  readonly requests: number;
  /** Requests that were answered with "too many requests". */
  readonly throttled: number;
};

export class CallCounter {
  #counts: Readonly<Record<Api, Calls>> = NONE;

  /** Counts one request and whether it was throttled. */
  count(api: Api, { throttled }: { readonly throttled: boolean }): void {
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
