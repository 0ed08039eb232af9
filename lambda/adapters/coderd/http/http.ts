/**
 * The HTTP client for one coderd.
 *
 * It retries 429 and 503 after their `Retry-After`. If a look cannot wait that long, the request
 * fails, and after a 429 later requests to the path fail at once until the pause is over, at most
 * `LONGEST_PAUSE_MS`. After 401 it reads the token again, once.
 */
import { request } from 'undici';
import type { z } from 'zod';
import type { EpochMs } from '../../../decision/model/brands.ts';
import type { CallCounter } from '../../shared/calls.ts';
import { type Rows, readingOfRows } from '../../shared/rows.ts';
import { describeSchemaMismatch } from '../../shared/schema-mismatch.ts';
import type { Secret } from '../../shared/secret.ts';
import {
  checkHeaders,
  describeAnswer,
  errorBodyOf,
  type RawAnswer,
  type RefusalCode,
  refusalOf,
  withoutSecrets,
} from './answer.ts';
import { FreshDispatcher, MOST_BYTES, makeDispatcher } from './dispatcher.ts';
import {
  LONGEST_PAUSE_MS,
  PATIENCE_OF_A_LOOK,
  type Patience,
  parseRetryAfterMs,
  withRetries,
} from './retries.ts';
import { describeUnreachable } from './unreachable.ts';

/** coderd did not answer, or answered with an error status or an unexpected body. `code` says which. */
export class CoderdError extends Error {
  override readonly name = 'CoderdError';
  readonly code: RefusalCode | 'unreachable' | 'misfit' | 'too-long' | 'too-old';
  /** The message without advice about the configured token: a command may use another one. */
  readonly said: string;
  /** The fields and parameters that coderd refuses. */
  readonly refused: readonly { readonly field: string; readonly detail: string }[];
  constructor(
    code: CoderdError['code'],
    message: string,
    { refused = [], said = message, ...options }: ErrorOptions & Partial<CoderdErrorFields> = {},
  ) {
    super(message, options);
    this.code = code;
    this.said = said;
    this.refused = refused;
  }
}

type CoderdErrorFields = Pick<CoderdError, 'refused' | 'said'>;

export type TokenSource = { readonly read: (options: { readonly fresh: boolean }) => Promise<Secret> };

/** By the name of the header that carries it. */
type Credentials = Readonly<Record<string, Secret>>;

/** A parsed answer of coderd, and the time in its `Date` header. */
export type Document<T> = { readonly value: T; readonly date: EpochMs | undefined };

export type CoderdHttpOptions = {
  readonly url: string;
  readonly token: TokenSource;
  /** PEM text of further CA certificates, in addition to the well-known authorities. */
  readonly caBundle?: string | undefined;
  /** The URL of an HTTP proxy. @default a direct connection */
  readonly proxy?: string | undefined;
  /** Counts every request, including retries. @default no counting */
  readonly calls?: CallCounter | undefined;
  /** @default the limits of a look */
  readonly patience?: Patience | undefined;
  /** Time limit for one request in milliseconds, including the token and all retries. @default 20 s */
  readonly wholeMs?: number | undefined;
  /** Ends all requests. @default never */
  readonly until?: AbortSignal | undefined;
  /** The longest answer in bytes. @default as much as fits into memory */
  readonly mostBytes?: number | undefined;
  /** Not coderd's clock: if all paths pause after a 429, no answer tells the time. @default this machine's */
  readonly now?: (() => EpochMs) | undefined;
};

/** Includes all retries: an answer that arrives byte by byte must not use up the invocation. */
export const WHOLE_MS = 20_000;

export class CoderdHttp {
  readonly #base: string;
  readonly #token: TokenSource;
  readonly #dispatcher: FreshDispatcher;
  readonly #proxy: string | undefined;
  readonly #calls: CallCounter | undefined;
  readonly #patience: Patience;
  readonly #wholeMs: number;
  readonly #until: AbortSignal | undefined;
  readonly #mostBytes: number;
  readonly #now: () => EpochMs;
  readonly #pauses = new Map<string, Pause>();
  readonly #options: CoderdHttpOptions;

  constructor(options: CoderdHttpOptions, dispatcher?: FreshDispatcher) {
    const { url, token, caBundle, proxy, calls, wholeMs = WHOLE_MS, mostBytes = MOST_BYTES } = options;
    this.#patience = options.patience ?? PATIENCE_OF_A_LOOK;
    this.#base = url.replace(/\/+$/, '');
    this.#token = token;
    this.#proxy = proxy;
    this.#calls = calls;
    this.#wholeMs = wholeMs;
    this.#until = options.until;
    this.#now = options.now ?? (() => Date.now() as EpochMs);
    const { silentMs } = this.#patience;
    const make = () => makeDispatcher({ caBundle, proxy, silentMs, mostBytes });
    this.#dispatcher = dispatcher ?? new FreshDispatcher(make, this.#now);
    this.#mostBytes = mostBytes;
    this.#options = options;
  }

