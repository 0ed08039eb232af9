/**
 * Provisioner keys of one coderd (docs/internals/coder.md §3). Without a right, coderd answers as if a key did not
 * exist (an empty list, 404), or as if it had failed (500). `POST /authcheck` tells these apart.
 */
import * as z from 'zod';
import { describeAnswer, errorBodyOf, type RawAnswer } from '../../adapters/coderd/http/answer.ts';
import { CoderdError } from '../../adapters/coderd/http/http.ts';
import { daemonRows, keyRows, organizationRows } from '../../adapters/coderd/http/lists.ts';
import {
  authorizationSchema,
  buildInfoSchema,
  type daemonSchema,
  listedKeySchema,
  listPath,
} from '../../adapters/coderd/http/schemas.ts';
import { type RowsSchema, readingOfRows } from '../../adapters/shared/rows.ts';
import { describeSchemaMismatch } from '../../adapters/shared/schema-mismatch.ts';
import { Secret } from '../../adapters/shared/secret.ts';
import type { EpochMs, OrganizationId } from '../../decision/model/brands.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import { parseQuietly } from '../../decision/model/parse-quietly.ts';
import type { Tags } from '../../decision/model/tags.ts';
import { filtersDaemons, isKnownVersion } from '../../decision/model/version.ts';
import { KeysError } from '../model/keys-error.ts';
import type {
  KeyClock,
  KeyFacts,
  Listed,
  Organization,
  ProvisionerKeys,
  Rights,
  SeenDaemon,
} from '../model/ports.ts';

/** A request to coderd. With a `key`, the key signs in; otherwise the key function's token. */
type CoderdRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly key?: Secret;
  /** The request changes coderd, so it is sent once. */
  readonly once?: true;
};

/** Returns coderd's answer with any status. Throws CoderdError if there is none. */
export type AskCoderd = (request: CoderdRequest) => Promise<RawAnswer>;

const ACTIONS = ['read', 'create', 'delete'] as const;
export class CoderdKeys implements ProvisionerKeys {
  readonly #send: AskCoderd;
  readonly #clock: Pick<KeyClock, 'now'>;

  constructor(send: AskCoderd, clock: Pick<KeyClock, 'now'>) {
    this.#send = send;
    this.#clock = clock;
  }

  async organizations(): Promise<readonly Organization[]> {
    const doing = 'listing organizations';
    const answer = await this.#ask(doing, { method: 'GET', path: '/api/v2/organizations' });
    return readWhole(doing, answer, organizationRows);
  }

  async rights(organizations: readonly OrganizationId[]): Promise<ReadonlyMap<OrganizationId, Rights>> {
    const doing = "checking the rights of the token's user";
    const checks = organizations.flatMap((id) =>
      ACTIONS.map((action) => {
        const object = { resource_type: 'provisioner_daemon', organization_id: id };
        return [`${action} ${id}`, { action, object }] as const;
      }),
    );
    const body = JSON.stringify({ checks: Object.fromEntries(checks) });
    const answer = await this.#ask(doing, { method: 'POST', path: '/api/v2/authcheck', body });
    const allowed = readBody(doing, answer, authorizationSchema);
    return new Map(
      organizations.map((id) => {
        const may = (action: string): boolean => allowed[`${action} ${id}`] === true;
        return [id, { read: may('read'), create: may('create'), delete: may('delete') }];
      }),
    );
  }

  async inspect(key: Secret): Promise<KeyFacts | undefined> {
    const doing = 'asking coderd about a provisioner key';
    const answer = await this.#answer(doing, { method: 'GET', path: '/api/v2/provisionerkeys/self', key });
    if (answer.statusCode === 200) return factsOf(readBody(doing, answer, listedKeySchema));
    if ((answer.statusCode === 401 || answer.statusCode === 400) && isAboutKeys(answer)) return undefined;
    throw unanswered(doing, answer);
  }

