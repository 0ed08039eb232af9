/**
 * The connections to one coderd: a pool of its own, straight or through a proxy, time-outs, bounded retries.
 *
 * The proxy is the one of the configuration, `coder.proxy`. HTTPS_PROXY is not read: the function and the command line
 * are to take the same way, and in Lambda a variable would catch what reaches coderd without one.
 */
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, interceptors, Pool, ProxyAgent } from 'undici';
import type { CallCounter } from '../calls.ts';

export type DispatcherOptions = {
  /** PEM, added to the well-known authorities. */
  readonly caBundle?: string | undefined;
  /** The URL of an HTTP proxy; it is only asked to connect, so TLS is between us and coderd. */
  readonly proxy?: string | undefined;
  readonly calls?: CallCounter | undefined;
  /** @default that of a look, which comes every 10 s */
  readonly patience?: Patience | undefined;
};

/** What to wait for, of one answer. */
export type Patience = {
  /** How long coderd may say nothing. */
  readonly silentMs: number;
  /** How long it may ask to wait before the next try. */
  readonly retryMs: number;
};

const CONNECT_MS = 3_000;
const MAX_RETRIES = 2;
const FIRST_RETRY_MS = 200;
/** A look comes every 10 s: waiting longer than this within one is no use. */
const OF_A_LOOK: Patience = { silentMs: 8_000, retryMs: 5_000 };
/** An answer of 10,000 jobs has some 10 MB. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

export function makeDispatcher(options: DispatcherOptions): Dispatcher {
  const { caBundle, proxy, calls, patience = OF_A_LOOK } = options;
  const limits = limitsOf(patience);
  const tls = {
    timeout: CONNECT_MS,
    ...(caBundle === undefined ? {} : { ca: withKnownAuthorities(caBundle) }),
  };
  const agent =
    proxy === undefined
      ? new Agent({ ...limits, connect: tls })
      : proxyAgent(proxy, { ...limits, requestTls: tls });
  const counted = calls === undefined ? agent : agent.compose(counting(calls));
  return counted.compose(
    interceptors.retry({ maxRetries: MAX_RETRIES, throwOnError: false, retry: retryPolicy(patience) }),
  );
}

function limitsOf({ silentMs }: Patience) {
  return {
    connections: 16,
    headersTimeout: silentMs,
    bodyTimeout: silentMs,
    maxResponseSize: MAX_BODY_BYTES,
  } as const;
}

/** Always a tunnel: plain forwarding, which is for http only, would know none of the limits. */
function proxyAgent(uri: string, options: Omit<ProxyAgent.Options, 'uri'>): ProxyAgent {
  return new ProxyAgent({
    ...options,
    uri,
    proxyTunnel: true,
    connectTimeout: CONNECT_MS,
    // a proxy that takes the connection and never answers CONNECT is to be given up as one that can't be reached
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: CONNECT_MS }),
  });
}

/** Below the retries, so that each of them counts. */
function counting(calls: CallCounter): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    let isCounted = false;
    const count = (statusCode?: number): void => {
      if (!isCounted) calls.count('coderd', { throttled: statusCode === 429 });
      isCounted = true;
    };
    const counted: Dispatcher.DispatchHandler = {
      onRequestStart: (...given) => handler.onRequestStart?.(...given),
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart: (controller, statusCode, ...rest) => {
        if (statusCode >= 200) count(statusCode);
        return handler.onResponseStart?.(controller, statusCode, ...rest);
      },
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => {
        count();
        return handler.onResponseError?.(...given);
      },
    };
    return dispatch(options, counted);
  };
}

/** Answers that another try may change. */
const RETRIED_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** A second wait of the same length would leave no time for the rest of the look. */
const TIMEOUTS: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

type RetryOptions = NonNullable<Parameters<typeof interceptors.retry>[0]>;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

function retryPolicy({ retryMs }: Patience): NonNullable<RetryOptions['retry']> {
  return (error, { state }, done) => {
    const waitMs =
      mayRetry(error) && state.counter <= MAX_RETRIES ? retryWaitMs(error, state.counter) : undefined;
    if (waitMs === undefined || waitMs > retryMs) done(error);
    else setTimeout(() => done(null), waitMs);
    return null;
  };
}

function mayRetry(error: Error): boolean {
  if ('statusCode' in error && typeof error.statusCode === 'number')
    return RETRIED_STATUS.has(error.statusCode);
  return !('code' in error && typeof error.code === 'string' && TIMEOUTS.has(error.code));
}

function retryWaitMs(error: Error, counter: number): number {
  const headers = 'headers' in error ? (error.headers as Headers | undefined) : undefined;
  return parseRetryAfterMs(headers?.['retry-after']) ?? FIRST_RETRY_MS * 2 ** (counter - 1);
}

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110). */
export function parseRetryAfterMs(header: string | readonly string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(String(header));
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** A `ca` option replaces the well-known authorities, so they are given too. */
function withKnownAuthorities(caBundle: string): string[] {
  return [...rootCertificates, caBundle];
}