  /** The same coderd with another token, over the same connections: close the original only. */
  withToken(token: Secret): CoderdHttp {
    return new CoderdHttp({ ...this.#options, token: { read: async () => token } }, this.#dispatcher);
  }

  /** Reads one JSON document. Throws CoderdError, or SecretError if the token cannot be read. */
  get<T extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: T,
    asking: Asking = {},
  ): Promise<Document<z.output<T>>> {
    return this.#ask({ method: 'GET', path, query, ...asking }, schema);
  }

  /** As `get`, for a request with a body. It is also retried, so it must change nothing in coderd. */
  post<T extends z.ZodType>(
    path: string,
    body: unknown,
    schema: T,
    asking: Asking = {},
  ): Promise<Document<z.output<T>>> {
    return this.#ask({ method: 'POST', path, body: JSON.stringify(body), ...asking }, schema);
  }

  /** As `get`, with these credentials, by header, instead of the token. */
  async getAs<T extends z.ZodType>(
    path: string,
    credentials: Credentials,
    schema: T,
  ): Promise<Document<z.output<T>>> {
    const answer = await this.#request({ method: 'GET', path }, credentials, this.#budget());
    this.#mustSucceed(path, answer);
    return { value: parse(schema, answer), date: answer.date };
  }

  /**
   * With any status and body, and without a second try after 401. `token`: another token, other headers, or none.
   * Throws CoderdError if there is no answer, and SecretError if the configured token cannot be read.
   */
  async answer(question: Question, token?: Instead): Promise<RawAnswer> {
    const budget = this.#budget(question.signal);
    if (token === undefined) return this.#send(question, budget, { fresh: false });
    const instead: Readonly<Record<string, Secret>> =
      token.instead === undefined ? {} : { 'coder-session-token': token.instead };
    return this.#request(question, token.credentials ?? instead, budget);
  }

  async close(): Promise<void> {
    await this.#dispatcher.close();
  }

  async #ask<T extends z.ZodType>(question: Question, schema: T): Promise<Document<z.output<T>>> {
    const startedAt = this.#now();
    const answer = await this.#askUntil200(question).finally(() =>
      question.onTook?.(Math.max(0, this.#now() - startedAt)),
    );
    return { value: parse(schema, answer), date: answer.date };
  }

  async #askUntil200(question: Question): Promise<RawAnswer> {
    const budget = this.#budget(question.signal);
    const first = await this.#send(question, budget, { fresh: false });
    const answer = first.statusCode === 401 ? await this.#send(question, budget, { fresh: true }) : first;
    if (answer.statusCode === 401) throw refusedAgain(answer);
    this.#mustSucceed(question.path, answer);
    return answer;
  }

  #budget(signal?: AbortSignal): AbortSignal {
    const whole = AbortSignal.timeout(this.#wholeMs);
    return AbortSignal.any([whole, this.#until, signal].filter((each) => each !== undefined));
  }

  async #send(
    question: Question,
    budget: AbortSignal,
    token: { readonly fresh: boolean },
  ): Promise<RawAnswer> {
    const read = await withinBudget(this.#token.read(token), budget, () => TOKEN_UNREAD);
    return this.#request(question, { 'coder-session-token': read }, budget);
  }

  async #request(question: Question, credentials: Credentials, budget: AbortSignal): Promise<RawAnswer> {
    const headers = Object.fromEntries(
      Object.entries(credentials).map(([name, secret]) => [name, secret.reveal()]),
    );
    const flaw = checkHeaders(headers);
    if (flaw !== undefined) throw new CoderdError('refused', flaw);
    this.#refuseEarly(question.path);
    let isAnswering = false;
    const once = () => {
      isAnswering = false;
      return this.#sendOnce(question, headers, budget, () => {
        isAnswering = true;
      });
    };
    const describe = (cause: unknown): string => describeUnreachable(cause, this.#proxy, isAnswering);
    const retried = (): Promise<RawAnswer> =>
      withRetries(once, { ...this.#patience, signal: budget, now: this.#now });
    const answer = (question.once ? once() : retried()).catch((cause) => {
      if (cause?.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') throw this.#tooLong(cause);
      throw new CoderdError('unreachable', describe(cause), { cause });
    });
    return withinBudget(answer, budget, describe);
  }

  async #sendOnce(
    { method, path, query = {}, body, type = 'application/json', isSlow = false }: Question,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    onBegun: () => void,
  ): Promise<RawAnswer> {
    let statusCode: number | undefined;
    try {
      const response = await request(`${this.#base}${path}`, {
        dispatcher: this.#dispatcher.get(),
        method,
        query,
        body: body ?? null,
        signal,
        ...(isSlow ? { headersTimeout: 0 } : {}),
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...headers,
          ...(body === undefined ? {} : { 'content-type': type }),
        },
      });
      statusCode = response.statusCode;
      onBegun();
      const text = await response.body.text();
      const answer = { statusCode, headers: response.headers, text, date: parseDate(response.headers.date) };
      return withoutSecrets(answer, Object.values(headers));
    } finally {
      const isAnswered = statusCode !== undefined;
      this.#calls?.count('coderd', { throttled: statusCode === 429, isAnswered });
    }
  }

  #refuseEarly(path: string): void {
    const { asked, until } = this.#pauses.get(path) ?? { asked: '', until: 0 };
    const leftMs = until - this.#now();
    // more is left only if the clock has stepped back
    if (leftMs <= 0 || leftMs > LONGEST_PAUSE_MS) return;
    const message = `coderd limits the rate of this request; it asked for ${asked}; ${nextTry(until)}`;
    throw new CoderdError('rate-limited', message);
  }

