import type { OrganizationId } from '../../lambda/core/brands.ts';
import type { Random } from '../random.ts';

/** A user as its session token shows it: one token, one user. */
export type TokenUser = {
  readonly userId: string;
  /** Whose jobs and daemons it may read (contract §9: the organization template admin role). */
  readonly canRead: Organizations;
  /** Whose workspaces and templates it may read: less than `canRead` with a custom role (contract §1). */
  readonly canReadWorkspaces: Organizations;
};

type Organizations = 'all' | ReadonlySet<OrganizationId>;

/** Session tokens. */
export class Tokens {
  readonly #users = new Map<string, TokenUser>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns the token, in coderd's form: `<id>-<secret>`. */
  add(rights: Omit<TokenUser, 'userId'>): string {
    const token = `${this.#random.hex(10)}-${this.#random.hex(22)}`;
    this.#users.set(token, { userId: this.#random.uuid(), ...rights });
    return token;
  }

  revoke(token: string): void {
    this.#users.delete(token);
  }

  userOf(token: string | undefined): TokenUser | undefined {
    return token === undefined ? undefined : this.#users.get(token);
  }
}

export function mayRead({ canRead }: TokenUser, organizationId: string): boolean {
  return holds(canRead, organizationId);
}

export function mayReadWorkspaces({ canReadWorkspaces }: TokenUser, organizationId: string): boolean {
  return holds(canReadWorkspaces, organizationId);
}

function holds(organizations: Organizations, id: string): boolean {
  return organizations === 'all' || organizations.has(id as OrganizationId);
}
