import type { OrganizationId } from '../../lambda/core/brands.ts';
import type { Random } from '../random.ts';

/** A user as its session token shows it: one token, one user. */
export type TokenUser = {
  readonly userId: string;
  /** The organizations whose jobs and daemons it may read (contract §9: the organization template admin role). */
  readonly canRead: 'all' | ReadonlySet<OrganizationId>;
};

/** Session tokens. */
export class Tokens {
  readonly #users = new Map<string, TokenUser>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns the token, in coderd's form: `<id>-<secret>`. */
  add(canRead: TokenUser['canRead']): string {
    const token = `${this.#random.hex(10)}-${this.#random.hex(22)}`;
    this.#users.set(token, { userId: this.#random.uuid(), canRead });
    return token;
  }

  revoke(token: string): void {
    this.#users.delete(token);
  }

  userOf(token: string | undefined): TokenUser | undefined {
    return token === undefined ? undefined : this.#users.get(token);
  }
}

export function mayRead(user: TokenUser, organizationId: OrganizationId): boolean {
  return user.canRead === 'all' || user.canRead.has(organizationId);
}
