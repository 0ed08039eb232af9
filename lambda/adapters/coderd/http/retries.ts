/**
 * Which requests are sent again, as a whole, and when. undici's own retries request the rest of a cut answer,
 * which coderd does not support, and over TLS some never settle.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS } from '../../../decision/model/units.ts';

export type Patience = {
  /** The longest time without data from coderd, in milliseconds. */
  readonly silentMs: number;
  /** The longest wait before the next try that coderd may ask for, in milliseconds. */
  readonly retryMs: number;
  /** The wait before the first retry in milliseconds. The second one is twice as long. @default 200 */
  readonly firstRetryMs?: number | undefined;
};

/** The next look comes after 10 s, so a look does not wait longer. */
export const PATIENCE_OF_A_LOOK: Patience = { silentMs: 8_000, retryMs: 5_000 };

/** After a 429, five invocations. A longer `Retry-After` is a mistake, and would leave jobs without tasks. */
export const LONGEST_PAUSE_MS = 5 * MINUTE_MS;

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Answered = { readonly statusCode: number; readonly headers: Headers };

const MAX_RETRIES = 2;
const FIRST_RETRY_MS = 200;

const RETRIED_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** After these errors a retry would leave no time for the rest of the look, or would fail again. */
const FINAL_ERRORS: ReadonlySet<unknown> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
]);

type RetryLimits = Omit<Patience, 'silentMs'> & {
  readonly signal: AbortSignal;
  /** The clock by which a date in `Retry-After` counts. */
  readonly now: () => number;
};

/** Tries up to three times. Returns the last answer, whatever its status, or throws the last error. */
export async function withRetries<T extends Answered>(
  act: () => Promise<T>,
  { retryMs, firstRetryMs = FIRST_RETRY_MS, signal, now }: RetryLimits,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    const [outcome] = await Promise.allSettled([act()]);
    const ownMs = firstRetryMs * 2 ** (failures - 1);
    const waitMs = failures > MAX_RETRIES || signal.aborted ? undefined : retryWaitMs(outcome, ownMs, now());
    if (waitMs !== undefined && waitMs <= retryMs) await sleep(waitMs, undefined, { signal });
    else if (outcome.status === 'fulfilled') return outcome.value;
    else throw outcome.reason;
  }
}

/** Milliseconds before the next try: as the answer asks, else `ownMs`. Undefined if another try would not help. */
function retryWaitMs(
  outcome: PromiseSettledResult<Answered>,
  ownMs: number,
  now: number,
): number | undefined {
  if (outcome.status === 'rejected') return FINAL_ERRORS.has(outcome.reason?.code) ? undefined : ownMs;
  const { statusCode, headers } = outcome.value;
  if (!RETRIED_STATUS.has(statusCode)) return undefined;
  return parseRetryAfterMs(headers['retry-after'], now) ?? ownMs;
}

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110). */
export function parseRetryAfterMs(
  header: string | readonly string[] | undefined,
  now: number,
): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(String(header));
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
