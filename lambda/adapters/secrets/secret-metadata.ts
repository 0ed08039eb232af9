/**
 * The metadata of the pools' secrets, never their values: one list for all pools, once a minute. A secret that
 * has changed since a task was created needs another call, which dates its current version. A warm function
 * remembers the answers, and when it saw a version become current: AWS does not tell.
 */
import {
  ListSecretsCommand,
  ListSecretVersionIdsCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type * as z from 'zod';
import type { EpochMs } from '../../decision/model/brands.ts';
import { ownValue, unique } from '../../decision/model/collections.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import {
  findSecret,
  type SecretEntry,
  type SecretVersion,
  SPREADS_WITHIN_MS,
} from '../../decision/model/secrets.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG } from '../../decision/model/service-tags.ts';
import type { Reading } from '../../decision/model/snapshot.ts';
import { MINUTE_MS } from '../../decision/model/units.ts';
import type { SecretList, WantedSecret } from '../../look/ports.ts';
import { isDenied } from '../shared/aws-calls.ts';
import { readPages } from '../shared/pages.ts';
import { joinRows, type Rows, readingOfRows, rowsOf } from '../shared/rows.ts';
import { describeSchemaMismatch } from '../shared/schema-mismatch.ts';
import { type ListedSecret, listedSecretSchema, versionsSchema } from './schemas.ts';
import { SecretError } from './secrets.ts';

const REFRESH_MS = MINUTE_MS;
/** A look does not wait longer: without this list everything else works. */
const PATIENCE_MS = 3_000;
const PAGE = 100;
const LISTING = 'listing the secrets of the pools';

const secretRows = rowsOf(listedSecretSchema);
const OWN_TAGS: ReadonlySet<string> = new Set([POOL_TAG, STACK_TAG, KEY_ID_TAG]);

/** The newest entry of a secret, and the stages of its versions by id. */
type Known = { readonly entry: SecretEntry; readonly stages: Readonly<Record<string, readonly string[]>> };

export class SecretMetadata implements SecretList {
  readonly #client: SecretsManagerClient;
  readonly #newPatience: () => AbortSignal;
  #triedAt: EpochMs | undefined;
  #latest: Reading<SecretEntry> = { status: 'ok', items: [] };
  readonly #known = new Map<string, Known>();

  /** `newPatience` makes the signal that ends a refresh. @default after three seconds */
  constructor(client: SecretsManagerClient, newPatience = () => AbortSignal.timeout(PATIENCE_MS)) {
    this.#client = client;
    this.#newPatience = newPatience;
  }

