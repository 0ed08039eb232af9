/**
 * The coderd of a served deployment. It makes the bodies of long lists in advance, so that they
 * take no part in the measured time.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Fleet, FleetOrganization } from './fleet.ts';

export type Count = (operation: string) => void;

/**
 * Answers like coderd. `ageMs`: time since the snapshot of the deployment, added to the date of the
 * build info.
 */
export function coderd(fleet: Fleet, count: Count, ageMs: () => number): RequestListener {
  const bodies = makeBodies(fleet);
  const workspaces = fleet.organizations.flatMap((organization) =>
    organization.workspaces.map((workspace) => JSON.stringify(workspace)),
  );
  const bodyOf = async (request: IncomingMessage, { pathname, searchParams }: URL) => {
    const ids = searchParams.get('ids');
    if (ids !== null) return previousJobs(fleet, pathname, ids);
    if (pathname === '/api/v2/workspaces') return pageOf(workspaces, searchParams);
    if (pathname === '/api/v2/authcheck') return permissions(request);
    if (searchParams.get('status') === 'offline' || pathname.endsWith('/members')) return '[]';
    return bodies.get(pathname);
  };
  return async (request, response) => {
    const url = new URL(`http://coderd${request.url}`);
    const operation = operationOf(url);
    count(`coderd ${operation}`);
    const body = await bodyOf(request, url);
    // all other answers have the time of the snapshot
    const time = Date.parse(fleet.takenAt) + (operation === 'buildinfo' ? ageMs() : 0);
    const headers = { date: new Date(time).toUTCString(), 'content-type': 'application/json' };
    response.writeHead(body === undefined ? 404 : 200, headers);
    response.end(body);
  };
}

/** The last part of the path that is not an id. */
function operationOf({ pathname }: URL): string {
  return pathname.split('/').findLast((part) => !/^[0-9a-f-]{36}$/.test(part)) ?? '';
}

function makeBodies({ version, organizations }: Fleet): ReadonlyMap<string, string> {
  const templates = organizations.flatMap((organization) => organization.templates);
  return new Map([
    ['/api/v2/buildinfo', JSON.stringify({ version })],
    ['/api/v2/organizations', JSON.stringify(organizations.map(({ id, name }) => ({ id, name })))],
    ['/api/v2/templates', JSON.stringify(templates.map(({ listed }) => listed))],
    ...templates.map(
      ({ activeVersion }) =>
        [`/api/v2/templateversions/${activeVersion.id}`, JSON.stringify(activeVersion)] as const,
    ),
    ...organizations.flatMap(organizationBodies),
  ]);
}

function organizationBodies({ id, jobs, daemons }: FleetOrganization): [string, string][] {
  const path = `/api/v2/organizations/${id}`;
  return [
    [`${path}/provisionerjobs`, JSON.stringify(jobs)],
    [`${path}/provisionerdaemons`, JSON.stringify(daemons)],
  ];
}

function previousJobs(fleet: Fleet, pathname: string, ids: string): string {
  const wanted = new Set(ids.split(','));
  const organization = fleet.organizations.find(({ id }) => pathname.includes(id));
  return JSON.stringify(organization?.previousJobs.filter(({ id }) => wanted.has(id)) ?? []);
}

function pageOf(rows: readonly string[], query: URLSearchParams): string {
  const offset = Number(query.get('offset'));
  const page = rows.slice(offset, offset + Number(query.get('limit')));
  return `{"workspaces":[${page.join()}],"count":${rows.length}}`;
}

/** The user of the token has every permission. */
async function permissions(request: IncomingMessage): Promise<string> {
  const { checks } = (await json(request)) as { readonly checks: object };
  return JSON.stringify(Object.fromEntries(Object.keys(checks).map((name) => [name, true])));
}
