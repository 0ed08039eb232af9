/**
 * The HTTP API of the model, as a listener for node:http. The owner of the server advances the
 * timeline before each request; nothing here reads a clock.
 *
 * Checks come in coderd's order: rate limit, session token (401), organization and permission (both
 * the same 404), parameters (400), answer.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CoderdModel } from '../model.ts';
import { KeptRows } from '../queries/kept-rows.ts';
import { rfc3339 } from '../queries/rfc3339.ts';
import { isUuid } from '../rules/uuids.ts';
import type { Organization } from '../tables/organizations.ts';
import { type Authenticated, mayRead, type TokenUser } from '../tables/tokens.ts';
import { entitlements, userRoute } from './account-routes.ts';
import { type Answer, badUuid, invalid, NOT_FOUND } from './answers.ts';
import { keyRoute, provisionerKey } from './key-routes.ts';
import { members } from './member-routes.ts';
import { QueryParameters } from './parameters.ts';
import { RateLimiter } from './rate-limit.ts';
import type { OrganizationRequest, Route, UserRequest } from './route.ts';
import { routeOf } from './workspace-routes.ts';

export type CoderdHandlerOptions = {
  /** Requests for each minute, user and endpoint. @default 512 (CODER_API_RATE_LIMIT) */
  readonly rateLimit?: number;
};

const DEFAULT_LIMIT = 50;
const INVALID_PARAMETERS = 'Invalid query parameters.';
const JOB_STATUSES = ['pending', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'unknown'];
const DAEMON_STATUSES = ['offline', 'idle', 'busy'];
const LICENSED: ReadonlySet<string> = new Set(['entitlements', 'provisionerkeys']);
const ROOT = '/api/v2/';
const ROUTE_NOT_FOUND: Answer = { status: 404, body: { message: 'Route not found.' } };

export function coderdHandler(model: CoderdModel, options: CoderdHandlerOptions = {}): RequestListener {
  const limit = options.rateLimit ?? 512;
  const limiter = new RateLimiter(limit);
  return (request, response) => {
    const url = new URL(`http://coderd${request.url ?? '/'}`);
    setCommonHeaders(response, model);
    if (url.pathname === '/healthz') {
      sendText(response, 'OK');
      return;
    }
    const authenticated = model.authenticate(headerOf(request, 'coder-session-token'));
    const caller = 'user' in authenticated ? authenticated.user.userId : (request.socket.remoteAddress ?? '');
    const verdict = limiter.admit(`${caller} ${url.pathname}`, model.timeline.now());
    for (const [name, value] of Object.entries(verdict.headers)) response.setHeader(name, value);
    const { method, headers } = request;
    const reply = (body: string): void =>
      send(response, route({ model, parts: { method, url, headers, body }, authenticated }));
    if (!verdict.allowed) send(response, rateLimited(limit));
    else if (method !== 'POST') reply('');
    else readBody(request, reply);
  };
}

/** A request as the routes read it. */
export type RequestParts = {
  readonly method: string | undefined;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/**
 * Answers a request without a socket, a rate limit or a server. `user`: who asks. @default the user of
 * the session token
 */
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
  const [collection, ...rest] = path.split('/');
  if (model.licence === 'open-source' && path.split('/').some((part) => LICENSED.has(part)))
    return ROUTE_NOT_FOUND;
  if (path === 'entitlements') return entitlements(model);
  if (collection === 'provisionerkeys' && rest.length === 1)
    return provisionerKey(model, headerOf(parts, 'coder-provisioner-daemon-key'));
  const found = foundRoute(collection, rest, { model, method });
  if (found === undefined) return ROUTE_NOT_FOUND;
  if (method !== found.method) return { status: 405, body: undefined };
  if ('refusal' in authenticated) return { status: 401, body: authenticated.refusal };
  return found.handle({
    model,
    user: authenticated.user,
    parameters: new QueryParameters(url.searchParams),
    rest,
    body,
  });
}

type Asked = { readonly model: CoderdModel; readonly method: string | undefined };

function foundRoute(collection: string | undefined, rest: readonly string[], asked: Asked) {
  if (collection === 'organizations') return organizationRoute(rest, asked);
  return collection === 'users' ? userRoute(rest) : routeOf(collection, rest);
}

/** The route below `/api/v2/organizations/`; undefined if there is none. */
function organizationRoute(path: readonly string[], { model, method }: Asked): Route | undefined {
  const [segment, resource, ...rest] = path;
  if (segment === undefined) return { method: 'GET', handle: organizations };
  const handle = handlerOf(resource, rest, model);
  const found =
    resource === 'provisionerkeys' ? keyRoute(method, rest) : handle && { method: 'GET' as const, handle };
  if (found === undefined) return undefined;
  return {
    method: found.method,
    handle: (request) => {
      const organization = model.organizations.inPath(segment);
      return organization === undefined ? NOT_FOUND : found.handle({ ...request, organization, rest });
    },
  };
}

function handlerOf(
  resource: string | undefined,
  rest: readonly string[],
  model: CoderdModel,
): ((request: OrganizationRequest) => Answer) | undefined {
  if (resource === 'provisionerdaemons' && rest.length === 0)
    return model.version.does('filtersLists') ? daemonList : earlyDaemonList;
  if (resource === 'members' && rest.length === 0) return members;
  if (resource !== 'provisionerjobs' || !model.version.does('listsJobs')) return undefined;
  if (rest.length > 1) return undefined;
  return rest.length === 0 ? jobList : oneJob;
}

