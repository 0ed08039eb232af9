/**
 * The HTTP API of the model, as a listener for node:http. Nothing here reads a clock. Checks come in coderd's
 * order, without its rate limit: session token (401), organization and permission (both the same 404), parameters (400).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CoderdModel } from '../model.ts';
import type { Authenticated, TokenUser } from '../tables/tokens.ts';
import {
  addMember,
  apiKey,
  authCheck,
  createToken,
  createUser,
  deleteToken,
  entitlements,
  me,
  members,
  setRoles,
  tokenByName,
  tokenConfig,
} from './account-routes.ts';
import { createKey, deleteKey, listKeys, provisionerKey } from './key-routes.ts';
import { daemonList, jobList, oneJob, organizations } from './organization-routes.ts';
import {
  type Answer,
  NOT_FOUND,
  type OrganizationRequest,
  QueryParameters,
  type UserRequest,
} from './request.ts';
import {
  cancelVersion,
  createVersion,
  templates,
  templateVersion,
  templateVersionLogs,
  uploadFile,
} from './template-routes.ts';
import { withUnreadable } from './unreadable-rows.ts';
import { workspaceBuilds, workspaces } from './workspace-routes.ts';

const LICENSED: ReadonlySet<string> = new Set(['entitlements', 'provisionerkeys']);
const ROOT = '/api/v2/';
const ROUTE_NOT_FOUND: Answer = { status: 404, body: { message: 'Route not found.' } };

export function coderdHandler(model: CoderdModel): RequestListener {
  return (request, response) => {
    const url = new URL(`http://coderd${request.url ?? '/'}`);
    setCommonHeaders(response, model);
    if (url.pathname === '/healthz') {
      sendText(response, 'OK');
      return;
    }
    const authenticated = model.authenticate(headerOf(request, 'coder-session-token'));
    const { method, headers } = request;
    const reply = (body: string): void =>
      send(response, route({ model, parts: { method, url, headers, body }, authenticated }));
    if (method !== 'POST' && method !== 'PUT' && method !== 'PATCH') reply('');
    else readBody(request, reply);
  };
}

type RequestParts = {
  readonly method: string | undefined;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/** Without a socket. `user`: who asks. @default the user of the session token */
export function answerOf(model: CoderdModel, parts: RequestParts, user?: TokenUser): Answer {
  const authenticated = user ? { user } : model.authenticate(headerOf(parts, 'coder-session-token'));
  return route({ model, parts, authenticated });
}

function route(given: {
  readonly model: CoderdModel;
  readonly parts: RequestParts;
  readonly authenticated: Authenticated;
}): Answer {
  const { model, parts, authenticated } = given;
  const { method, url, body } = parts;
  if (!url.pathname.startsWith(ROOT)) return ROUTE_NOT_FOUND;
  const path = url.pathname.slice(ROOT.length);
  if (path === 'buildinfo') return buildInfo(model, parts);
  const segments = path.split('/');
  if (model.licence === 'open-source' && segments.some((part) => LICENSED.has(part))) return ROUTE_NOT_FOUND;
  if (path === 'entitlements') return entitlements(model);
  if (segments[0] === 'provisionerkeys' && segments.length === 2)
    return provisionerKey(model, headerOf(parts, 'coder-provisioner-daemon-key'));
  const routes = ROUTES.filter((each) => isRouteOf(each, segments));
  const found = routes.find((each) => each.method === method);
  if (routes.length === 0) return ROUTE_NOT_FOUND;
  if (found === undefined) return { status: 405, body: undefined };
  if ('refusal' in authenticated) return { status: 401, body: authenticated.refusal };
  const request = {
    model,
    user: authenticated.user,
    parameters: new QueryParameters(url.searchParams),
    ids: segments.filter((_, index) => found.segments[index] === ID),
    body,
  };
  if (model.failing.has(segments.at(-1) ?? '')) return { status: 500, body: { message: 'Internal error.' } };
  const answer =
    'handle' in found ? found.handle(request) : inOrganization(found, segments[1] ?? '', request);
  return withUnreadable(answer, model.unreadable);
}

