/** The table users: the owners of workspaces (coderd/database/queries/users.sql). */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { Random } from '../../base/random.ts';
import { CoderdRefusal } from '../rules/refusal.ts';

/** coderd autostarts only workspaces of active users, and stops those of suspended users at once. */
export type UserStatus = 'active' | 'dormant' | 'suspended';

export type NewUser = {
  /** @default a new one */
  readonly id?: string;
  /** @default `user-2`, … */
  readonly username?: string;
  /** @default 'active' */
  readonly status?: UserStatus;
  /** Roles by the id of an organization. @default a member of all organizations, without roles */
  readonly memberOf?: Map<string, readonly string[]>;
};

/** A user. The record is live: it changes with the user. */
export type UserRecord = Required<Omit<NewUser, 'memberOf'>> & {
  readonly memberOf?: Map<string, readonly string[]>;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
};

type User = { -readonly [Key in keyof UserRecord]: UserRecord[Key] };

export class Users {
  readonly #byId = new Map<string, User>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  add({ id, username, status = 'active', memberOf }: NewUser, createdAt: EpochMs): UserRecord {
    const number = this.#byId.size + 1;
    const added: User = {
      id: id ?? this.#random.uuid(),
      username: username ?? `user-${number}`,
      status,
      createdAt,
      updatedAt: createdAt,
      ...(memberOf === undefined ? {} : { memberOf }),
    };
    this.#byId.set(added.id, added);
    return added;
  }

  all(): readonly UserRecord[] {
    return [...this.#byId.values()];
  }

  get(id: string): UserRecord | undefined {
    return this.#byId.get(id);
  }

  setStatus(id: string, status: UserStatus, updatedAt: EpochMs): void {
    const user = this.#byId.get(id);
    if (user === undefined) throw new CoderdRefusal(404, `setting the status of user ${id}: there is none`);
    user.status = status;
    user.updatedAt = updatedAt;
  }
}
