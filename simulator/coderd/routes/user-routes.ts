/** coderd/users.go, apikey.go, members.go. Only an owner changes users: everyone else gets a 403. */
import { z } from 'zod';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import type { UserRecord } from '../tables/users.ts';
import { keyAnswer, memberAnswer } from './account-routes.ts';
import { type Answer, NOT_FOUND, type OrganizationRequest, type UserRequest } from './route.ts';

const FORBIDDEN: Answer = { status: 403, body: { message: 'Forbidden.' } };
const BAD_BODY: Answer = { status: 400, body: { message: 'Request body must be valid JSON.' } };

const newUser = z.object({
  username: z.string(),
  email: z.string().optional(),
  login_type: z.literal('none'),
  organization_ids: z.array(z.string()).min(1),
  service_account: z.boolean().default(false),
});
const NO_SERVICE_ACCOUNT: Answer = {
  status: 400,
  body: { message: "Login type 'none' requires a service account." },
};

export function createUser({ model, user, body }: UserRequest): Answer {
  if (!user.isOwner) return FORBIDDEN;
  const asked = newUser.safeParse(parseQuietly(body));
  if (!asked.success) return BAD_BODY;
  const { username, email, organization_ids, service_account } = asked.data;
  const isAccount = model.version.does('needsServiceAccounts') && service_account;
  if (model.version.does('needsServiceAccounts') && !isAccount) return NO_SERVICE_ACCOUNT;
  // earlier releases do not know the field
  if (isAccount === (email !== undefined)) return BAD_BODY;
  if (model.users().some((known) => known.username === username))
    return { status: 409, body: { message: 'User already exists.' } };
  const made = model.addUser({ username, memberOf: new Map(organization_ids.map((id) => [id, []])) });
  return { status: 201, body: { id: made.id, username } };
}

const newToken = z.object({ token_name: z.string().min(1), lifetime: z.number().positive() });
const NANOSECONDS_A_MS = 1e6;
const LONGEST_MS = 876_600 * 3_600_000;

export function createToken({ model, user, ids: [name], body }: UserRequest): Answer {
  const owner = model.users().find(({ username }) => username === name);
  if (owner === undefined) return NOT_FOUND;
  if (!user.isOwner) return FORBIDDEN;
  const asked = newToken.safeParse(parseQuietly(body));
  if (!asked.success) return BAD_BODY;
  const lifetimeMs = asked.data.lifetime / NANOSECONDS_A_MS;
  if (lifetimeMs > LONGEST_MS)
    return { status: 400, body: { message: 'Failed to validate create API key request.' } };
  const { token_name: tokenName } = asked.data;
  if (model.tokens.of(owner.id).some((known) => known.name === tokenName))
    return { status: 409, body: { message: `A token with name "${tokenName}" already exists.` } };
  const names = namesWithRole(model.organizations.all, owner);
  const keyRights = { read: names, create: names, delete: names };
  const key = model.addToken({ canRead: names, keyRights, lifetimeMs, name: tokenName, user: owner });
  return { status: 201, body: { key } };
}

export function tokenByName({ model, user, ids: [name, tokenName] }: UserRequest): Answer {
  const owner = model.users().find(({ username }) => username === name);
  const key = owner && model.tokens.of(owner.id).find((own) => own.name === tokenName);
  return key === undefined || !user.isOwner ? NOT_FOUND : { status: 200, body: keyAnswer(key) };
}

export function deleteToken({ model, user, ids: [, id = ''] }: UserRequest): Answer {
  if (!user.isOwner) return FORBIDDEN;
  model.tokens.delete(id);
  return { status: 204, body: undefined };
}

export const tokenConfig = (): Answer => ({
  status: 200,
  body: { max_token_lifetime: LONGEST_MS * NANOSECONDS_A_MS },
});

function namesWithRole(
  organizations: readonly { readonly id: string; readonly name: string }[],
  { memberOf }: UserRecord,
): readonly string[] {
  return organizations.filter(({ id }) => memberOf?.get(id)?.length).map(({ name }) => name);
}

export function addMember({ model, user, organization, ids: [name] }: OrganizationRequest): Answer {
  return changeMember({ model, user, organization, name, roles: [] }, (known) => known === undefined);
}

const newRoles = z.object({ roles: z.array(z.string()) });

export function setRoles({ model, user, organization, ids: [name], body }: OrganizationRequest): Answer {
  const asked = newRoles.safeParse(parseQuietly(body));
  if (!asked.success) return BAD_BODY;
  return changeMember({ model, user, organization, name, ...asked.data }, (known) => known !== undefined);
}

function changeMember(
  given: Pick<OrganizationRequest, 'model' | 'user' | 'organization'> & {
    readonly name: string | undefined;
    readonly roles: readonly string[];
  },
  isAllowed: (roles: readonly string[] | undefined) => boolean,
): Answer {
  const { model, user, organization, name, roles } = given;
  const member = model.users().find(({ username }) => username === name);
  if (member === undefined) return NOT_FOUND;
  if (!user.isOwner) return FORBIDDEN;
  const { memberOf } = member;
  if (memberOf === undefined || !isAllowed(memberOf.get(organization.id)))
    return { status: 400, body: { message: 'Organization member already exists in this organization' } };
  memberOf.set(organization.id, roles);
  return { status: 200, body: memberAnswer(member, organization, model) };
}
