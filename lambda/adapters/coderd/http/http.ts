/**
 * Requests to one coderd.
 *
 * 429 and 503 are retried after the `Retry-After` that they carry. Where that is longer than a look can wait, the
 * answer is an error, and the path isn't asked again before the time is over. 401 reads the token again, once.
 */
import { type Dispatcher, request } from 'undici';
import type { z } from 'zod';
import type { EpochMs } from '../../../decision/model/brands.ts';
import type { CallCounter } from '../../shared/calls.ts';
import { describeSchemaMismatch } from '../../shared/schema-mismatch.ts';
import { makeDispatcher } from './dispatcher.ts';
import { checkHeaders } from './header-values.ts';
import { PATIENCE_OF_A_LOOK, type Patience, parseRetryAfterMs, withRetries } from './retries.ts';
import { errorSchema } from './schemas.ts';
import { describeUnreachable } from './unreachable.ts';

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
  /** The URL of an HTTP proxy. @default straight to coderd */
  readonly proxy?: string | undefined;
  /** Counts every request, retries too. @default nobody counts */
  readonly calls?: CallCounter | undefined;
  /** @default that of a look */
  readonly patience?: Patience | undefined;
  /** For one question, with the reading of its token and all retries. @default 20 s */
  readonly wholeMs?: number | undefined;
};

/** With all retries: an answer that drips in byte by byte must not cost the invocation. */
const WHOLE_MS = 20_000;

export class CoderdHttp {
  readonly #base: string;
  readonly #token: TokenSource;
  readonly #dispatcher: Dispatcher;
  readonly #proxy: string | undefined;
  readonly #calls: CallCounter | undefined;
  readonly #retryMs: number;
  readonly #wholeMs: number;
  readonly #notBefore = new Map<string, number>();

  constructor(options: CoderdHttpOptions) {
    const { url, token, caBundle, proxy, calls, wholeMs = WHOLE_MS } = options;
    const { silentMs, retryMs } = options.patience ?? PATIENCE_OF_A_LOOK;
    this.#base = url.replace(/\/+$/, '');
    this.#token = token;
    this.#proxy = proxy;
    this.#calls = calls;
    this.#retryMs = retryMs;
    this.#wholeMs = wholeMs;
    this.#dispatcher = makeDispatcher({ caBundle, proxy, silentMs });
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

  /** As `get`, with these headers instead of the token. */
  async getAs<T extends z.ZodType>(
    path: string,
    headers: Readonly<Record<string, string>>,
    schema: T,
  ): Promise<Document<z.output<T>>> {
    const answer = await this.#request({ method: 'GET', path }, headers, this.#budget());
    if (answer.statusCode !== 200) throw this.#errorOf(path, answer);
    return { value: parse(schema, answer), date: answer.date };
  }

  /**
   * What coderd answers, whatever its status and shape; a 401 does not read the token again. `token`: one instead of the configured
   * one, or none. Throws CoderdError where nothing comes, and SecretError when the configured token can't be read.
   */
  async answer(question: Question, token?: { readonly instead: string | undefined }): Promise<RawAnswer> {
    const budget = this.#budget(question.signal);
    if (token === undefined) return this.#send(question, budget, { fresh: false });
    const headers = token.instead === undefined ? {} : { 'coder-session-token': token.instead };
    return this.#request(question, headers, budget);
  }

  /** Closes the pooled connections. */
  async close(): Promise<void> {
    await this.#dispatcher.close();
  }

  async #ask<T extends z.ZodType>(question: Question, schema: T): Promise<Document<z.output<T>>> {
    const budget = this.#budget(question.signal);
    const first = await this.#send(question, budget, { fresh: false });
    const answer = first.statusCode === 401 ? await this.#send(question, budget, { fresh: true }) : first;
    if (answer.statusCode === 401) throw refusedAgain(answer);
    if (answer.statusCode !== 200) throw this.#errorOf(question.path, answer);
    return { value: parse(schema, answer), date: answer.date };
  }

  #budget(signal?: AbortSignal): AbortSignal {
    const whole = AbortSignal.timeout(this.#wholeMs);
    return signal === undefined ? whole : AbortSignal.any([whole, signal]);
  }

