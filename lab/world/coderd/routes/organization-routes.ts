/** The lists of organizations, jobs and daemons. */

import { KeptRows } from '../../base/kept-rows.ts';
import type { CoderdModel } from '../model.ts';
import { rfc3339 } from '../queries/times.ts';
import { costOfJobs } from '../rules/database.ts';
import type { Organization } from '../tables/organizations.ts';
import { holds } from '../tables/tokens.ts';
import {
  type Answer,
  badUuid,
  invalid,
  isUuid,
  NOT_FOUND,
  type OrganizationRequest,
  type UserRequest,
} from './request.ts';

const DEFAULT_LIMIT = 50;
const INVALID_PARAMETERS = 'Invalid query parameters.';
const JOB_STATUSES = ['pending', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'unknown'];
const DAEMON_STATUSES = ['offline', 'idle', 'busy'];

const organizationRows = new KeptRows<Organization>();

export function organizations({ model }: UserRequest): Answer {
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

export function jobList(request: OrganizationRequest): Answer {
  return findJobs(request, undefined);
}

export function oneJob(request: OrganizationRequest): Answer {
  const id = request.ids[0] ?? '';
  if (!isUuid(id)) return badUuid(id);
  const answer = findJobs(request, id.toLowerCase());
  if (answer.status !== 200 || !Array.isArray(answer.body)) return answer;
  return answer.body.length === 0 ? NOT_FOUND : { status: 200, body: answer.body[0] };
}

function findJobs(request: OrganizationRequest, id: string | undefined): Answer {
  const { model, user, organization, parameters } = request;
  if (!holds(user.canRead, organization.id)) return NOT_FOUND;
  const query = {
    organizationId: organization.id,
    limit: parameters.positiveInt32('limit', DEFAULT_LIMIT),
    statuses: parameters.strings('status'),
    ids: id === undefined ? parameters.uuids('ids') : [id],
    tags: parameters.tags('tags'),
    initiatorId: model.version.does('knowsInitiators') ? parameters.uuid('initiator') : undefined,
  };
  const errors = parameters.errors();
  if (errors.length > 0) return invalid(errors, INVALID_PARAMETERS);
  const unknown = query.statuses.find((status) => !JOB_STATUSES.includes(status));
  if (unknown !== undefined) return badEnum('jobs', 'provisioner_job_status', unknown);
  const body = model.listJobs(query);
  const daemons = model.daemons().filter(({ organizationId }) => organizationId === organization.id).length;
  return { status: 200, body, cost: costOfJobs(body, { daemons }) };
}

export function daemonList(request: OrganizationRequest): Answer {
  const { model, user, organization, parameters } = request;
  if (!holds(user.canRead, organization.id)) return NOT_FOUND;
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

/** coderd does not check the value before Postgres refuses it (docs/internals/coder.md §1). */
function badEnum(what: 'jobs' | 'daemons', type: string, value: string): Answer {
  const detail = `fetch object: pq: invalid input value for enum ${type}: "${value}"`;
  return { status: 500, body: { message: `Internal error fetching provisioner ${what}.`, detail } };
}
