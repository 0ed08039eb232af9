/** The token's user and its rights, the license, the default organization, a provisioner key. */
import type * as z from 'zod';
import type { OrganizationId } from '../../decision/model/brands.ts';
import type { Entitlement } from '../../decision/model/snapshot.ts';
import type { Secret } from '../shared/secret.ts';
import { type CoderdHttp, wholeList } from './http/http.ts';
import { organizationRowsWithDefault } from './http/lists.ts';
import {
  authorizationSchema,
  entitlementsSchema,
  type organizationSchema,
  provisionerKeySchema,
  userSchema,
} from './http/schemas.ts';

/** `roles`: those of the site, without `member`. */
export type User = {
  readonly id: string;
  readonly name: string;
  readonly isOwner: boolean;
  readonly roles: readonly string[];
};
export type ProvisionerKey = z.output<typeof provisionerKeySchema>;
/** Reads the token's user. Throws CoderdError. */
export async function readUser(http: CoderdHttp): Promise<User> {
  const { id, username, roles } = (await http.get('/api/v2/users/me', {}, userSchema)).value;
  const names = (roles ?? []).map(({ name }) => name).filter((name) => name !== 'member');
  return { id, name: username, isOwner: names.includes('owner'), roles: names };
}

/** Daemons with the scope of the organization (docs/internals/coder.md §3). Throws CoderdError. */
export async function readMayRunDaemons(http: CoderdHttp, organization: OrganizationId): Promise<boolean> {
  const object = { resource_type: 'provisioner_daemon', organization_id: organization };
  const body = { checks: { create: { object, action: 'create' } } };
  const { value } = await http.post('/api/v2/authcheck', body, authorizationSchema);
  return value.create === true;
}

/** For which coderd accepts the pre-shared key. Undefined: coderd lists no default. Throws CoderdError. */
export async function readDefaultOrganization(
  http: CoderdHttp,
): Promise<z.output<typeof organizationSchema> | undefined> {
  const { value } = await http.get('/api/v2/organizations', {}, organizationRowsWithDefault);
  return wholeList(value).find(({ is_default }) => is_default === true);
}

/** Whether external daemons are licensed (docs/internals/coder.md §3). Throws CoderdError. */
export async function readEntitlement(http: CoderdHttp, signal?: AbortSignal): Promise<Entitlement> {
  const { features } = (await http.get('/api/v2/entitlements', {}, entitlementsSchema, { signal })).value;
  const feature = features.external_provisioner_daemons;
  if (feature?.enabled !== true) return 'not_entitled';
  return feature.entitlement === 'grace_period' ? 'grace_period' : 'entitled';
}

/**
 * Throws CoderdError. The key does not exist if the code is `unauthorized`, or `refused` with status 400 (wrong
 * length). The secret is in no path, because paths end up in logs.
 */
export async function readProvisionerKey(http: CoderdHttp, secret: Secret): Promise<ProvisionerKey> {
  const headers = { 'coder-provisioner-daemon-key': secret };
  return (await http.getAs('/api/v2/provisionerkeys/self', headers, provisionerKeySchema)).value;
}