  async #send(
    question: Question,
    budget: AbortSignal,
    token: { readonly fresh: boolean },
  ): Promise<RawAnswer> {
    const read = await withinBudget(this.#token.read(token), budget, () => TOKEN_UNREAD);
    return this.#request(question, { 'coder-session-token': read }, budget);
  }

  async #request(
    question: Question,
    headers: Readonly<Record<string, string>>,
    budget: AbortSignal,
  ): Promise<RawAnswer> {
    const flaw = checkHeaders(headers);
    if (flaw !== undefined) throw new CoderdError('refused', flaw);
    this.#refuseEarly(question.path);
    const once = () => this.#sendOnce(question, headers, budget);
    const describe = (cause: unknown): string => describeUnreachable(cause, this.#proxy);
    const answer = withRetries(once, { retryMs: this.#retryMs, signal: budget }).catch((cause) => {
      throw new CoderdError('unreachable', describe(cause), { cause });
    });
    return withinBudget(answer, budget, describe);
  }

  async #sendOnce(
    { method, path, query = {}, body }: Question,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<RawAnswer> {
    let statusCode: number | undefined;
    try {
      const response = await request(`${this.#base}${path}`, {
        dispatcher: this.#dispatcher,
        method,
        query,
        body: body ?? null,
        signal,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
      });
      statusCode = response.statusCode;
      const said = await response.body.text();
      const text = statusCode === 200 ? said : hide(said, Object.values(headers));
      return { statusCode, headers: response.headers, text, date: parseDate(response.headers.date) };
    } finally {
      this.#calls?.count('coderd', { throttled: statusCode === 429 });
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

  #errorOf(path: string, answer: RawAnswer): CoderdError {
    const { statusCode, headers } = answer;
    const said = saidBy(answer);
    if (statusCode === 401) return new CoderdError('unauthorized', said);
    if (statusCode === 404 || statusCode === 403) return new CoderdError('not-found', said);
    const retryAfterMs = parseRetryAfterMs(headers['retry-after']);
    if (statusCode === 429 && retryAfterMs !== undefined) {
      this.#notBefore.set(path, Date.now() + retryAfterMs);
      return new CoderdError('rate-limited', `${said}; asking again in ${Math.ceil(retryAfterMs / 1000)} s`);
    }
    return new CoderdError(statusCode === 429 ? 'rate-limited' : 'refused', said);
  }
}

const TOKEN_UNREAD = 'the secret with the session token could not be read in time';

/** An abort alone does not settle every promise, so this one is left behind when the budget is used up. */
async function withinBudget<T>(
  promise: Promise<T>,
  budget: AbortSignal,
  describe: (cause: unknown) => string,
): Promise<T> {
  const { promise: usedUp, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    const cause: unknown = budget.reason;
    reject(new CoderdError('unreachable', describe(cause), { cause }));
  };
  if (budget.aborted) onAbort();
  budget.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, usedUp]);
  } finally {
    budget.removeEventListener('abort', onAbort);
  }
}

/** Whoever answers with an error may repeat what it got; only secrets are sent in headers of ours. */
function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '(hidden)'), text);
}

export type Question = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** A list: the parameter comes more than once. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
};

/** `text`: of an error, without what was sent in headers of ours. */
export type RawAnswer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly date: EpochMs | undefined;
};

function parseDate(header: string | string[] | undefined): EpochMs | undefined {
  const date = Date.parse(String(header));
  return Number.isNaN(date) ? undefined : (date as EpochMs);
}

function parse<T extends z.ZodType>(schema: T, { headers, text }: RawAnswer): z.output<T> {
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
    `coderd's answer has another shape than expected: ${describeSchemaMismatch(result.error, value)}`,
    { cause: result.error },
  );
}

function refusedAgain(answer: RawAnswer): CoderdError {
  return new CoderdError(
    'unauthorized',
    `${saidBy(answer)}; the token was read again and refused again: put a valid one into the secret`,
  );
}

function saidBy(answer: RawAnswer): string {
  return `coderd answered ${answer.statusCode}${saidText(answer)}`;
}

/** What Go's server, and nginx or an AWS load balancer, answer to http on a port that speaks TLS. */
const PLAIN_TO_TLS = /HTTP request (?:to an|was sent to) HTTPS/;

/** What an error body says, in one line; bodies of proxies are left out. */
function saidText({ text, headers }: RawAnswer): string {
  try {
    const { message, detail } = errorSchema.parse(JSON.parse(text));
    return `: ${[message, detail].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ').slice(0, 300)}`;
  } catch {
    if (PLAIN_TO_TLS.test(text)) return ': this port speaks TLS; write https in coder.url';
    const location = headers.location;
    return location === undefined
      ? ''
      : `, a redirect to ${String(location).slice(0, 200)}; is coder.url coderd itself?`;
  }
}
