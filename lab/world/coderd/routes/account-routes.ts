/** The token's user, the token, the licence, the members of an organization. */
import { z } from 'zod';
import { parseQuietly } from '../../../../lambda/decision/model/parse-quietly.ts';
import { mapping } from '../../../../lambda/shared/mapping.ts';
import type { CoderdModel } from '../model.ts';
import { rfc3339 } from '../queries/times.ts';
import type { Organization } from '../tables/organizations.ts';
import { type ApiKey, holds, type KeyAction, type TokenUser } from '../tables/tokens.ts';
import type { UserRecord } from '../tables/users.ts';
import { type Answer, NOT_FOUND, type OrganizationRequest, type UserRequest } from './request.ts';

export function me({ model, user, ids: [name] }: UserRequest): Answer {
  if (name !== 'me') return otherUser(model, user, name);
  const now = model.timeline.now();
  const body = {
    id: user.userId,
    username: user.username,
    email: `${user.username}@example.com`,
    created_at: rfc3339(model.user(user.userId)?.createdAt ?? now),
    updated_at: rfc3339(model.user(user.userId)?.updatedAt ?? now),
    last_seen_at: rfc3339(now),
    status: 'active',
    login_type: 'password',
    organization_ids: model.organizations.all.map(({ id }) => id),
    roles: user.isOwner ? [{ name: 'owner', display_name: 'Owner' }] : [],
  };
  return { status: 200, body };
}

function otherUser(model: CoderdModel, user: TokenUser, name: string | undefined): Answer {
  const found = model.users().find(({ username }) => username === name);
  if (found === undefined || !user.isOwner) return NOT_FOUND;
  return { status: 200, body: { id: found.id, username: found.username, roles: [] } };
}

export function apiKey({ model, user, ids: [name, id = ''] }: UserRequest): Answer {
  const key = name === 'me' ? model.tokens.of(user.userId).find((own) => own.id === id) : undefined;
  return key === undefined ? NOT_FOUND : { status: 200, body: keyAnswer(key) };
}

/** codersdk.APIKey. */
function keyAnswer(key: ApiKey): object {
  const createdAt = rfc3339(key.createdAt);
  return {
    id: key.id,
    user_id: key.user.userId,
    last_used: createdAt,
    expires_at: rfc3339(key.expiresAt),
    created_at: createdAt,
    updated_at: createdAt,
    login_type: 'token',
    scope: 'all',
    scopes: ['coder:all'],
    token_name: key.name,
    lifetime_seconds: key.lifetimeMs / 1000,
    allow_list: ['*:*'],
  };
}

/** Answered to everyone (enterprise/coderd/coderd.go); codersdk.Entitlements. */
export function entitlements({ licence, isLicensed, timeline }: CoderdModel): Answer {
  const body = {
    features: {
      external_provisioner_daemons: { entitlement: licence, enabled: isLicensed },
    },
    warnings: [],
    errors: [],
    has_license: isLicensed,
    trial: false,
    require_telemetry: false,
    refreshed_at: rfc3339(timeline.now()),
  };
  return { status: 200, body };
}

const authorizationRequest = z.object({
  checks: mapping(
    z.string(),
    z.object({
      action: z.string(),
      object: z.object({
        resource_type: z.string().default(''),
        /** All organizations if absent or empty. */
        organization_id: z.string().default(''),
      }),
    }),
  ).default({}),
});

/** For any owner of the object. Simulated users may read, and some may change daemons and keys. */
export function authCheck({ user, body }: UserRequest): Answer {
  const request = authorizationRequest.safeParse(parseQuietly(body));
  if (!request.success) return { status: 400, body: { message: 'Request body must be valid JSON.' } };
  const checks = Object.entries(request.data.checks);
  const untyped = checks.find(([, { object }]) => object.resource_type === '');
  if (untyped !== undefined) {
    const message = `Object's "resource_type" field must be defined for key "${untyped[0]}".`;
    return { status: 400, body: { message } };
  }
  const answers = checks.map(([name, { action, object }]) => [name, isAllowed(user, action, object)]);
  return { status: 200, body: Object.fromEntries(answers) };
}

