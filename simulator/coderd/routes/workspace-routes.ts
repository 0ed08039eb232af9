/**
 * The routes for the forecast: workspaces, templates, their versions, and what the user may read of
 * them.
 */
import { z } from 'zod';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { isUuid } from '../rules/uuids.ts';
import { type KeyAction, mayDoToKeys, mayRead, mayReadWorkspaces, type TokenUser } from '../tables/tokens.ts';
import { type Answer, badUuid, invalid, NOT_FOUND } from './answers.ts';
import { workspaceBuilds } from './build-routes.ts';
import { buildTimings } from './build-timings.ts';
import { uploadedFile } from './file-routes.ts';
import type { Route, UserRequest } from './route.ts';
import { templateAnswer, versionAnswer } from './template-list.ts';
import { workspaceAnswer } from './workspace-list.ts';

/** The route below `/api/v2/<collection>/`; undefined if there is none. */
export function routeOf(collection: string | undefined, rest: readonly string[]): Route | undefined {
  if (collection === 'workspaces' && rest.length === 0) return { method: 'GET', handle: workspaces };
  if (collection === 'workspaces' && rest.length === 2 && rest[1] === 'builds')
    return { method: 'GET', handle: workspaceBuilds };
  if (collection === 'workspacebuilds' && rest.length === 2 && rest[1] === 'timings')
    return { method: 'GET', handle: buildTimings };
  if (collection === 'templates' && rest.length === 0) return { method: 'GET', handle: templates };
  if (collection === 'templateversions' && rest.length === 1)
    return { method: 'GET', handle: templateVersion };
  if (collection === 'files' && rest.length === 1) return { method: 'GET', handle: uploadedFile };
  if (collection === 'templateversions' && rest.length === 2 && rest[1] === 'presets')
    return { method: 'GET', handle: versionPresets };
  if (collection === 'authcheck' && rest.length === 0) return { method: 'POST', handle: authCheck };
  return undefined;
}

/**
 * Rows that the user may not read are missing in list and count. Unknown parameters are ignored.
 * The simulator supports no search keys, so it refuses any query as coderd refuses unknown keys.
 */
function workspaces({ model, user, parameters }: UserRequest): Answer {
  parameters.uuid('after_id');
  const limit = parameters.positiveInt32('limit', 0);
  const offset = parameters.positiveInt32('offset', 0);
  const errors = parameters.invalid();
  if (errors.length > 0) return invalid(errors, 'Query parameters have invalid values.');
  const [field] = parameters.strings('q').map(searchKeyOf);
  if (field !== undefined)
    return invalid(
      [{ field, detail: `"${field}" is not a valid query param` }],
      'Invalid workspace search query.',
    );
  const readable = model.workspaces
    .inListOrder()
    .filter(({ organizationId }) => mayReadWorkspaces(user, organizationId));
  const page = readable.slice(offset, limit === 0 ? undefined : offset + limit);
  const body = {
    workspaces: page.map((workspace) => workspaceAnswer(workspace, model)),
    count: readable.length,
  };
  return { status: 200, body };
}

/**
 * Every member may read templates, with any role: a new template is shared with everyone.
 * Deprecated ones are listed only on request, and then alone.
 */
function templates({ model, parameters }: UserRequest): Answer {
  const [query = ''] = parameters.strings('q');
  const [, asked] = /^deprecated:(true|false)$/.exec(query) ?? [];
  if (query !== '' && asked === undefined) {
    const field = searchKeyOf(query);
    const detail =
      field === 'deprecated'
        ? `Query param "deprecated" must be a valid boolean: strconv.ParseBool: parsing "${query.slice(field.length + 1)}": invalid syntax`
        : `"${field}" is not a valid query param`;
    return invalid([{ field, detail }], 'Invalid template search query.');
  }
  const listsAll = asked === undefined && !model.version.does('hidesDeprecatedTemplates');
  const body = model
    .templates()
    .filter(({ deprecated }) => listsAll || (deprecated !== '') === (asked === 'true'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((template) => templateAnswer(template, model));
  return { status: 200, body };
}

function searchKeyOf(query: string): string {
  return query.split(':')[0] ?? '';
}

/** Every member may read it, like its template. */
function templateVersion({ model, rest: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const found = model.findVersion(id.toLowerCase());
  return found === undefined
    ? NOT_FOUND
    : { status: 200, body: versionAnswer(found.template, found.version, model) };
}

/** Every member may read them, like their version. codersdk.Preset has no JSON names. */
function versionPresets({ model, rest: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const found = model.findVersion(id.toLowerCase());
  if (found === undefined) return NOT_FOUND;
  const body = model.prebuilds.ofVersion(found.version.id).map((preset) => ({
    ID: preset.id,
    Name: preset.name,
    Parameters: [],
    Default: false,
    DesiredPrebuildInstances: preset.instances,
    Description: '',
    Icon: '',
  }));
  return { status: 200, body: body.length === 0 ? null : body };
}

const authorizationRequest = z.object({
  checks: z
    .record(
      z.string(),
      z.object({
        action: z.string(),
        object: z.object({
          resource_type: z.string().default(''),
          /** All organizations if absent or empty. */
          organization_id: z.string().default(''),
        }),
      }),
    )
    .default({}),
});

/**
 * What a role allows, for any owner of the object. Simulated users may read, and some may create and
 * delete provisioner daemons and keys.
 */
function authCheck({ user, body }: UserRequest): Answer {
  const request = authorizationRequest.safeParse(parseQuietly(body));
  if (!request.success) return { status: 400, body: { message: 'Request body must be valid JSON.' } };
  const checks = Object.entries(request.data.checks);
  const untyped = checks.find(([, { object }]) => object.resource_type === '');
  if (untyped !== undefined) {
    const message = `Object's "resource_type" field must be defined for key "${untyped[0]}".`;
    return { status: 400, body: { message } };
  }
  const answers = checks.map(([name, { action, object }]) => [name, isAllowed(user, action, object)]);
  return { status: 200, body: Object.fromEntries(answers) };
}

function isAllowed(
  user: TokenUser,
  action: string,
  object: { readonly resource_type: string; readonly organization_id: string },
): boolean {
  const { resource_type: type, organization_id: organization } = object;
  const keyAction = KEY_ACTIONS.find((each) => each === action);
  if (type === 'provisioner_daemon' && organization !== '' && keyAction !== undefined)
    return mayDoToKeys(user, keyAction, organization);
  return action === 'read' && mayReadAll(user, type, organization);
}

const KEY_ACTIONS: readonly KeyAction[] = ['read', 'create', 'delete'];

/** A role of one organization does not hold for all of them. */
function mayReadAll(user: TokenUser, type: string, organizationId: string): boolean {
  if (organizationId === '') return user.isOwner;
  if (type === 'workspace' || type === 'template') return mayReadWorkspaces(user, organizationId);
  return type === 'provisioner_jobs' && mayRead(user, organizationId);
}
