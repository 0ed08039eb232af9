/**
 * Requests to one coderd: one pooled undici client, time-outs, bounded retries.
 *
 * 429 and 503 are retried after the `Retry-After` that they carry. Where that is longer than a look can wait, the
 * answer is an error, and the path isn't asked again before the time is over. 401 reads the token again, once.
 */
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, interceptors, request } from 'undici';
import type { z } from 'zod';
import type { EpochMs } from '../../core/brands.ts';
import { describeMisfit } from '../misfit.ts';
import { errorSchema } from './schemas.ts';

/** `coderd` answered with an error status, with something that is not what it should be, or not at all. */
export class CoderdError extends Error {
  override readonly name = 'CoderdError';
  readonly code:
    | 'unreachable'
    | 'unauthorized'
    | 'not-found'
    | 'rate-limited'
    | 'refused'
    | 'misfit'
    | 'too-old';
  constructor(code: CoderdError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type TokenSource = { readonly read: (options: { readonly fresh: boolean }) => Promise<string> };

/** What coderd answered, and when by the clock of whoever answered. */
export type Document<T> = { readonly value: T; readonly date: EpochMs | undefined };

export type CoderdHttpOptions = {
  readonly url: string;
  readonly token: TokenSource;
  /** PEM, added to the well-known authorities. */
  readonly caBundle?: string | undefined;
  /** For one request with all its retries. @default 20 s */
  readonly wholeMs?: number | undefined;
};

const CONNECT_MS = 3_000;
const HEADERS_MS = 8_000;
const BODY_MS = 8_000;
/** With all retries: an answer that drips in byte by byte must not cost the invocation. */
const WHOLE_MS = 20_000;
const MAX_RETRIES = 2;
const FIRST_RETRY_MS = 200;
/** A look comes every 10 s: waiting longer than this within one is no use. */
const LONGEST_WAIT_MS = 5_000;
/** An answer of 10,000 jobs has some 10 MB. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

export class CoderdHttp {
  readonly #base: string;
  readonly #token: TokenSource;
  readonly #dispatcher: Dispatcher;
  readonly #wholeMs: number;
  readonly #notBefore = new Map<string, number>();

  constructor({ url, token, caBundle, wholeMs = WHOLE_MS }: CoderdHttpOptions) {
    this.#wholeMs = wholeMs;
    this.#base = url.replace(/\/+$/, '');
    this.#token = token;
    this.#dispatcher = new Agent({
      connections: 16,
      connect: {
        timeout: CONNECT_MS,
        ...(caBundle === undefined ? {} : { ca: withKnownAuthorities(caBundle) }),
      },
      headersTimeout: HEADERS_MS,
      bodyTimeout: BODY_MS,
      maxResponseSize: MAX_BODY_BYTES,
    }).compose(interceptors.retry({ maxRetries: MAX_RETRIES, throwOnError: false, retry: retryPolicy }));
  }

  /** Reads one JSON document. Throws CoderdError, or SecretError when the token can't be read. */
  get<T extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: T,
    signal?: AbortSignal,
  ): Promise<Document<z.output<T>>> {
    return this.#ask({ method: 'GET', path, query, signal }, schema);
  }

  /** As `get`, for a question that has a body: it may change nothing at coderd, since it is retried alike. */
  post<T extends z.ZodType>(
    path: string,
    body: unknown,
    schema: T,
    signal?: AbortSignal,
  ): Promise<Document<z.output<T>>> {
    return this.#ask({ method: 'POST', path, body: JSON.stringify(body), signal }, schema);
  }

  /** Closes the pooled connections. */
  async close(): Promise<void> {
    await this.#dispatcher.close();
  }

