/** Requests with JSON bodies and answers, to coderd's public API and to the control port. */
import type * as z from 'zod';

export type JsonRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** Sent as JSON, or as it is where it is bytes (a tar). */
  readonly body?: object | Uint8Array;
};

export class JsonClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(base: string, headers: Readonly<Record<string, string>> = {}) {
    this.#base = base.replace(/\/+$/, '');
    this.#headers = headers;
  }

  /** Throws what the server says when it answers an error. Headers, and so tokens, are in no message. */
  async ask<T extends z.ZodType>(path: string, schema: T, request: JsonRequest = {}): Promise<z.output<T>> {
    const { method = 'GET', body } = request;
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(`${this.#base}${path}`, {
      method,
      headers: { ...this.#headers, 'content-type': isBytes ? 'application/x-tar' : 'application/json' },
      ...(body === undefined
        ? {}
        : { body: isBytes ? new Blob([new Uint8Array(body)]) : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path}: the server answered ${response.status}: ${text.slice(0, 500)}`);
    return schema.parse(text === '' ? undefined : JSON.parse(text));
  }
}
