/** A pool with a managed key, and the tags of its secret. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Secret } from '../../adapters/shared/secret.ts';
import type { OrganizationId } from '../../decision/model/brands.ts';
import { parseQuietly } from '../../decision/model/parse-quietly.ts';
import { type Tags, tagKey } from '../../decision/model/tags.ts';

export type ManagedPool = {
  readonly name: string;
  readonly coderUrl: string;
  /** Name or UUID. */
  readonly organization: string;
  readonly tags: Tags;
};

/** A key that the pool's daemons need: coderd's id of the organization, and the tags. */
export type Wanted = { readonly organization: OrganizationId; readonly tags: Tags };

/** For what the current key was made: so an update that changes nothing succeeds without coderd's answer. */
export const MADE_FOR_TAG = 'coder-autoscaler:key-made-for';
/** The tag that tells whether CloudFormation has created or deleted the resource. */
export const RESOURCE_TAG = 'coder-autoscaler:key-resource';

export function madeFor(pool: ManagedPool): string {
  return hashOf(`${originOf(pool.coderUrl)}\n${withoutUrl(pool)}`);
}

/** The value that earlier versions have written. */
export function madeForAnyUrl(pool: ManagedPool): string {
  return hashOf(withoutUrl(pool));
}

/** The same for all spellings of a URL. */
export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

function withoutUrl({ organization, tags }: ManagedPool): string {
  return `${organization.toLowerCase()}\n${tagKey(tags)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** `request`: the id of the request that created the resource. `ended`: that of the last deletion. */
export type ResourceState = {
  readonly is: 'created' | 'deleted';
  readonly request: string;
  readonly ended: string;
};

/** What stands for a request without an id, and for no request. */
export const NO_REQUEST = '-';

export function writeState({ is, request, ended }: ResourceState): string {
  return `${is} ${request} ${ended}`;
}

/** Undefined if CloudFormation has not created the resource yet. */
export function readState(tags: Readonly<Record<string, string>>): ResourceState | undefined {
  const [is, request = NO_REQUEST, ended = NO_REQUEST] = (tags[RESOURCE_TAG] ?? '').split(' ');
  return is === 'created' || is === 'deleted' ? { is, request, ended } : undefined;
}

export type StoredKey = {
  readonly key: Secret;
  /** Absent if a person has stored the key alone. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** A value of MADE_FOR_TAG. */
  readonly madeFor?: string | undefined;
};

/** What a header can carry. Tasks get the value as it is: a key with a line break never works. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

const schema = z.object({
  key: z.string().regex(VISIBLE_ASCII),
  id: z.string().optional(),
  name: z.string().optional(),
  madeFor: z.string().optional(),
});

/** Undefined if the value has no key where the tasks look for it. */
export function parseStoredKey(value: Secret): StoredKey | undefined {
  const parsed = schema.safeParse(parseQuietly(value.reveal()));
  return parsed.success ? { ...parsed.data, key: new Secret(parsed.data.key) } : undefined;
}

export function writeStoredKey({ key, ...rest }: Required<StoredKey>): Secret {
  return new Secret(JSON.stringify({ key: key.reveal(), ...rest }));
}

const STACK_CHARACTERS = 14;
const HASH_DIGITS = 8;

/** This deployment: its keys begin with `id`, its secrets have the tag `stack`. */
export type OwnDeployment = { readonly id: string; readonly stack: string };

/**
 * The beginning of the stack's name, for people, and a hash of its ARN. With the longest pool name a key's
 * name has 63 of 64 characters (docs/internals/coder.md §3).
 */
export function deploymentOf(stack: string, stackArn: string): OwnDeployment {
  const readable = stack
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '')
    .slice(0, STACK_CHARACTERS);
  const hash = createHash('sha256').update(stackArn).digest('hex').slice(0, HASH_DIGITS);
  return { id: `${readable}-${hash}`, stack };
}

/** `suffix`: 8 random characters `[a-z0-9]`. */
export function keyName(deployment: OwnDeployment, pool: string, suffix: string): string {
  return `${deployment.id}-${pool}-${suffix}`;
}

/** The pool for which this deployment made the key; undefined for any other key. */
export function poolOfKey({ id }: OwnDeployment, name: string): string | undefined {
  if (!name.startsWith(`${id}-`)) return undefined;
  return OWN_PART.exec(name.slice(id.length + 1))?.groups?.pool;
}

const OWN_PART = /^(?<pool>[a-z0-9][a-z0-9-]*)-[a-z0-9]{8}$/;
