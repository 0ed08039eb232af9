/**
 * The simulated coderd in the same process, for the product's adapters: no sockets, but all limits,
 * schemas and pages.
 */

import type * as z from 'zod';
import { CoderdError, CoderdHttp, type Document } from '../../../lambda/adapters/coderd/http/http.ts';
import { describeSchemaMismatch } from '../../../lambda/adapters/shared/schema-mismatch.ts';
import { Secret } from '../../../lambda/adapters/shared/secret.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { CoderdModel } from '../model.ts';
import type { TokenUser } from '../tables/tokens.ts';
import { answerOf } from './http.ts';

/**
 * Makes one request: `answer` returns coderd's answer. An error thrown means that no answer came.
 */
export type Call = <T>(answer: () => T) => Promise<T>;

/** coderd gave no answer. */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
}

export class InProcessCoderd extends CoderdHttp {
  readonly #model: CoderdModel;
  readonly #call: Call;
  /** By path, of the requests without a query, which every look makes. */
  readonly #urls = new Map<string, URL>();

  constructor(model: CoderdModel, call: Call) {
    super({ url: 'http://127.0.0.1', token: { read: async () => new Secret('') } });
    this.#model = model;
    this.#call = call;
  }

  override get<T extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: T,
  ): Promise<Document<z.output<T>>> {
    return this.#ask(() => this.#read({ method: 'GET', path, query, body: '' }, schema));
  }

  override post<T extends z.ZodType>(path: string, body: unknown, schema: T): Promise<Document<z.output<T>>> {
    return this.#ask(() =>
      this.#read({ method: 'POST', path, query: {}, body: JSON.stringify(body) }, schema),
    );
  }

  /** Like `get`, but the answer needs no parsing: `make` returns it as the schema would. */
  getMade<T>(make: () => T): Promise<Document<T>> {
    return this.#ask(make);
  }

  async #ask<T>(answer: () => T): Promise<Document<T>> {
    try {
      return await this.#call(() => ({ value: answer(), date: this.#now() }));
    } catch (cause) {
      if (!(cause instanceof NoAnswer)) throw cause;
      throw new CoderdError('unreachable', `no answer from coderd (${cause.message})`, { cause });
    }
  }

  #read<T extends z.ZodType>({ path, query, ...asked }: Asked, schema: T): z.output<T> {
    const isPlain = Object.keys(query).length === 0;
    const url = (isPlain ? this.#urls.get(path) : undefined) ?? new URL(`http://coderd${path}`);
    if (isPlain) this.#urls.set(path, url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { status, body } = answerOf(this.#model, { ...asked, url, headers: {} }, ANYBODY);
    if (status !== 200) {
      const text = JSON.stringify(body);
      throw this.errorOf(path, { statusCode: status, headers: {}, text, date: this.#now() });
    }
    const result = schema.safeParse(body);
    if (!result.success) throw new CoderdError('misfit', describeSchemaMismatch(result.error, body));
    return result.data;
  }

  /** The Date header has whole seconds. */
  #now(): EpochMs {
    return (Math.floor(this.#model.timeline.now() / 1000) * 1000) as EpochMs;
  }
}

const ANYBODY: TokenUser = {
  userId: '',
  username: '',
  isOwner: false,
  canRead: 'all',
  canReadWorkspaces: 'all',
  canReadMembers: 'all',
  keyRights: { read: 'all', create: new Set(), delete: new Set() },
};

type Asked = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
};
