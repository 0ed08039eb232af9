import type { EpochMs, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import {
  normalizeTags,
  type TagSet,
  type Tags,
  withoutEmpty,
} from '../../../../lambda/decision/model/tags.ts';
import type { Random } from '../../base/random.ts';
import { secretMade } from '../../base/secret-made.ts';
import { CoderdRefusal } from '../rules/refusal.ts';

export type ProvisionerKey = {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** The tags as given; daemons get them normalized. */
  readonly tags: Tags;
  readonly createdAt: EpochMs;
};

/** The number of characters of a key's secret (docs/internals/coder.md §3). */
export const SECRET_LENGTH = 43;

export const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const BUILT_IN_ID = '00000000-0000-0000-0000-000000000001';
const USER_AUTH_ID = '00000000-0000-0000-0000-000000000002';
const PSK_ID = '00000000-0000-0000-0000-000000000003';
const RESERVED_NAMES = ['built-in', 'user-auth', 'psk'];
const MAX_NAME_BYTES = 64;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export class ProvisionerKeys {
  readonly #bySecret = new Map<string, ProvisionerKey>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns the secret, which is never shown again. Refuses as docs/internals/coder.md §3 says. */
  add(given: Omit<ProvisionerKey, 'id'>): string {
    checkName(given.name);
    const key = { ...given, name: given.name.toLowerCase() };
    if (this.find(key.organizationId, key.name) !== undefined)
      throw new CoderdRefusal(
        409,
        `Provisioner key with name '${given.name}' already exists in organization`,
      );
    if (JSON.stringify(key.tags).includes('\\u0000'))
      throw new CoderdRefusal(500, 'storing the tags of a provisioner key: Postgres takes no NUL byte');
    const secret = secretMade(
      Array.from({ length: SECRET_LENGTH }, () => this.#random.pick([...LETTERS])).join(''),
    );
    this.#bySecret.set(secret, { ...key, tags: { ...key.tags }, id: this.#random.uuid() });
    return secret;
  }

  delete(organizationId: OrganizationId, name: string): ProvisionerKey {
    if (isReserved(name))
      throw new CoderdRefusal(400, `deleting the provisioner key "${name}": it is reserved`);
    const found = this.#entry(organizationId, name);
    if (found === undefined)
      throw new CoderdRefusal(404, `deleting the provisioner key "${name}": there is none`);
    this.#bySecret.delete(found[0]);
    return found[1];
  }

  list(organizationId: OrganizationId): readonly ProvisionerKey[] {
    const keys = [...this.#bySecret.values()].filter((key) => key.organizationId === organizationId);
    return keys.sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Finds a key by its name, in any case. */
  find(organizationId: OrganizationId, name: string): ProvisionerKey | undefined {
    return this.#entry(organizationId, name)?.[1];
  }

  withSecret(secret: string): ProvisionerKey | undefined {
    return this.#bySecret.get(secret);
  }

  #entry(organizationId: OrganizationId, name: string): readonly [string, ProvisionerKey] | undefined {
    return this.#bySecret
      .entries()
      .find(([, key]) => key.organizationId === organizationId && key.name === name.toLowerCase());
  }
}

const reserved =
  (id: string, name: string) =>
  (organizationId: OrganizationId, tags: Tags): ProvisionerKey => ({
    id,
    organizationId,
    name,
    tags,
    createdAt: 0 as EpochMs,
  });

/** The reserved keys of daemons that have none of their own (docs/internals/coder.md §3). */
export const builtInKey = reserved(BUILT_IN_ID, 'built-in');
export const userAuthKey = reserved(USER_AUTH_ID, 'user-auth');
export const pskKey = reserved(PSK_ID, 'psk');

export type Admitted = {
  readonly key: ProvisionerKey;
  /** The owner if the scope is `user`: the nil user unless a user's token was sent. */
  readonly owner: string;
};

/** The tags of a daemon: MutateTags (docs/internals/coder.md §3). */
export function daemonTags({ key: { tags }, owner }: Admitted): TagSet {
  return normalizeTags(withoutEmpty(tags.scope === 'user' ? { ...tags, owner } : tags));
}

function checkName(name: string): void {
  const wrong = mistakeOf(name);
  if (wrong !== undefined) throw new CoderdRefusal(400, wrong, 'name');
}

function mistakeOf(name: string): string | undefined {
  if (name === '') return 'Name is required';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `Name must be at most ${MAX_NAME_BYTES} characters`;
  return isReserved(name) ? `Name cannot be reserved name '${name}'` : undefined;
}

export function isReserved(name: string): boolean {
  return RESERVED_NAMES.includes(name.toLowerCase());
}
