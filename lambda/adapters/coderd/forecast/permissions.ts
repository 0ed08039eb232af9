/**
 * An empty list of coderd can mean that nothing exists or that the role is missing
 * (docs/internals/coder.md §10). `POST /api/v2/authcheck` tells them apart, and changes nothing.
 */

import type { OrganizationId } from '../../../decision/model/brands.ts';
import type { Organization } from '../../../look/ports.ts';
import type { CoderdHttp } from '../http/http.ts';
import { authorizationSchema } from '../http/schemas.ts';

export type ResourceType = 'workspace' | 'template';

const RESOURCE_TYPES: readonly ResourceType[] = ['workspace', 'template'];

/** Whether coderd refuses to list the resource type in an organization. False if coderd did not answer. */
export type Refused = (type: ResourceType, organization: OrganizationId) => boolean;

/** Checks all organizations in one request. If coderd does not answer, nothing counts as refused. */
export async function readRefused(
  http: CoderdHttp,
  organizations: readonly Organization[],
  signal: AbortSignal,
): Promise<Refused> {
  try {
    const body = { checks: checksOf(organizations) };
    const { value } = await http.post('/api/v2/authcheck', body, authorizationSchema, signal);
    return (type, organization) => value[nameOf(type, organization)] === false;
  } catch {
    // The lists may still be readable. If they are not, their own requests fail.
    return () => false;
  }
}

function checksOf(organizations: readonly Organization[]): object {
  return Object.fromEntries(
    organizations.flatMap(({ id }) =>
      RESOURCE_TYPES.map((type) => [
        nameOf(type, id),
        { object: { resource_type: type, organization_id: id }, action: 'read' },
      ]),
    ),
  );
}

function nameOf(type: ResourceType, organization: OrganizationId): string {
  return `${type} ${organization}`;
}
