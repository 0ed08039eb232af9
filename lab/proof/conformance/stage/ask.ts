/** Sends requests to coderd and to its control port. */
import type * as z from 'zod';
import type { Names } from './names.ts';
import { type Answer, ConformanceError, type Question } from './question.ts';

export async function askCoderd(
  { url, names, token }: { readonly url: string; readonly names: Names; readonly token: string | undefined },
  { method = 'GET', path, query = {}, body }: Question,
): Promise<Answer> {
  const pairs: readonly (readonly [string, string])[] = Array.isArray(query) ? query : Object.entries(query);
  const search = new URLSearchParams(
    pairs.map(([name, value]): [string, string] => [name, names.fill(value)]),
  );
  const content = body === undefined ? undefined : names.fill(JSON.stringify(body));
  const suffix = search.size === 0 ? '' : `?${search}`;
  return send(`${url}/api/v2${pathOf(path, names)}${suffix}`, { method, token, content });
}

export function pathOf(path: string, names: Names): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(names.wordFor(name)));
}

type Sent = {
  readonly method: string;
  readonly token: string | undefined;
  readonly content: string | Uint8Array | undefined;
  /** @default `application/json` */
  readonly type?: string;
};

export async function send(url: string, sent: Sent): Promise<Answer> {
  const { status, text } = await exchange(url, sent);
  return { status, body: parsed(text) };
}

async function exchange(
  url: string,
  { method, token, content, type = 'application/json' }: Sent,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { 'Coder-Session-Token': token }),
      ...(content === undefined ? {} : { 'Content-Type': type }),
    },
    ...(content === undefined ? {} : { body: content }),
  });
  return { status: response.status, text: await response.text() };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

type JsonRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** Sent as JSON; bytes (a tar file) are sent unchanged. */
  readonly body?: object | Uint8Array;
};

export class JsonClient {
  readonly #base: string;
  readonly #token: string | undefined;

  constructor(base: string, token?: string) {
    this.#base = base.replace(/\/+$/, '');
    this.#token = token;
  }

  /** The token is in no error message. @throws ConformanceError if the server's status is not 2xx */
  async ask<T extends z.ZodType>(path: string, schema: T, request: JsonRequest = {}): Promise<z.output<T>> {
    const { method = 'GET', body } = request;
    const isBytes = body instanceof Uint8Array;
    const { status, text } = await exchange(`${this.#base}${path}`, {
      method,
      token: this.#token,
      content: body === undefined || isBytes ? body : JSON.stringify(body),
      type: isBytes ? 'application/x-tar' : 'application/json',
    });
    if (status < 200 || status > 299)
      throw new ConformanceError(`${method} ${path}: the server answered ${status}: ${text.slice(0, 500)}`);
    return schema.parse(text === '' ? undefined : JSON.parse(text));
  }
}
