/**
 * Sends the requests of the recorded story to a coderd, with that coderd's ids in place of names.
 */

import * as z from 'zod';
import { refusalOf } from '../../lambda/adapters/coderd/http/answer.ts';
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import type { JsonAnswer } from '../../verify/conformance/answers/answer-differences.ts';
import { type DeepQuestion, VERSION } from '../../verify/conformance/answers/read-only-steps.ts';

const NAME = /\{([^{}":]+)\}/g;
/** The recorded story's name for the id of the caller's token. */
const OWN_TOKEN = 'key of reader';

const templates = z.array(z.object({ active_version_id: z.string() })).min(1);

export class Interview {
  readonly #http: CoderdHttp;
  readonly #ids: Map<string, string>;
  #organization = '';

  constructor(http: CoderdHttp, tokenId: string) {
    this.#http = http;
    this.#ids = new Map([[OWN_TOKEN, tokenId]]);
  }

  /** Sets the organization of all further questions. */
  about({ id, name }: Organization): void {
    this.#ids.set('organization', id);
    this.#organization = name;
  }

  /** Whether the ids of all names in the question are known. */
  canAsk({ path }: DeepQuestion): boolean {
    return path.matchAll(NAME).every(([, name]) => this.#ids.has(name ?? ''));
  }

  /**
   * Sends a question. Throws CoderdError if coderd is unreachable or would refuse all further
   * questions.
   */
  async ask(question: DeepQuestion): Promise<JsonAnswer> {
    const { method, path, as, body } = question;
    const content = body === undefined ? {} : { body: this.#filled(JSON.stringify(body)) };
    const asked = { method, path: `/api/v2${this.#filled(path)}`, query: queryOf(question), ...content };
    const otherToken = { instead: as === 'nobody' ? undefined : new Secret(as) };
    const answer = await this.#http.answer(asked, as === 'reader' ? undefined : otherToken);
    const reply = { status: answer.statusCode, body: parseQuietly(answer.text) };
    throwIfFinal(question, reply);
    this.#learn(reply.body);
    return reply;
  }

  /** The request as text for people. */
  shown({ method, path, query, as, schema }: DeepQuestion): string {
    const filledPath = path.replaceAll(NAME, (_, name: string) => this.#shownName(name));
    const search = query.map((pair) => pair.join('=')).join('&');
    const whose = as === 'nobody' ? ' without a token' : ' with an invalid token';
    const suffix = as === 'reader' || schema !== undefined ? '' : whose;
    return `${method} /api/v2${filledPath}${search === '' ? '' : `?${search}`}${suffix}`;
  }

  #filled(text: string): string {
    return text.replaceAll(NAME, (all, name: string) => this.#ids.get(name) ?? all);
  }

  #shownName(name: string): string {
    if (name === 'organization') return this.#organization;
    return name === OWN_TOKEN ? '{id of the token}' : (this.#ids.get(name) ?? name);
  }

  #learn(body: unknown): void {
    const version = templates.safeParse(body).data?.[0]?.active_version_id;
    if (version !== undefined) this.#ids.set(VERSION, version);
  }
}

function queryOf({ query }: DeepQuestion): Readonly<Record<string, readonly string[]>> {
  const values = Map.groupBy(query, ([name]) => name);
  return Object.fromEntries([...values].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}

function throwIfFinal({ as }: DeepQuestion, { status }: JsonAnswer): void {
  const refusal = refusalOf(status);
  if (refusal === 'rate-limited')
    throw new CoderdError(refusal, 'coderd answered 429, too many requests. Try again in a minute');
  if (refusal === 'unauthorized' && as === 'reader')
    throw new CoderdError(refusal, 'coderd answered 401 to a token that it accepted before');
}