  async list(organization: Organization): Promise<Listed<KeyFacts>> {
    const doing = `listing provisioner keys of organization "${organization.name}"`;
    const answer = await this.#ask(doing, { method: 'GET', path: listPath(organization, 'provisionerkeys') });
    const items = readWhole(doing, answer, keyRows).map(factsOf);
    if (items.length === 0 && !(await this.#rightsIn(organization)).read)
      throw new KeysError('forbidden', `${doing}: the list is empty, as the role lacks the right; ${ROLE}`);
    return { items, now: this.#timeOf(answer) };
  }

  async daemons(organization: Organization): Promise<Listed<SeenDaemon>> {
    const doing = `listing provisioner daemons of organization "${organization.name}"`;
    const path = listPath(organization, 'provisionerdaemons');
    const all = await this.#answer(doing, { method: 'GET', path, query: { limit: '0', offline: 'true' } });
    if (all.statusCode === 400) await this.#mustListOffline(doing, all);
    const answer =
      all.statusCode === 400
        ? await this.#answer(doing, { method: 'GET', path, query: { limit: '0' } })
        : all;
    if (answer.statusCode !== 200) throw errorOf(doing, answer);
    const items = readWhole(doing, answer, daemonRows).map((row) => seenOf(doing, row));
    return { items, now: this.#timeOf(answer) };
  }

  async create(
    organization: Organization,
    key: { readonly name: string; readonly tags: Tags },
  ): Promise<Secret | 'name-taken'> {
    const doing = `creating the provisioner key "${key.name}" in organization "${organization.name}"`;
    const body = JSON.stringify(key);
    const request = {
      method: 'POST',
      path: listPath(organization, 'provisionerkeys'),
      body,
      once: true,
    } as const;
    const answer = await this.#answer(doing, request);
    if (answer.statusCode === 201) return new Secret(readBody(doing, answer, createdSchema).key);
    if (answer.statusCode === 409) return 'name-taken';
    throw await this.#explain(doing, answer, organization, 'create');
  }

  async delete(organization: Organization, name: string): Promise<void> {
    const doing = `deleting the provisioner key "${name}" of organization "${organization.name}"`;
    const path = `${listPath(organization, 'provisionerkeys')}/${encodeURIComponent(name)}`;
    const answer = await this.#answer(doing, { method: 'DELETE', path, once: true });
    if (answer.statusCode === 204 || answer.statusCode === 404) return;
    throw await this.#explain(doing, answer, organization, 'delete');
  }

  /** A 500 is what coderd answers without the right, and also what it answers when it fails. */
  async #explain(
    doing: string,
    answer: RawAnswer,
    organization: Organization,
    action: keyof Rights,
  ): Promise<KeysError> {
    const error = errorOf(doing, answer);
    if (answer.statusCode !== 500) return error;
    const rights = await this.#rightsIn(organization).catch(() => undefined);
    if (rights?.[action] !== false) return error;
    return new KeysError('forbidden', `${doing}: the role lacks the right to ${action} keys; ${ROLE}`);
  }

  async #rightsIn({ id }: Organization): Promise<Rights> {
    return (await this.rights([id])).get(id) ?? NO_RIGHTS;
  }

  /**
   * coderd has refused the parameter. Before 2.26 it is unknown, and offline daemons are always listed
   * (docs/internals/coder.md §2). Any other list may lack them.
   */
  async #mustListOffline(doing: string, refused: RawAnswer): Promise<void> {
    const answer = await this.#ask(doing, { method: 'GET', path: '/api/v2/buildinfo' });
    const { version } = readBody(doing, answer, buildInfoSchema);
    if (!isKnownVersion(version) || filtersDaemons(version)) throw errorOf(doing, refused);
  }

  async #ask(doing: string, request: CoderdRequest): Promise<RawAnswer> {
    const answer = await this.#answer(doing, request);
    if (answer.statusCode !== 200) throw errorOf(doing, answer);
    return answer;
  }

  async #answer(doing: string, request: CoderdRequest): Promise<RawAnswer> {
    try {
      return await this.#send(request);
    } catch (cause) {
      if (cause instanceof KeysError) throw cause;
      const code = cause instanceof CoderdError ? 'unanswered' : 'token';
      throw new KeysError(code, `${doing}: ${messageOf(cause)}`, { cause });
    }
  }

  /** coderd's time; without a Date header AWS's. */
  #timeOf({ date }: RawAnswer): EpochMs {
    return date ?? this.#clock.now();
  }
}

const NO_RIGHTS: Rights = { read: false, create: false, delete: false };

const ROLE =
  "give the token's user the role organization template admin there, or a custom role that may create, read and delete provisioner_daemon and read provisioner_jobs";

function errorOf(doing: string, answer: RawAnswer): KeysError {
  const said = `${doing}: ${describeAnswer(answer)}`;
  switch (answer.statusCode) {
    case 400:
      return new KeysError('refused', said);
    case 401:
      return new KeysError('token', `${said}; store a valid token in the secret of managedKeys.token`);
    case 403:
      return new KeysError('licence', `${said}; managed keys need a Premium licence of Coder`);
    case 404:
      return new KeysError('forbidden', `${said}; ${ROLE}`);
    default:
      return unanswered(doing, answer);
  }
}

/** The answer proves nothing. */
function unanswered(doing: string, answer: RawAnswer): KeysError {
  return new KeysError(
    'unanswered',
    `${doing}: ${describeAnswer(answer)}; check coderd's log, and try again`,
  );
}

/** Whether this is coderd's own refusal of a key, not that of a proxy before it. */
function isAboutKeys(answer: RawAnswer): boolean {
  return errorBodyOf(answer)?.message.startsWith('provisioner daemon key') ?? false;
}

/** The answer of a creation contains a key, so one that does not fit is not shown. */
function readBody<T extends z.ZodType>(
  doing: string,
  { statusCode, text }: RawAnswer,
  schema: T,
): z.output<T> {
  const value = parseQuietly(text);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const seen = statusCode === 201 ? '' : `: ${describeSchemaMismatch(result.error, value)}`;
  const message = `${doing}: coderd's answer ${statusCode} has an unexpected format${seen}`;
  throw new KeysError('unanswered', message);
}

/** A whole list: what is left out could be what a key is needed for. */
export function readWhole<T>(doing: string, answer: RawAnswer, schema: RowsSchema<T>): readonly T[] {
  const { error, items } = readingOfRows(doing, readBody(doing, answer, schema));
  if (error !== undefined) throw new KeysError('unanswered', `${error}. ${REPORT}`);
  return items;
}

/** Without its key, or the time when it was last seen, a daemon may hold any key now. */
function seenOf(
  doing: string,
  { name, key_id: keyId, last_seen_at: lastSeenAt }: z.output<typeof daemonSchema>,
): SeenDaemon {
  if (keyId && lastSeenAt != null) return { name, keyId, lastSeenAt };
  const missing = keyId ? 'last_seen_at' : 'key_id';
  throw new KeysError('unanswered', `${doing}: daemon "${name}" has no ${missing}. ${REPORT}`);
}

const REPORT =
  'Keys are kept until the list is whole. Look for a newer release of the autoscaler, or report this';

function factsOf({ tags, created_at: createdAt, ...key }: z.output<typeof listedKeySchema>): KeyFacts {
  return { ...key, tags: tags ?? {}, createdAt };
}

/** codersdk.CreateProvisionerKeyResponse. */
const createdSchema = z.object({ key: z.string().min(1) });
