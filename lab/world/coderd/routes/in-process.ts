/**
 * The simulated coderd for the product's adapters: no sockets, but all limits, schemas and pages, and the time that
 * its database takes.
 */
import type * as z from 'zod';
import {
  type Asking,
  CoderdError,
  CoderdHttp,
  type Document,
  errorOf,
  WHOLE_MS,
} from '../../../../lambda/adapters/coderd/http/http.ts';
import { PATIENCE_OF_A_LOOK } from '../../../../lambda/adapters/coderd/http/retries.ts';
import { describeSchemaMismatch } from '../../../../lambda/adapters/shared/schema-mismatch.ts';
import { Secret } from '../../../../lambda/adapters/shared/secret.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { parseOnce } from '../../base/parse-once.ts';
import type { CoderdModel } from '../model.ts';
import type { TokenUser } from '../tables/tokens.ts';
import { answerOf } from './http.ts';

/** Makes one request: `answer` returns coderd's answer. An error thrown means that no answer came. */
export type Call = <T>(answer: () => T) => Promise<T>;

export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
}

export class InProcessCoderd extends CoderdHttp {
  readonly #model: CoderdModel;
  readonly #call: Call;
  readonly #wait: (ms: number) => Promise<void>;
  /** By path and query, of the requests that every look makes. */
  readonly #urls = new Map<string, URL>();

  constructor(model: CoderdModel, call: Call, wait: (ms: number) => Promise<void>) {
    super({ url: 'http://127.0.0.1', token: { read: async () => new Secret('') } });
    this.#model = model;
    this.#call = call;
    this.#wait = wait;
  }

  override get<T extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: T,
    asking: Asking = {},
  ): Promise<Document<z.output<T>>> {
    return this.#ask({ method: 'GET', path, query, body: '' }, schema, asking);
  }

  override post<T extends z.ZodType>(path: string, body: unknown, schema: T): Promise<Document<z.output<T>>> {
    return this.#ask({ method: 'POST', path, query: {}, body: JSON.stringify(body) }, schema, {});
  }

  async #ask<T extends z.ZodType>(
    asked: Asked,
    schema: T,
    { isSlow = false, onTook }: Asking,
  ): Promise<Document<z.output<T>>> {
    const { timeline, database } = this.#model;
    const startedAt = timeline.now();
    try {
      const { value, cost, at } = await this.#call(() => this.#read(asked, schema));
      const mostMs = isSlow ? WHOLE_MS : PATIENCE_OF_A_LOOK.silentMs;
      const tookMs = cost === undefined ? 0 : database.work(cost, mostMs);
      if (tookMs > 0) await this.#wait(tookMs);
      if (tookMs === mostMs) throw new NoAnswer('the time of the client is up');
      return { value, date: inSeconds(at + tookMs) };
    } catch (cause) {
      if (!(cause instanceof NoAnswer)) throw cause;
      throw new CoderdError('unreachable', `no answer from coderd (${cause.message})`, { cause });
    } finally {
      onTook?.(timeline.now() - startedAt);
    }
  }

  #read<T extends z.ZodType>({ path, query, ...asked }: Asked, schema: T) {
    const at = this.#model.date;
    const url = this.#urlOf(path, query);
    const { status, body, cost } = answerOf(this.#model, { ...asked, url, headers: {} }, ANYBODY);
    if (status !== 200) {
      const text = JSON.stringify(body);
      throw errorOf({ statusCode: status, headers: {}, text, date: inSeconds(at) });
    }
    const result = parseOnce(schema, body);
    if (!result.success) throw new CoderdError('misfit', describeSchemaMismatch(result.error, body));
    return { value: result.data, cost, at };
  }

  #urlOf(path: string, query: Asked['query']): URL {
    const key = [path, ...Object.entries(query).flat()].join(' ');
    const known = this.#urls.get(key);
    if (known !== undefined) return known;
    const url = new URL(`http://coderd${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    // lists of ids are hardly ever the same
    if (query.ids === undefined) this.#urls.set(key, url);
    return url;
  }
}

/** As in a `Date` header. */
const inSeconds = (at: number): EpochMs => (Math.floor(at / 1000) * 1000) as EpochMs;

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
