/**
 * What the token's user may read. coderd filters the rows of its lists (docs/coder.md §10), so an empty list can mean that there is
 * nothing, or that the role is missing: `POST /api/v2/authcheck` tells (codersdk.AuthorizationRequest; it only answers).
 */

import type { OrganizationId } from '../../../decision/model/brands.ts';
import type { Organization } from '../../../look/ports.ts';
import type { CoderdHttp } from '../http/http.ts';
import { authorizationSchema } from '../http/schemas.ts';

export type Listed = 'workspace' | 'template';

const LISTED: readonly Listed[] = ['workspace', 'template'];

/** Whether coderd says that all of an organization's may not be read. What it doesn't answer is not refused. */
export type Refused = (listed: Listed, organization: OrganizationId) => boolean;

/** Asks for all organizations at once. Where coderd doesn't answer, nothing is refused. */
export async function readRefused(
  http: CoderdHttp,
  organizations: readonly Organization[],
  signal: AbortSignal,
): Promise<Refused> {
  try {
    const body = { checks: checksOf(organizations) };
    const { value } = await http.post('/api/v2/authcheck', body, authorizationSchema, signal);
    return (listed, organization) => value[nameOf(listed, organization)] === false;
  } catch {
    // the lists themselves may still be readable, and they say so if not
    return () => false;
  }
}

function checksOf(organizations: readonly Organization[]): object {
  return Object.fromEntries(
    organizations.flatMap(({ id }) =>
      LISTED.map((listed) => [
        nameOf(listed, id),
        { object: { resource_type: listed, organization_id: id }, action: 'read' },
      ]),
    ),
  );
}

function nameOf(listed: Listed, organization: OrganizationId): string {
  return `${listed} ${organization}`;
}
