/** Templates, their versions and files (codersdk of 2.30, docs/internals/coder.md §10). */
import { z } from 'zod';
import type { JobId } from '../../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../../lambda/decision/model/parse-quietly.ts';
import { tagKey } from '../../../../lambda/decision/model/tags.ts';
import { WEEKDAYS } from '../../../../lambda/decision/model/zones.ts';
import { mapping } from '../../../../lambda/shared/mapping.ts';
import type { CoderdModel } from '../model.ts';
import { rfc3339 } from '../queries/times.ts';
import { CoderdRefusal } from '../rules/refusal.ts';
import { type JobRecord, pastJob } from '../tables/jobs.ts';
import type { TemplateRecord, TemplateVersion } from '../tables/templates.ts';
import { holds } from '../tables/tokens.ts';
import {
  type Answer,
  badUuid,
  invalid,
  isUuid,
  NOT_FOUND,
  type OrganizationRequest,
  searchKeyOf,
  type UserRequest,
} from './request.ts';

/** Every member may read templates. Deprecated ones are listed only on request, and then alone. */
export function templates({ model, parameters }: UserRequest): Answer {
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

export function templateVersion({ model, ids: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const found = model.findVersion(id.toLowerCase());
  return found === undefined
    ? NOT_FOUND
    : { status: 200, body: versionAnswer(found.template, found.version, model) };
}

/** The lines of its import, as far as the world was told them. */
export function templateVersionLogs({ model, ids: [id = ''] }: UserRequest): Answer {
  if (!isUuid(id)) return badUuid(id);
  const found = model.findVersion(id.toLowerCase());
  if (found === undefined) return NOT_FOUND;
  const created_at = rfc3339(found.version.createdAt);
  const common = {
    created_at,
    log_source: 'provisioner',
    log_level: 'info',
    stage: 'Initializing Terraform Directory',
  };
  const { id: version, fileId } = found.version;
  const lines = model.importLogs.get(version) ?? model.importPrints(model.file(fileId ?? '') ?? '');
  return { status: 200, body: lines.map((output, index) => ({ id: index + 1, ...common, output })) };
}

/** Only its text: imports sleep as long as it says. The header with the media type is not checked. */
export function uploadFile({ model, body }: UserRequest): Answer {
  return { status: 201, body: { hash: model.addFile(body) } };
}

const newVersion = z.object({
  message: z.string(),
  storage_method: z.literal('file'),
  file_id: z.string(),
  provisioner: z.literal('terraform'),
  tags: mapping(z.string(), z.string()),
});

/** Template admins of the organization only, who are here those that may read its workspaces. */
export function createVersion({ model, user, organization, body }: OrganizationRequest): Answer {
  if (!holds(user.canReadWorkspaces, organization.id)) return NOT_FOUND;
  const asked = newVersion.safeParse(parseQuietly(body));
  if (!asked.success) return { status: 400, body: { message: 'Request body must be valid JSON.' } };
  const { file_id: fileId, tags } = asked.data;
  const file = model.file(fileId);
  if (file === undefined) return { status: 404, body: { message: 'File not found.' } };
  // the import plans a start and a stop
  const durationMs = 2000 * Number(/sleep (\d+)/.exec(file)?.[1] ?? 5);
  const { id } = model.importVersion({ organization: organization.name, fileId, tags, durationMs });
  const found = model.findVersion(id);
  return found === undefined
    ? NOT_FOUND
    : { status: 201, body: versionAnswer(found.template, found.version, model) };
}

export function cancelVersion({ model, ids: [id = ''] }: UserRequest): Answer {
  const found = model.findVersion(id);
  const job = found && model.importOf(found.version);
  if (job === undefined) return NOT_FOUND;
  try {
    model.cancelJob(job.id);
    return { status: 200, body: { message: 'Job has been marked as canceled...' } };
  } catch (cause) {
    if (!(cause instanceof CoderdRefusal)) throw cause;
    return { status: cause.status, body: { message: cause.message } };
  }
}

/** Monday first, as coderd lists them. */
const WEEK = [...WEEKDAYS.slice(1), ...WEEKDAYS.slice(0, 1)];

function templateAnswer(template: TemplateRecord, model: CoderdModel) {
  return {
    id: template.id,
    created_at: rfc3339(template.createdAt),
    updated_at: rfc3339(template.updatedAt),
    organization_id: template.organizationId,
    organization_name: model.organizations.inPath(template.organizationId)?.name,
    organization_display_name: '',
    organization_icon: '',
    name: template.name,
    display_name: '',
    provisioner: 'terraform',
    active_version_id: template.activeVersion.id,
    active_user_count: 0,
    build_time_stats: buildTimeStats(template),
    description: '',
    deprecated: template.deprecated !== '',
    deprecation_message: template.deprecated,
    deleted: false,
    icon: '',
    default_ttl_ms: template.defaultTtlMs,
    activity_bump_ms: template.activityBumpMs,
    autostop_requirement: { days_of_week: [], weeks: 1 },
    autostart_requirement: { days_of_week: WEEK.filter((day) => template.autostartDays.includes(day)) },
    created_by_id: model.userId,
    created_by_name: model.user(model.userId)?.username,
    allow_user_autostart: true,
    allow_user_autostop: true,
    allow_user_cancel_workspace_jobs: false,
    failure_ttl_ms: template.failureTtlMs,
    time_til_dormant_ms: template.timeTilDormantMs,
    time_til_dormant_autodelete_ms: template.timeTilDormantAutodeleteMs,
    require_active_version: template.requireActiveVersion,
    max_port_share_level: 'public',
    cors_behavior: 'simple',
    use_classic_parameter_flow: false,
    disable_module_cache: false,
    time_til_autostop_notify_ms: 0,
  };
}

/** TransitionStats has no JSON names, so its keys are upper-case, unlike in the OpenAPI document. */
function buildTimeStats({ buildMs }: TemplateRecord) {
  return Object.fromEntries(
    Object.entries(buildMs).map(([transition, ms]) => [transition, { P50: ms, P95: ms }]),
  );
}

function versionAnswer(template: TemplateRecord, version: TemplateVersion, model: CoderdModel) {
  return {
    id: version.id,
    template_id: template.id,
    organization_id: template.organizationId,
    created_at: rfc3339(version.createdAt),
    updated_at: rfc3339(version.createdAt),
    name: version.name,
    message: '',
    job: model.answerOf(model.importOf(version) ?? importJob(template, version, model.userId)),
    readme: '',
    created_by: { id: model.userId, username: model.user(model.userId)?.username },
    archived: false,
    has_external_agent: false,
  };
}

/** The import job of a version. It has the version's id, because nothing else refers to it. */
function importJob(template: TemplateRecord, version: TemplateVersion, initiatorId: string): JobRecord {
  return pastJob({
    id: version.id as JobId,
    createdAt: version.createdAt,
    organizationId: template.organizationId,
    initiatorId,
    tags: version.tags,
    tagKey: tagKey(version.tags),
    type: 'template_version_import',
    transition: undefined,
    template,
    version,
    workspace: undefined,
    durationMs: 0,
    willFail: false,
  });
}