  async entries(
    wanted: readonly WantedSecret[],
    now: EpochMs,
    signal?: AbortSignal,
  ): Promise<Reading<SecretEntry>> {
    const ageMs = now - (this.#triedAt ?? Number.NEGATIVE_INFINITY);
    if (wanted.length > 0 && (ageMs >= REFRESH_MS || ageMs < 0 || lacksVersions(this.#latest, wanted))) {
      this.#triedAt = now;
      this.#latest = await this.#refresh(wanted, now, signal);
    }
    return this.#latest;
  }

  async #refresh(
    wanted: readonly WantedSecret[],
    now: EpochMs,
    signal: AbortSignal | undefined,
  ): Promise<Reading<SecretEntry>> {
    const patience = this.#newPatience();
    const abortSignal = signal === undefined ? patience : AbortSignal.any([patience, signal]);
    try {
      const { items: listed, leftOut, incomplete } = await this.#list(wanted, abortSignal);
      const dated = await Promise.all(listed.map((entry) => this.#date(entry, wanted, abortSignal)));
      const items = dated.map(({ entry }) => entry);
      const failed = dated.find(({ cause }) => cause !== undefined);
      if (failed === undefined && (leftOut.length > 0 || incomplete !== undefined))
        return { ...readingOfRows(LISTING, { items, leftOut, incomplete }), status: 'failed', takenAt: now };
      return failed === undefined
        ? { status: 'ok', takenAt: now, items }
        : {
            ...failureOf(`listing versions of secret "${failed.entry.Name}"`, failed.cause),
            takenAt: now,
            items,
          };
    } catch (cause) {
      const failure = failureOf(LISTING, cause);
      const { items, takenAt } = this.#latest;
      const isUsable = failure.status === 'failed' && takenAt !== undefined;
      return isUsable ? { ...failure, status: 'stale', takenAt, items } : { ...failure, items: [] };
    }
  }

  async #list(wanted: readonly WantedSecret[], abortSignal: AbortSignal): Promise<Rows<ListedSecret>> {
    const lists = await Promise.all(
      filtersFor(wanted).map(async (Filters) => {
        const { items: pages, incomplete } = await readPages(
          'ListSecrets',
          async (NextToken) => {
            const command = new ListSecretsCommand({ Filters, MaxResults: PAGE, NextToken });
            const page = await this.#client.send(command, { abortSignal });
            return { items: [parse('ListSecrets', secretRows, page.SecretList)], next: page.NextToken };
          },
          { signal: abortSignal },
        );
        return { ...joinRows(pages), incomplete };
      }),
    );
    // the name of a tagged secret may match too
    const { items, leftOut, incomplete } = joinRows(lists);
    const listed = unique(items, ({ ARN }) => ARN);
    const own = [...new Set(wanted.flatMap((it) => findSecret(listed, it, it) ?? []))];
    return { items: own, leftOut: unique(leftOut, ({ row }) => row), incomplete };
  }

  /** Adds the versions if a task may have been created before the last change. */
  async #date(
    listed: ListedSecret,
    wanted: readonly WantedSecret[],
    abortSignal: AbortSignal,
  ): Promise<{ readonly entry: SecretEntry; readonly cause?: unknown }> {
    const { entry, stages } = this.#note(listed);
    if (entry.Versions !== undefined || !hasOlderTask(entry, wanted)) return { entry };
    try {
      const Versions = await this.#listVersions(entry.ARN, abortSignal);
      // the two answers may be of different times
      if (!hasCurrent(Versions, currentIn(stages))) return { entry };
      const dated = { ...entry, Versions };
      this.#known.set(entry.ARN, { entry: dated, stages });
      return { entry: dated };
    } catch (cause) {
      return { entry, cause };
    }
  }

  /** Remembers the entry, unless it is not newer than the one before it: a list may be old. */
  #note({ SecretVersionsToStages: stages = {}, ...listed }: ListedSecret): Known {
    const { ARN, Tags, LastChangedDate: changedAt } = listed;
    const known = this.#known.get(ARN);
    if (known !== undefined && (changedAt ?? 0) <= (known.entry.LastChangedDate ?? 0)) return known;
    const CurrentSince = hasMoved(known?.stages ?? {}, stages) ? changedAt : known?.entry.CurrentSince;
    const own = { ...listed, Tags: Tags.filter(({ Key }) => OWN_TAGS.has(Key)) };
    const newest = { entry: CurrentSince === undefined ? own : { ...own, CurrentSince }, stages };
    this.#known.set(ARN, newest);
    return newest;
  }

  async #listVersions(SecretId: string, abortSignal: AbortSignal): Promise<readonly SecretVersion[]> {
    const { items: versions, incomplete } = await readPages(
      'ListSecretVersionIds',
      async (NextToken) => {
        const command = new ListSecretVersionIdsCommand({ SecretId, MaxResults: PAGE, NextToken });
        const page = await this.#client.send(command, { abortSignal });
        return { items: parse('ListSecretVersionIds', versionsSchema, page.Versions), next: page.NextToken };
      },
      { signal: abortSignal },
    );
    if (incomplete !== undefined) throw new SecretError(incomplete);
    return versions.filter(({ VersionStages }) =>
      VersionStages.some((stage) => stage === 'AWSCURRENT' || stage === 'AWSPREVIOUS'),
    );
  }
}