  async #ask<T extends z.ZodType>(question: Question, schema: T): Promise<Document<z.output<T>>> {
    const first = await this.#send(question, { fresh: false });
    const answer = first.statusCode === 401 ? await this.#send(question, { fresh: true }) : first;
    if (answer.statusCode !== 200) throw this.#errorOf(question.path, answer);
    return { value: parse(schema, answer), date: answer.date };
  }

  async #send(question: Question, token: { readonly fresh: boolean }): Promise<Answer> {
    const { method, path, query = {}, body: sent = null, signal } = question;
    this.#refuseEarly(path);
    const sessionToken = await this.#token.read(token);
    const whole = AbortSignal.timeout(this.#wholeMs);
    try {
      const { statusCode, headers, body } = await request(`${this.#base}${path}`, {
        dispatcher: this.#dispatcher,
        method,
        query,
        body: sent,
        signal: signal === undefined ? whole : AbortSignal.any([whole, signal]),
        headers: {
          accept: 'application/json',
          'coder-session-token': sessionToken,
          ...(sent === null ? {} : { 'content-type': 'application/json' }),
        },
      });
      const text = await body.text();
      return { statusCode, headers, text, date: parseDate(headers.date) };
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new CoderdError('unreachable', `no answer from coderd (${reason}); ${adviceFor(reason)}`, {
        cause,
      });
    }
  }

  #refuseEarly(path: string): void {
    const until = this.#notBefore.get(path) ?? 0;
    const waitMs = until - Date.now();
    if (waitMs > 0)
      throw new CoderdError(
        'rate-limited',
        `coderd asked for a pause, ${Math.ceil(waitMs / 1000)} s of it are left`,
      );
  }

  #errorOf(path: string, answer: Answer): CoderdError {
    const { statusCode, headers } = answer;
    const said = `coderd answered ${statusCode}${saidText(answer)}`;
    if (statusCode === 401)
      return new CoderdError(
        'unauthorized',
        `${said}; the token was read again and refused again: put a valid one into the secret`,
      );
    if (statusCode === 404 || statusCode === 403) return new CoderdError('not-found', said);
    const retryAfterMs = parseRetryAfterMs(headers['retry-after']);
    if (statusCode === 429 && retryAfterMs !== undefined) {
      this.#notBefore.set(path, Date.now() + retryAfterMs);
      return new CoderdError('rate-limited', `${said}; asking again in ${Math.ceil(retryAfterMs / 1000)} s`);
    }
    return new CoderdError(statusCode === 429 ? 'rate-limited' : 'refused', said);
  }
}

type Question = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
};

type Answer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly date: EpochMs | undefined;
};

function parseDate(header: string | string[] | undefined): EpochMs | undefined {
  const date = Date.parse(String(header));
  return Number.isNaN(date) ? undefined : (date as EpochMs);
}

function parse<T extends z.ZodType>(schema: T, { headers, text }: Answer): z.output<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const type = String(headers['content-type'] ?? 'no content type');
    throw new CoderdError(
      'misfit',
      `coderd answered 200 with ${text.length} characters that are not JSON (${type}); is coder.url coderd itself, and not a login page or a proxy?`,
      { cause },
    );
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new CoderdError(
    'misfit',
    `coderd's answer has another shape than expected: ${describeMisfit(result.error, value)}`,
    { cause: result.error },
  );
}

/** What an error body says, in one line; bodies of proxies are left out. */
function saidText({ text, headers }: Answer): string {
  try {
    const { message, detail } = errorSchema.parse(JSON.parse(text));
    return `: ${[message, detail].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ').slice(0, 300)}`;
  } catch {
    const location = headers.location;
    return location === undefined
      ? ''
      : `, a redirect to ${String(location).slice(0, 200)}; is coder.url coderd itself?`;
  }
}

/** The codes and messages at the bottom of an undici or Node error. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error)) return String(cause);
  if (cause.cause instanceof Error) return reasonOf(cause.cause);
  return (cause.message || cause.name).replaceAll(/\s+/g, ' ').slice(0, 200);
}

/** What to do about the failures that people meet most. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /self.signed|unable to (?:get|verify)|certificate|issuer/i,
    'if its certificate is signed by a CA of your own, name it in coder.caBundle',
  ],
  [/wrong version number|packet length|EPROTO/i, 'it speaks no TLS on this port; check coder.url'],
  [
    /invalid coder-session-token/i,
    'the token in the secret has characters that no token has; store it again',
  ],
];

function adviceFor(reason: string): string {
  return ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? 'check coder.url and the network';
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

const retryPolicy: NonNullable<RetryOptions['retry']> = (error, { state }, done) => {
  const waitMs =
    mayRetry(error) && state.counter <= MAX_RETRIES ? retryWaitMs(error, state.counter) : undefined;
  if (waitMs === undefined || waitMs > LONGEST_WAIT_MS) done(error);
  else setTimeout(() => done(null), waitMs);
  return null;
};

function mayRetry(error: Error): boolean {
  if ('statusCode' in error && typeof error.statusCode === 'number')
    return RETRIED_STATUS.has(error.statusCode);
  return !('code' in error && typeof error.code === 'string' && TIMEOUTS.has(error.code));
}

function retryWaitMs(error: Error, counter: number): number {
  const headers = 'headers' in error ? (error.headers as Answer['headers'] | undefined) : undefined;
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
