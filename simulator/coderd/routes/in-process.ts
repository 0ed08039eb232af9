/**
 * The simulated coderd in the same process, for the product's adapters: no sockets, but all limits,
 * schemas and pages.
 */

import type * as z from 'zod';
import { CoderdError, CoderdHttp, type Document } from '../../../lambda/adapters/coderd/http/http.ts';
import { describeSchemaMismatch } from '../../../lambda/adapters/shared/schema-mismatch.ts';
import { Secret } from '../../../lambda/adapters/shared/secret.ts';
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { CoderdModel } from '../model.ts';
import type { TokenUser } from '../tables/tokens.ts';
import { entitlements } from './account-routes.ts';
import { members } from './member-routes.ts';
import { QueryParameters } from './parameters.ts';
import { routeOf } from './workspace-routes.ts';

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
    return this.#ask(() => this.#read(answerOf(this.#model, path, query), schema));
  }

  override post<T extends z.ZodType>(path: string, body: unknown, schema: T): Promise<Document<z.output<T>>> {
    return this.#ask(() => this.#read(answerOf(this.#model, path, {}, JSON.stringify(body)), schema));
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

  #read<T extends z.ZodType>(value: unknown, schema: T): z.output<T> {
    const result = schema.safeParse(value);
    if (!result.success) throw new CoderdError('misfit', describeSchemaMismatch(result.error, value));
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

/** The same answers to the adapter's requests as `simulator/coderd/routes/http.ts`. */
function answerOf(
  model: CoderdModel,
  path: string,
  query: Readonly<Record<string, string>>,
  body = '',
): unknown {
  const [, , , resource, organization = '', list] = path.split('/');
  const rest = path.split('/').slice(4);
  const route = routeOf(resource, rest);
  if (route !== undefined) {
    const parameters = new QueryParameters(new URLSearchParams(query));
    return route.handle({ model, user: ANYBODY, parameters, rest, body }).body;
  }
  if (resource === 'entitlements') return entitlements(model).body;
  if (resource === 'buildinfo') return { version: model.version.text };
  if (list === undefined) return model.organizations.all.map(({ id, name }) => ({ id, name }));
  const organizationId = organization as OrganizationId;
  if (list === 'members') {
    const found = model.organizations.inPath(organizationId);
    return found && members({ model, user: ANYBODY, organization: found }).body;
  }
  if (list === 'provisionerjobs')
    return model.listJobs({
      organizationId,
      limit: Number(query.limit),
      statuses: words(query.status),
      ids: words(query.ids),
      tags: {},
      initiatorId: undefined,
    });
  return model.listDaemons({
    organizationId,
    limit: Number(query.limit),
    ids: [],
    tags: {},
    offline: query.offline === 'true',
    statuses: words(query.status),
    maxAgeMs: Number.parseInt(query.max_age ?? '0', 10) * 3_600_000,
  });
}

const words = (text: string | undefined): readonly string[] => (text === undefined ? [] : text.split(','));
