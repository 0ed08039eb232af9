/** Who the token's user is, what is licensed, and what a provisioner key is for: asked by people, never in a look. */
import type * as z from 'zod';
import type { CoderdHttp } from './http/http.ts';
import { entitlementsSchema, provisionerKeySchema, userSchema } from './http/schemas.ts';

export type User = { readonly name: string; readonly isOwner: boolean };
export type ProvisionerKey = z.output<typeof provisionerKeySchema>;
/** Of external provisioner daemons: on wherever it is licensed (docs/coder.md §3). */
export type Entitlement = 'entitled' | 'grace_period' | 'not_entitled';

/** The token's user. Throws CoderdError. */
export async function readUser(http: CoderdHttp): Promise<User> {
  const { username, roles } = (await http.get('/api/v2/users/me', {}, userSchema)).value;
  return { name: username, isOwner: (roles ?? []).some(({ name }) => name === 'owner') };
}

/** Whether external provisioner daemons are licensed. Throws CoderdError. */
export async function readEntitlement(http: CoderdHttp): Promise<Entitlement> {
  const { features } = (await http.get('/api/v2/entitlements', {}, entitlementsSchema)).value;
  const feature = features.external_provisioner_daemons;
  if (feature?.enabled !== true) return 'not_entitled';
  return feature.entitlement === 'grace_period' ? 'grace_period' : 'entitled';
}

/**
 * What a key is for. Throws CoderdError; `unauthorized`, or `refused` with status 400 where its length is wrong: there is no
 * such key. The path holds another word than the secret: coderd looks at the header alone, and paths end up in logs.
 */
export async function readProvisionerKey(http: CoderdHttp, secret: string): Promise<ProvisionerKey> {
  const headers = { 'coder-provisioner-daemon-key': secret };
  return (await http.getAs('/api/v2/provisionerkeys/self', headers, provisionerKeySchema)).value;
}
