/**
 * `GET /api/v2/organizations/{organization}/members` (coderd/members.go,
 * codersdk.OrganizationMemberWithUserData).
 */

import type { CoderdModel } from '../model.ts';
import { rfc3339 } from '../queries/rfc3339.ts';
import type { Organization } from '../tables/organizations.ts';
import { mayReadMembers, type TokenUser } from '../tables/tokens.ts';
import type { UserRecord } from '../tables/users.ts';
import type { Answer } from './answers.ts';

/** Leaves out rows that the user may not read; every user may read its own row. */
export function members({
  model,
  user,
  organization,
}: {
  readonly model: CoderdModel;
  readonly user: TokenUser;
  readonly organization: Organization;
}): Answer {
  const own: UserRecord = model.user(user.userId) ?? {
    id: user.userId,
    username: user.username,
    status: 'active',
    createdAt: organization.createdAt,
    updatedAt: organization.createdAt,
  };
  const others = model.users().filter(({ id }) => id !== own.id);
  const readable = mayReadMembers(user, organization.id) ? [...others, own] : [own];
  return { status: 200, body: readable.map((member) => memberAnswer(member, organization, model)) };
}

function memberAnswer(user: UserRecord, organization: Organization, { version }: CoderdModel) {
  const createdAt = rfc3339(user.createdAt);
  const account = {
    status: user.status,
    login_type: 'password',
    last_seen_at: createdAt,
    user_created_at: createdAt,
    user_updated_at: rfc3339(user.updatedAt),
    has_ai_seat: false,
  };
  return {
    username: user.username,
    email: `${user.username}@example.com`,
    global_roles: [],
    user_id: user.id,
    organization_id: organization.id,
    created_at: createdAt,
    updated_at: createdAt,
    roles: [],
    ...(version.does('tellsUserStatus') ? account : {}),
  };
}