const organizationRows = new KeptRows<Organization, ReturnType<typeof organizationAnswer>>();

function organizations({ model }: UserRequest): Answer {
  const body = model.organizations.all.map((organization) =>
    organizationRows.of(organization, [], () => organizationAnswer(organization, model)),
  );
  return { status: 200, body };
}

function organizationAnswer({ id, name, isDefault, createdAt }: Organization, { version }: CoderdModel) {
  return {
    id,
    name,
    display_name: name,
    icon: '',
    description: '',
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(createdAt),
    is_default: isDefault,
    default_org_member_roles: version.does('tellsMemberRoles')
      ? ['organization-workspace-access']
      : undefined,
  };
}

function jobList(request: OrganizationRequest): Answer {
  return findJobs(request, undefined);
}

function oneJob(request: OrganizationRequest): Answer {
  const id = request.rest[0] ?? '';
  if (!isUuid(id)) return badUuid(id);
  const answer = findJobs(request, id.toLowerCase());
  if (answer.status !== 200 || !Array.isArray(answer.body)) return answer;
  return answer.body.length === 0 ? NOT_FOUND : { status: 200, body: answer.body[0] };
}

function findJobs(request: OrganizationRequest, id: string | undefined): Answer {
  const { model, user, organization, parameters } = request;
  if (!mayRead(user, organization.id)) return NOT_FOUND;
  const canFilter = model.version.does('filtersLists');
  const query = {
    organizationId: organization.id,
    limit: parameters.positiveInt32('limit', canFilter ? DEFAULT_LIMIT : 0),
    statuses: parameters.strings('status'),
    ids: id === undefined ? (canFilter ? parameters.uuids('ids') : []) : [id],
    tags: canFilter ? parameters.tags('tags') : {},
    initiatorId: model.version.does('knowsInitiators') ? parameters.uuid('initiator') : undefined,
  };
  const errors = parameters.errors();
  if (errors.length > 0) return invalid(errors, INVALID_PARAMETERS);
  const unknown = query.statuses.find((status) => !JOB_STATUSES.includes(status));
  if (unknown !== undefined) return badEnum('jobs', 'provisioner_job_status', unknown);
  return { status: 200, body: model.listJobs(query) };
}

function daemonList(request: OrganizationRequest): Answer {
  const { model, user, organization, parameters } = request;
  if (!mayRead(user, organization.id)) return NOT_FOUND;
  const canFilter = model.version.does('filtersOfflineDaemons');
  const query = {
    organizationId: organization.id,
    limit: parameters.positiveInt32('limit', DEFAULT_LIMIT),
    ids: parameters.uuids('ids'),
    tags: parameters.tags('tags'),
    offline: canFilter ? (parameters.boolean('offline') ?? false) : true,
    statuses: canFilter ? parameters.strings('status') : [],
    maxAgeMs: canFilter ? Math.max(0, parameters.durationMs('max_age')) : 0,
  };
  const errors = parameters.errors();
  if (errors.length > 0) return invalid(errors, INVALID_PARAMETERS);
  const unknown = query.statuses.find((status) => !DAEMON_STATUSES.includes(status));
  if (unknown !== undefined) return badEnum('daemons', 'provisioner_daemon_status', unknown);
  return { status: 200, body: model.listDaemons(query) };
}

/**
 * Before 2.20: only `tags`, no limit, other parameters ignored, and rows that may not be read are
 * left out (docs/internals/coder.md §2).
 */
function earlyDaemonList({ model, user, organization, parameters }: OrganizationRequest): Answer {
  const tags = parameters.tags('tags');
  const error = parameters.errors().find(({ field }) => field === 'tags');
  if (error !== undefined) return invalid([error], INVALID_PARAMETERS);
  if (!mayRead(user, organization.id)) return { status: 200, body: [] };
  const all = { limit: 0, ids: [], offline: true, statuses: [], maxAgeMs: 0 };
  return { status: 200, body: model.listDaemons({ ...all, organizationId: organization.id, tags }) };
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

function rateLimited(limit: number): Answer {
  const message = `You've been rate limited for sending more than ${limit} requests in 1m0s.`;
  return { status: 429, body: { message } };
}

/** coderd does not check the value before Postgres refuses it (docs/internals/coder.md §1). */
function badEnum(what: 'jobs' | 'daemons', type: string, value: string): Answer {
  const detail = `fetch object: pq: invalid input value for enum ${type}: "${value}"`;
  return { status: 500, body: { message: `Internal error fetching provisioner ${what}.`, detail } };
}

function readBody(request: IncomingMessage, onBody: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => onBody(Buffer.concat(chunks).toString()));
}

function setCommonHeaders(response: ServerResponse, model: CoderdModel): void {
  response.setHeader('Date', new Date(model.timeline.now()).toUTCString());
  response.setHeader('X-Coder-Build-Version', model.version.text);
}

function sendText(response: ServerResponse, text: string): void {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(text);
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.statusCode = status;
  if (body instanceof Uint8Array) {
    response.setHeader('Content-Type', 'application/x-tar');
    response.end(body);
    return;
  }
  if (body !== undefined) response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(body === undefined ? undefined : `${JSON.stringify(body)}\n`);
}
