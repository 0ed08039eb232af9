/** Session tokens and their users (docs/internals/coder.md §9; coderd/httpmw/apikey.go). */
import { type EpochMs, type OrganizationId, plusMs } from '../../../../lambda/decision/model/brands.ts';
import { HOUR_MS } from '../../../../lambda/decision/model/units.ts';
import type { Random } from '../../base/random.ts';
import { secretMade } from '../../base/secret-made.ts';

/** The user of a session token: one token, one user. */
export type TokenUser = {
  readonly userId: string;
  readonly username: string;
  readonly isOwner: boolean;
  /** Whose jobs and daemons it may read (docs/internals/coder.md §9: organization template admin). */
  readonly canRead: Organizations;
  /** Whose workspaces and templates: fewer with a custom role (docs/internals/coder.md §1). */
  readonly canReadWorkspaces: Organizations;
  /** The organizations whose other members it may read: none with a custom role that does not allow it. */
  readonly canReadMembers: Organizations;
  /** What it may do to provisioner keys: coderd asks for rights on provisioner daemons (§3). */
  readonly keyRights: Readonly<Record<KeyAction, Organizations>>;
};

export type KeyAction = 'read' | 'create' | 'delete';

type Organizations = 'all' | ReadonlySet<OrganizationId>;

export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly user: TokenUser;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs;
  readonly lifetimeMs: number;
};

export type Authenticated =
  | { readonly user: TokenUser }
  | { readonly refusal: { readonly message: string; readonly detail?: string } };

export class Tokens {
  readonly #keys = new Map<string, ApiKey>();
  readonly #random: Random;
  #putsOffExpiry: boolean;

  constructor(random: Random, { fixesEnds }: { readonly fixesEnds: boolean }) {
    this.#random = random;
    this.#putsOffExpiry = !fixesEnds;
  }

  /** Adds a token and returns it in coderd's form: `<id>-<secret>`. */
  add(
    given: Omit<TokenUser, 'userId' | 'username'> & {
      readonly now: EpochMs;
      readonly lifetimeMs: number;
      readonly name: string;
      /** @default a new user */
      readonly user?: { readonly id: string; readonly username: string };
    },
  ): string {
    const { now, lifetimeMs, name, user: known, ...rights } = given;
    const id = this.#random.hex(10);
    const token = secretMade(`${id}-${this.#random.hex(22)}`);
    const username = known?.username ?? `autoscaler-${this.#keys.size + 1}`;
    const user = { userId: known?.id ?? this.#random.uuid(), username, ...rights };
    const expiresAt = plusMs(now, lifetimeMs);
    this.#keys.set(token, { id, name, user, createdAt: now, expiresAt, lifetimeMs });
    return token;
  }

  revoke(token: string): void {
    this.#keys.delete(token);
  }

  /** As with CODER_DISABLE_SESSION_EXPIRY_REFRESH, or as a release that fixes token expiry. */
  disableExpiryRefresh(): void {
    this.#putsOffExpiry = false;
  }

  /** Identifies the user of a token. Unless expiry is fixed, using a token extends it, once an hour. */
  authenticate(token: string | undefined, now: EpochMs): Authenticated {
    if (token === undefined)
      return signedOut('Cookie "coder_session_token" or query parameter must be provided.');
    const parts = token.split('-').length;
    if (parts !== 2)
      return signedOut(`Invalid API key format: incorrect amount of API key parts, expected 2 got ${parts}`);
    const key = this.#keys.get(token);
    if (key === undefined)
      return signedOut(this.#hasId(token) ? 'API key secret is invalid.' : 'API key is invalid.');
    if (key.expiresAt < now) return signedOut(`API key expired at "${goTime(key.expiresAt)}".`);
    if (this.#putsOffExpiry && key.expiresAt - now <= key.lifetimeMs - HOUR_MS)
      this.#keys.set(token, { ...key, expiresAt: plusMs(now, key.lifetimeMs) });
    return { user: key.user };
  }

  #hasId(token: string): boolean {
    const [id] = token.split('-');
    return this.#keys.values().some((key) => key.id === id);
  }

  delete(id: string): void {
    for (const [token, key] of this.#keys) if (key.id === id) this.#keys.delete(token);
  }

  of(userId: string): readonly ApiKey[] {
    return [...this.#keys.values()].filter(({ user }) => user.userId === userId);
  }
}

/** Whether one of a user's rights holds in this organization. */
export function holds(organizations: Organizations, id: string): boolean {
  return organizations === 'all' || organizations.has(id as OrganizationId);
}

function signedOut(detail: string): Authenticated {
  const message = 'You are signed out or your session has expired. Please sign in again to continue.';
  return { refusal: { message, detail } };
}

/** Formats a time like Go's time.Time.String(): fractions of a second without trailing zeros. */
function goTime(time: EpochMs): string {
  const [, date, clock] = /^(.*)T(.*?)\.?0*Z$/.exec(new Date(time).toISOString()) ?? [];
  return `${date} ${clock} +0000 UTC`;
}
