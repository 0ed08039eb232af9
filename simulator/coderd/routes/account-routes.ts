/** The routes for the caller's account: the token's user, the token, the licence. */

import type { CoderdModel } from '../model.ts';
import { rfc3339 } from '../queries/rfc3339.ts';
import { type Answer, NOT_FOUND } from './answers.ts';
import type { Route, UserRequest } from './route.ts';

/** The route below `/api/v2/users/`; undefined if there is none. */
export function userRoute(rest: readonly string[]): Route | undefined {
  const [user, keys, id, ...more] = rest;
  if (user === undefined || more.length > 0) return undefined;
  if (keys === undefined) return { method: 'GET', handle: me };
  return keys === 'keys' && id !== undefined ? { method: 'GET', handle: apiKey } : undefined;
}

function me({ model, user, rest: [name] }: UserRequest): Answer {
  if (name !== 'me') return NOT_FOUND;
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

/** coderd/apikey.go; codersdk.APIKey. */
function apiKey({ model, user, rest: [name, , id = ''] }: UserRequest): Answer {
  const key = name === 'me' ? model.tokens.find(user, id) : undefined;
  if (key === undefined) return NOT_FOUND;
  const createdAt = rfc3339(key.createdAt);
  const body = {
    id: key.id,
    user_id: user.userId,
    last_used: createdAt,
    expires_at: rfc3339(key.expiresAt),
    created_at: createdAt,
    updated_at: createdAt,
    login_type: 'token',
    scope: 'all',
    scopes: ['coder:all'],
    token_name: 'autoscaler',
    lifetime_seconds: key.lifetimeMs / 1000,
    allow_list: ['*:*'],
  };
  return { status: 200, body };
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
