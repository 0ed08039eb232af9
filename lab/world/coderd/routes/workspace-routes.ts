/** Workspaces and their builds (coderd/workspacebuilds.go). */

import { KeptRows } from '../../base/kept-rows.ts';
import type { CoderdModel } from '../model.ts';
import type { JobAnswer } from '../queries/job-list.ts';
import { optionalTime, rfc3339 } from '../queries/times.ts';
import { COST_OF_BUILDS, costOfWorkspaces } from '../rules/database.ts';
import type { JobStatus } from '../tables/jobs.ts';
import type { Transition } from '../tables/templates.ts';
import { holds } from '../tables/tokens.ts';
import type { BuildRecord, WorkspaceRecord } from '../tables/workspace-records.ts';
import { isRunning } from '../tables/workspaces.ts';
import {
  type Answer,
  badUuid,
  invalid,
  isUuid,
  NOT_FOUND,
  type QueryParameters,
  searchKeyOf,
  type UserRequest,
} from './request.ts';

/** Lists and counts what the user may read. Any query is refused, as coderd refuses unknown keys. */
export function workspaces({ model, user, parameters }: UserRequest): Answer {
  const { errors, pageOf } = readPage(parameters);
  if (errors.length > 0) return invalid(errors, INVALID_PAGE);
  const [field] = parameters.strings('q').map(searchKeyOf);
  if (field !== undefined)
    return invalid(
      [{ field, detail: `"${field}" is not a valid query param` }],
      'Invalid workspace search query.',
    );
  const readable = model.workspaces
    .inListOrder()
    .filter(({ organizationId }) => holds(user.canReadWorkspaces, organizationId));
  const body = {
    workspaces: pageOf(readable).map((workspace) => workspaceAnswer(workspace, model)),
    count: readable.length,
  };
  return { status: 200, body, cost: costOfWorkspaces(readable.length) };
}

const INVALID_PAGE = 'Query parameters have invalid values.';