function inOrganization({ about }: OrganizationRoute, segment: string, request: UserRequest): Answer {
  const organization = request.model.organizations.inPath(segment);
  return organization === undefined ? NOT_FOUND : about({ ...request, organization });
}

type RoutePlace = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly segments: readonly string[];
};
type OrganizationRoute = RoutePlace & { readonly about: (request: OrganizationRequest) => Answer };
type Route = (RoutePlace & { readonly handle: (request: UserRequest) => Answer }) | OrganizationRoute;

/** Stands for any text in a path: an id or a name, and an organization. */
const [ID, ORGANIZATION] = [':id', ':organization'];

const get = (path: string, handle: (request: UserRequest) => Answer): Route => ({
  method: 'GET',
  segments: path.split('/'),
  handle,
});

const about = (
  method: RoutePlace['method'],
  path: string,
  handle: (request: OrganizationRequest) => Answer,
): Route => ({ method, segments: ['organizations', ORGANIZATION, ...path.split('/')], about: handle });

const ROUTES: readonly Route[] = [
  get('organizations', organizations),
  about('GET', 'provisionerjobs', jobList),
  about('GET', 'provisionerjobs/:id', oneJob),
  about('GET', 'provisionerdaemons', daemonList),
  about('GET', 'members', members),
  about('POST', 'members/:id', addMember),
  about('PUT', 'members/:id/roles', setRoles),
  about('GET', 'provisionerkeys', listKeys),
  about('POST', 'provisionerkeys', createKey),
  about('DELETE', 'provisionerkeys/:id', deleteKey),
  get('users/:id', me),
  get('users/:id/keys/:id', apiKey),
  get('users/:id/keys/tokens/tokenconfig', tokenConfig),
  get('users/:id/keys/tokens/:id', tokenByName),
  { method: 'POST', segments: ['users'], handle: createUser },
  { method: 'POST', segments: ['users', ID, 'keys', 'tokens'], handle: createToken },
  { method: 'DELETE', segments: ['users', ID, 'keys', ID], handle: deleteToken },
  get('workspaces', workspaces),
  get('workspaces/:id/builds', workspaceBuilds),
  get('templates', templates),
  get('templateversions/:id', templateVersion),
  get('templateversions/:id/logs', templateVersionLogs),
  { method: 'PATCH', segments: ['templateversions', ID, 'cancel'], handle: cancelVersion },
  { method: 'POST', segments: ['files'], handle: uploadFile },
  about('POST', 'templateversions', createVersion),
  { method: 'POST', segments: ['authcheck'], handle: authCheck },
];

function isRouteOf({ segments }: Route, path: readonly string[]): boolean {
  if (segments.length !== path.length) return false;
  return segments.every((segment, index) => segment.startsWith(':') || segment === path[index]);
}

function buildInfo({ version, deploymentId }: CoderdModel, request: RequestParts): Answer {
  const release = version.text.split('+')[0];
  const body = {
    external_url: `https://github.com/coder/coder/releases/tag/${release}`,
    version: version.text,
    dashboard_url: `http://${request.headers.host}`,
    telemetry: false,
    workspace_proxy: false,
    agent_api_version: '1.0',
    provisioner_api_version: version.provisionerApi,
    upgrade_message: '',
    deployment_id: deploymentId,
  };
  return { status: 200, body };
}

function headerOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const header = headers[name];
  return typeof header === 'string' && header !== '' ? header : undefined;
}

function readBody(request: IncomingMessage, onBody: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => onBody(Buffer.concat(chunks).toString()));
}

function setCommonHeaders(response: ServerResponse, model: CoderdModel): void {
  response.setHeader('Date', new Date(model.date).toUTCString());
  response.setHeader('X-Coder-Build-Version', model.version.text);
}

function sendText(response: ServerResponse, text: string): void {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(text);
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.statusCode = status;
  if (body !== undefined) response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(body === undefined ? undefined : `${JSON.stringify(body)}\n`);
}
