/**
 * An empty list of coderd can mean that nothing exists or that the role is missing
 * (docs/internals/coder.md §10). `POST /api/v2/authcheck` tells them apart, and changes nothing.
 */
import type { OrganizationId } from '../../../decision/model/brands.ts';
import type {
  BuildInfo,
  Daemon,
  ForecastReadings,
  Member,
  Reading,
} from '../../../decision/model/snapshot.ts';
import { filtersDaemons } from '../../../decision/model/version.ts';
import type { Organization } from '../../../look/ports.ts';
import type { CoderdHttp } from '../http/http.ts';
import { daemonRows, memberRows } from '../http/lists.ts';
import { reading } from '../http/reading.ts';
import { authorizationSchema, listPath } from '../http/schemas.ts';

type ResourceType = 'workspace' | 'template';

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
    const { value } = await http.post('/api/v2/authcheck', body, authorizationSchema, { signal });
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

export type RefusalEvidence = Pick<ForecastReadings, 'members' | 'offlineDaemons'>;

/** Two tries are at most a day apart, and the third try is the first with the longest distance. */
const MAX_AGE = '96h';
/** The newest daemons. If there are more, a daemon was online often enough. */
const MOST_DAEMONS = 1000;

export async function readEvidence(
  { http, signal }: { readonly http: CoderdHttp; readonly signal: AbortSignal },
  organization: Organization,
  build: BuildInfo | undefined,
): Promise<RefusalEvidence> {
  const { name } = organization;
  const query = { status: 'offline', max_age: MAX_AGE, limit: String(MOST_DAEMONS) };
  const readMembers = (): Promise<Reading<Member>> =>
    reading({ what: `listing members of organization "${name}"` }, () =>
      http.get(listPath(organization, 'members'), {}, memberRows, { signal }),
    );
  const readDaemons = (): Promise<Reading<Daemon>> =>
    reading({ what: `listing offline daemons of organization "${name}"`, limit: MOST_DAEMONS }, () =>
      http.get(listPath(organization, 'provisionerdaemons'), query, daemonRows, { signal }),
    );
  // older servers list offline daemons with the others
  if (!filtersDaemons(build?.version)) return { members: await readMembers() };
  const [members, offlineDaemons] = await Promise.all([readMembers(), readDaemons()]);
  return { members, offlineDaemons };
}