/** A `limit` of 0 means all. */
function readPage(parameters: QueryParameters) {
  const afterId = parameters.uuid('after_id');
  const limit = parameters.positiveInt32('limit', 0);
  const offset = parameters.positiveInt32('offset', 0);
  const pageOf = <T>(all: readonly T[]) => all.slice(offset, limit === 0 ? undefined : offset + limit);
  return { afterId, errors: parameters.invalid(), pageOf };
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Newest first, also for deleted workspaces. `limit` 0: all. Only newer builds than `after_id` follow. */
export function workspaceBuilds({ model, user, parameters, ids: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const builds = model.buildsOf(id.toLowerCase());
  const [first] = builds;
  if (first === undefined || !holds(user.canReadWorkspaces, first.job.organizationId)) return NOT_FOUND;
  const { afterId, errors, pageOf } = readPage(parameters);
  if (errors.length > 0) return invalid(errors, INVALID_PAGE);
  const [since] = parameters.strings('since');
  if (since !== undefined && !RFC3339.test(since))
    return { status: 400, body: { message: 'bad `since` format, must be RFC3339' } };
  const after = builds.find((build) => build.id === afterId);
  if (afterId !== undefined && after === undefined)
    return { status: 400, body: { message: `Record at "after_id" ("${afterId}") does not exist.` } };
  const isAsked = ({ createdAt, number }: BuildRecord): boolean =>
    (since === undefined || createdAt > Date.parse(since)) && number > (after?.number ?? 0);
  const page = pageOf(builds.filter(isAsked).toReversed());
  const body = page.map((build) => buildAnswer(build, { id, name: build.job.workspace?.name ?? '' }, model));
  return { status: 200, body, cost: COST_OF_BUILDS };
}

/** The status of a workspace while the job of its latest build runs, and after it has succeeded. */
const STATUSES: Readonly<Record<Transition, { readonly running: string; readonly succeeded: string }>> = {
  start: { running: 'starting', succeeded: 'running' },
  stop: { running: 'stopping', succeeded: 'stopped' },
  delete: { running: 'deleting', succeeded: 'deleted' },
};

const workspaceRows = new KeptRows<WorkspaceRecord>();

function workspaceAnswer(workspace: WorkspaceRecord, model: CoderdModel) {
  const { latestBuild, owner, template, schedule, ttlMs, keepsVersion, prebuilt } = workspace;
  const { lastUsedAt, nextStartAt, dormantAt, deletingAt } = workspace;
  const build = buildAnswer(latestBuild, workspace, model);
  const shown = [
    build,
    owner,
    schedule,
    ttlMs,
    keepsVersion,
    prebuilt,
    lastUsedAt,
    nextStartAt,
    dormantAt,
    deletingAt,
    template.activeVersion,
    template.requireActiveVersion,
  ];
  return workspaceRows.of(workspace, shown, () => makeWorkspace(workspace, build, model));
}

function makeWorkspace(workspace: WorkspaceRecord, build: ReturnType<typeof makeBuild>, model: CoderdModel) {
  const { id, name, organizationId, owner, template, latestBuild } = workspace;
  return {
    id,
    created_at: rfc3339(workspace.createdAt),
    updated_at: rfc3339(latestBuild.createdAt),
    owner_id: owner.id,
    owner_name: owner.username,
    owner_avatar_url: '',
    organization_id: organizationId,
    organization_name: model.organizations.inPath(organizationId)?.name,
    template_id: template.id,
    template_name: template.name,
    template_display_name: '',
    template_icon: '',
    template_allow_user_cancel_workspace_jobs: false,
    template_active_version_id: template.activeVersion.id,
    template_require_active_version: template.requireActiveVersion,
    template_use_classic_parameter_flow: false,
    latest_build: build,
    latest_app_status: null,
    outdated: latestBuild.version !== template.activeVersion,
    name,
    autostart_schedule: workspace.schedule,
    ttl_ms: workspace.ttlMs === 0 ? undefined : workspace.ttlMs,
    last_used_at: rfc3339(workspace.lastUsedAt),
    deleting_at: nullableTime(workspace.deletingAt),
    dormant_at: nullableTime(workspace.dormantAt),
    health: { healthy: true, failing_agents: [] },
    automatic_updates: workspace.keepsVersion ? 'never' : 'always',
    allow_renames: false,
    favorite: false,
    next_start_at: nullableTime(workspace.nextStartAt),
    is_prebuild: model.version.does('tellsPrebuilds') ? workspace.prebuilt : undefined,
  };
}

type Named = { readonly id: string; readonly name: string };

const buildRows = new KeptRows<BuildRecord>();

function buildAnswer(build: BuildRecord, workspace: Named, model: CoderdModel) {
  const job = model.answerOf(build.job);
  const shown = [job, build.deadline, workspace.name];
  return buildRows.of(build, shown, () => makeBuild(build, workspace, job, model));
}

function makeBuild(build: BuildRecord, workspace: Named, job: JobAnswer, model: CoderdModel) {
  // The prebuilds user has no row.
  const userOf = (id: string) => ({ id, name: model.user(id)?.username ?? 'prebuilds' });
  const initiator = userOf(build.job.initiatorId);
  const owner = userOf(build.job.workspace?.ownerId ?? build.job.initiatorId);
  return {
    id: build.id,
    created_at: rfc3339(build.createdAt),
    updated_at: rfc3339(build.createdAt),
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    workspace_owner_id: owner.id,
    workspace_owner_name: owner.name,
    template_version_id: build.version.id,
    template_version_name: build.version.name,
    build_number: build.number,
    transition: build.transition,
    initiator_id: initiator.id,
    initiator_name: initiator.name,
    job,
    reason: build.reason,
    resources: isRunning(build) ? [resource(build)] : [],
    deadline: nullableTime(build.deadline),
    max_deadline: null,
    status: statusOf(build.transition, build.job.status),
    daily_cost: 0,
    template_version_preset_id: model.version.does('tellsPresets') ? (build.presetId ?? null) : undefined,
  };
}

/** Most of a real answer is in here: agents with their apps, scripts and log sources. */
function resource({ id, createdAt, job }: BuildRecord) {
  return {
    id,
    created_at: rfc3339(createdAt),
    job_id: job.id,
    workspace_transition: 'start',
    type: 'docker_container',
    name: 'workspace',
    hide: false,
    icon: '/emojis/1f4e6.png',
    agents: [
      {
        name: 'main',
        status: 'connected',
        lifecycle_state: 'ready',
        architecture: 'amd64',
        operating_system: 'linux',
        directory: '/home/coder',
        apps: [
          { slug: 'code-server', display_name: 'code-server', health: 'healthy', sharing_level: 'owner' },
        ],
      },
    ],
    metadata: [{ key: 'image', value: 'codercom/enterprise-base:ubuntu', sensitive: false }],
    daily_cost: 0,
  };
}

/** The status of a workspace, as coderd's convertWorkspaceStatus derives it. */
function statusOf(transition: Transition, job: JobStatus): string {
  return job === 'running' || job === 'succeeded' ? STATUSES[transition][job] : job;
}

/** A time as coderd's NullTime writes it: `null` instead of absent. */
function nullableTime(time: number | undefined): string | null {
  return optionalTime(time) ?? null;
}
