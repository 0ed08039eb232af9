/** go-chi/httprate as coderd uses it (docs/internals/coder.md §9): a sliding window of one minute. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

const WINDOW_MS = 60_000;

export type RateLimitVerdict = {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
};

export class RateLimiter {
  readonly #limit: number;
  readonly #counts = new Map<string, { window: number; current: number; previous: number }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a request, unless it is refused. */
  admit(key: string, now: EpochMs): RateLimitVerdict {
    const window = Math.floor(now / WINDOW_MS);
    const count = this.#countOf(key, window);
    const passed = (now - window * WINDOW_MS) / WINDOW_MS;
    const rate = Math.round(count.previous * (1 - passed) + count.current);
    const allowed = rate + 1 <= this.#limit;
    if (allowed) count.current++;
    const headers = {
      'X-RateLimit-Limit': String(this.#limit),
      'X-RateLimit-Remaining': String(this.#limit - rate - (allowed ? 1 : 0)),
      'X-RateLimit-Reset': String(((window + 1) * WINDOW_MS) / 1_000),
    };
    return { allowed, headers: allowed ? headers : { ...headers, 'Retry-After': String(WINDOW_MS / 1_000) } };
  }

  #countOf(key: string, window: number): { current: number; previous: number } {
    const last = this.#counts.get(key);
    if (last?.window === window) return last;
    const count = { window, current: 0, previous: last?.window === window - 1 ? last.current : 0 };
    this.#counts.set(key, count);
    return count;
  }
}
