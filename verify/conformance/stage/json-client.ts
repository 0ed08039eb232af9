/** A client for JSON requests to coderd's public API and to the control port. */
import type * as z from 'zod';
import { exchange } from './ask.ts';
import { ConformanceError } from './conformance-error.ts';

export type JsonRequest = {
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

  /**
   * Sends a request and parses the answer. The token is in no error message.
   * @throws ConformanceError with the server's answer if its status is not 2xx
   */
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