function isAllowed(
  user: TokenUser,
  action: string,
  object: { readonly resource_type: string; readonly organization_id: string },
): boolean {
  const { resource_type: type, organization_id: organization } = object;
  const keyAction = KEY_ACTIONS.find((each) => each === action);
  if (type === 'provisioner_daemon' && organization !== '' && keyAction !== undefined)
    return holds(user.keyRights[keyAction], organization);
  return action === 'read' && mayReadAll(user, type, organization);
}

const KEY_ACTIONS: readonly KeyAction[] = ['read', 'create', 'delete'];

/** A role of one organization does not hold for all of them. */
function mayReadAll(user: TokenUser, type: string, organizationId: string): boolean {
  if (organizationId === '') return user.isOwner;
  if (type === 'workspace' || type === 'template') return holds(user.canReadWorkspaces, organizationId);
  return type === 'provisioner_jobs' && holds(user.canRead, organizationId);
}

/** coderd/members.go. Leaves out rows that the user may not read; every user may read its own row. */
export function members({ model, user, organization }: OrganizationRequest): Answer {
  const own: UserRecord = model.user(user.userId) ?? {
    id: user.userId,
    username: user.username,
    status: 'active',
    createdAt: organization.createdAt,
    updatedAt: organization.createdAt,
  };
  const others = model
    .users()
    .filter(({ id, memberOf }) => id !== own.id && (memberOf?.has(organization.id) ?? true));
  const readable = holds(user.canReadMembers, organization.id) ? [...others, own] : [own];
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
    roles: (user.memberOf?.get(organization.id) ?? []).map((name) => ({ name, display_name: name })),
    ...(version.does('tellsUserStatus') ? account : {}),
  };
}

const FORBIDDEN: Answer = { status: 403, body: { message: 'You are not authorized to create users.' } };
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
  if (owner === undefined || !user.isOwner) return NOT_FOUND;
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

export function deleteToken({ model, user, ids: [name, id = ''] }: UserRequest): Answer {
  const owner = model.users().find(({ username }) => username === name);
  const isThere = owner !== undefined && model.tokens.of(owner.id).some((own) => own.id === id);
  if (!user.isOwner || !isThere) return NOT_FOUND;
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

export function addMember(request: OrganizationRequest): Answer {
  const { organization, ids } = request;
  const member = memberOf(request);
  if (member === undefined) return NOT_FOUND;
  const detail = `${ids[0]} is already a member of ${organization.name}`;
  if (member.memberOf.has(organization.id))
    return { status: 400, body: { message: 'User is already an organization member', detail } };
  return withRoles(request, member, []);
}

const newRoles = z.object({ roles: z.array(z.string()) });

export function setRoles(request: OrganizationRequest): Answer {
  const asked = newRoles.safeParse(parseQuietly(request.body));
  if (!asked.success) return BAD_BODY;
  const member = memberOf(request);
  if (!member?.memberOf.has(request.organization.id)) return NOT_FOUND;
  return withRoles(request, member, asked.data.roles);
}

type Member = UserRecord & Required<Pick<UserRecord, 'memberOf'>>;

/** The user of the path, for an owner. Others do not see it. */
function memberOf({ model, user, ids: [name] }: OrganizationRequest): Member | undefined {
  const found = model.users().find(({ username }) => username === name);
  return user.isOwner && found?.memberOf !== undefined ? (found as Member) : undefined;
}

function withRoles(
  { model, organization }: OrganizationRequest,
  member: Member,
  roles: readonly string[],
): Answer {
  member.memberOf.set(organization.id, roles);
  return { status: 200, body: memberAnswer(member, organization, model) };
}