/** Whether versions that are needed could not be read, though the role may read them. */
function lacksVersions({ status, items }: Reading<SecretEntry>, wanted: readonly WantedSecret[]): boolean {
  return (
    (status === 'ok' || status === 'failed') &&
    items.some((entry) => entry.Versions === undefined && hasOlderTask(entry, wanted))
  );
}

function hasOlderTask(entry: SecretEntry, wanted: readonly WantedSecret[]): boolean {
  const spreadAt = (entry.LastChangedDate ?? 0) + SPREADS_WITHIN_MS;
  return wanted.some(
    (it) =>
      it.oldestTaskAt !== undefined &&
      it.oldestTaskAt < spreadAt &&
      findSecret([entry], it, it) !== undefined,
  );
}

/** Two lists if some secrets are known by name and others by tag: filters are joined by AND. */
function filtersFor(wanted: readonly WantedSecret[]) {
  const names = wanted.flatMap(({ secret }) => secret ?? []);
  const prefixes = namePrefixes(names);
  if (names.length > 0 && prefixes.length === 0) return [[]];
  const tagged = { Key: 'tag-key' as const, Values: [POOL_TAG] };
  return [
    ...(prefixes.length > 0 ? [[{ Key: 'name' as const, Values: [...prefixes] }]] : []),
    ...(names.length < wanted.length ? [[tagged]] : []),
  ];
}

/** Whether another version is current that was there before. AWS dates a version that was not. */
function hasMoved(before: Known['stages'], after: Known['stages']): boolean {
  const from = currentIn(before);
  const to = currentIn(after);
  return from !== undefined && to !== undefined && from !== to && ownValue(before, to) !== undefined;
}

function currentIn(stages: Known['stages']): string | undefined {
  return Object.keys(stages).find((id) => stages[id]?.includes('AWSCURRENT'));
}

/** `id`: the current version in the list of secrets, if it tells. */
function hasCurrent(versions: readonly SecretVersion[], id: string | undefined): boolean {
  const current = versions.find(({ VersionStages }) => VersionStages.includes('AWSCURRENT'));
  return current !== undefined && (id === undefined || id === current.VersionId);
}

function parse<T extends z.ZodType>(operation: string, schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value ?? []);
  if (result.success) return result.data;
  throw new SecretError(
    `the answer of ${operation} has an unexpected format: ${describeSchemaMismatch(result.error, value)}`,
    { cause: result.error },
  );
}

function failureOf(
  what: string,
  cause: unknown,
): { readonly status: 'forbidden' | 'failed'; readonly error: string } {
  return { status: isDenied(cause) ? 'forbidden' : 'failed', error: `${what}: ${messageOf(cause)}` };
}

/** The most values of a filter of ListSecrets (docs/internals/aws.md §4). */
const MOST_VALUES = 10;
const NAME_IN_ARN = /^arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:(.+?)(?:-[A-Za-z0-9]{6})?$/;

/** As many as one list takes. Empty: no prefix is common to enough of them, so the list needs all secrets. */
export function namePrefixes(secrets: readonly string[]): readonly string[] {
  const names = secrets.map((secret) => NAME_IN_ARN.exec(secret)?.[1] ?? secret);
  let prefixes = [...new Set(names)].sort();
  while (prefixes.length > MOST_VALUES) prefixes = joinClosest(prefixes);
  return prefixes.includes('') ? [] : prefixes;
}

/** Joins the two neighbours that have the longest beginning in common. */
function joinClosest(sorted: readonly string[]): string[] {
  const shared = sorted.slice(1).map((name, index) => commonPrefix(sorted[index] ?? '', name));
  const longest = Math.max(...shared.map(({ length }) => length));
  const at = shared.findIndex(({ length }) => length === longest);
  return [...sorted.slice(0, at), shared[at] ?? '', ...sorted.slice(at + 2)];
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