  #tooLong(cause: unknown): CoderdError {
    const mib = Math.round((this.#mostBytes / 2 ** 20) * 10) / 10;
    const message = `coderd's answer is longer than ${mib} MiB, which does not fit into memory; raise aws.function.memory, or for a command NODE_OPTIONS=--max-old-space-size`;
    return new CoderdError('too-long', message, { cause });
  }

  /** Throws for another status than 200. After a 429 later requests to the path wait for the pause. */
  #mustSucceed(path: string, answer: RawAnswer): void {
    if (answer.statusCode === 200) return;
    const pause = pauseIn(answer, this.#now());
    if (pause !== undefined) this.#pauses.set(path, pause);
    throw errorOf(answer, pause);
  }
}

type Pause = { readonly until: number; readonly asked: string };

/** The pause that coderd asks for with a 429. */
function pauseIn({ statusCode, headers }: RawAnswer, now: number): Pause | undefined {
  const retryAfterMs = parseRetryAfterMs(headers['retry-after'], now);
  if (refusalOf(statusCode) !== 'rate-limited' || retryAfterMs === undefined) return undefined;
  const until = now + Math.min(retryAfterMs, LONGEST_PAUSE_MS);
  return { until, asked: `a pause of ${Math.ceil(retryAfterMs / 1000)} s` };
}

/** The error that an answer with another status than 200 is. `pause`: what coderd asks for. */
export function errorOf(answer: RawAnswer, pause?: Pause): CoderdError {
  const code = refusalOf(answer.statusCode);
  const message = describeAnswer(answer);
  if (pause !== undefined)
    return new CoderdError(code, `${message}; it asks for ${pause.asked}; ${nextTry(pause.until)}`);
  return new CoderdError(code, message, { refused: errorBodyOf(answer)?.validations ?? [] });
}

function nextTry(until: number): string {
  return `the next try is after ${new Date(until).toISOString()}`;
}

const TOKEN_UNREAD = 'Secrets Manager did not return the session token in time';

/** Abandons the promise when the budget is used up, because an abort does not settle every promise. */
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

/** What signs a request in instead of the configured token. */
type Instead = {
  readonly instead?: Secret | undefined;
  readonly credentials?: Credentials;
};

export type Question = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** A list sends the parameter more than once. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** The media type of the body. @default application/json */
  readonly type?: string;
  /** It changes coderd, so it is never sent again: lambda/keys/, `autoscaler setup`. @default false */
  readonly once?: boolean;
} & Asking;

/** How one document is read. */
export type Asking = {
  readonly signal?: AbortSignal | undefined;
  /** Whether coderd may compute for long before it sends anything, so that only the whole limit counts. @default false */
  readonly isSlow?: boolean;
  /** Called with the milliseconds from the request to the last byte of the answer, or to the failure. */
  readonly onTook?: (ms: number) => void;
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
      `coderd answered 200 with ${text.length} characters that are not JSON (${type}); check that coder.url is the URL of coderd, not of a login page or a proxy`,
      { cause },
    );
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new CoderdError(
    'misfit',
    `coderd's answer has an unexpected format: ${describeSchemaMismatch(result.error, value)}`,
    { cause: result.error },
  );
}

/** For a command, which shows all rows or none. Throws CoderdError. */
export function wholeList<T>(rows: Rows<T>): readonly T[] {
  const { error, items } = readingOfRows("coderd's answer has an unexpected format", rows);
  if (error !== undefined) throw new CoderdError('misfit', error);
  return items;
}

/** docs/internals/coder.md §9 */
const NOT_ACTIVE = /User is not active/;

function refusedAgain(answer: RawAnswer): CoderdError {
  const said = describeAnswer(answer);
  const advice = NOT_ACTIVE.test(said)
    ? "coderd refuses the token's user, who is suspended. Run: coder users activate, with the name of that user. The token in the secret stays valid"
    : 'coderd refuses the token, also after it was read again from the secret. Store a valid token in it';
  return new CoderdError('unauthorized', `${advice}. ${said}`, { said });
}
