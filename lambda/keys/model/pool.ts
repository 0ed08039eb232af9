/** A pool with a managed key, and the tags of its secret. */
import { createHash } from 'node:crypto';
import type { OrganizationId } from '../../decision/model/brands.ts';
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
