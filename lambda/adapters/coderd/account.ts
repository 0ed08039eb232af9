/**
 * Reads the token's user, the license and a provisioner key from coderd.
 */
import type * as z from 'zod';
import type { Entitlement } from '../../decision/model/snapshot.ts';
import type { Secret } from '../shared/secret.ts';
import type { CoderdHttp } from './http/http.ts';
import { entitlementsSchema, provisionerKeySchema, userSchema } from './http/schemas.ts';

export type User = { readonly name: string; readonly isOwner: boolean };
export type ProvisionerKey = z.output<typeof provisionerKeySchema>;
/** Reads the token's user. Throws CoderdError. */
export async function readUser(http: CoderdHttp): Promise<User> {
  const { username, roles } = (await http.get('/api/v2/users/me', {}, userSchema)).value;
  return { name: username, isOwner: (roles ?? []).some(({ name }) => name === 'owner') };
}

/**
 * Reads whether external provisioner daemons are licensed (docs/coder.md §3). Throws CoderdError.
 */
export async function readEntitlement(http: CoderdHttp, signal?: AbortSignal): Promise<Entitlement> {
  const { features } = (await http.get('/api/v2/entitlements', {}, entitlementsSchema, signal)).value;
  const feature = features.external_provisioner_daemons;
  if (feature?.enabled !== true) return 'not_entitled';
  return feature.entitlement === 'grace_period' ? 'grace_period' : 'entitled';
}

/**
 * Reads the name, organization and tags of a provisioner key. Throws CoderdError. The key does not
 * exist if the code is `unauthorized`, or `refused` with status 400 (wrong length). The path does
 * not contain the secret, because paths end up in logs and coderd reads only the header.
 */
export async function readProvisionerKey(http: CoderdHttp, secret: Secret): Promise<ProvisionerKey> {
  const headers = { 'coder-provisioner-daemon-key': secret };
  return (await http.getAs('/api/v2/provisionerkeys/self', headers, provisionerKeySchema)).value;
}
