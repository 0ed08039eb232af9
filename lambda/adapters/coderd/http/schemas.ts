/** They drop unknown fields and accept new enum values (docs/internals/coder.md §12). */
import * as z from 'zod';
import type { DaemonId, JobId, OrganizationId } from '../../../decision/model/brands.ts';
import { sharedTags } from '../../../decision/model/tags.ts';
import { mapping } from '../../../shared/mapping.ts';
import { time } from '../../shared/time.ts';

export function listPath(
  { id }: { readonly id: OrganizationId },
  list: 'members' | 'provisionerdaemons' | 'provisionerjobs' | 'provisionerkeys',
): string {
  return `/api/v2/organizations/${encodeURIComponent(id)}/${list}`;
}

/** The path of the builds of a workspace. */
export function buildsPath(workspaceId: string): string {
  return `/api/v2/workspaces/${encodeURIComponent(workspaceId)}/builds`;
}

/** An id, which may be part of a path. JSON can have half characters, which a path cannot. */
const id = z.string().overwrite((text) => text.toWellFormed());
const branded = <T extends string>(): z.ZodType<T, T> => id as unknown as z.ZodType<T, T>;
/** One object for equal tags: thousands of jobs and workspaces share a few tag sets. */
const tags = mapping(z.string(), z.string()).overwrite(sharedTags);

const HUNG = 'Coder: Build has been detected as hung';

/** Without its text, which may hold secrets. `hung`: the reaper failed it (docs/internals/coder.md §5). */
const jobError = z.codec(z.string(), z.enum(['hung', 'other']), {
  decode: (text) => (text.startsWith(HUNG) ? 'hung' : 'other'),
  encode: (error) => (error === 'hung' ? HUNG : 'other'),
});

/** Old servers leave out names, and other kinds of jobs have none. */
export const jobMetadataSchema = z.object({
  workspace_id: id.nullish(),
  workspace_name: z.string().nullish(),
  template_id: z.string().nullish(),
  template_name: z.string().nullish(),
  workspace_build_transition: z.string().nullish(),
});

/** docs/internals/coder.md §1. */
export const jobSchema = z.object({
  id: branded<JobId>(),
  created_at: time,
  started_at: time.nullish(),
  completed_at: time.nullish(),
  canceled_at: time.nullish(),
  error: jobError.nullish(),
  status: z.string(),
  worker_id: branded<DaemonId>().nullish(),
  worker_name: z.string().nullish(),
  organization_id: branded<OrganizationId>(),
  initiator_id: z.string().nullish(),
  tags,
  type: z.string(),
  reason: z.string().nullish(),
  metadata: jobMetadataSchema.nullish(),
});

const jobRef = z.object({ id: branded<JobId>(), status: z.string() });

/** docs/internals/coder.md §2. */
export const daemonSchema = z.object({
  id: branded<DaemonId>(),
  organization_id: branded<OrganizationId>(),
  key_id: z.string().nullish(),
  key_name: z.string().nullish(),
  created_at: time,
  last_seen_at: time.nullish(),
  name: z.string(),
  version: z.string().nullish(),
  tags,
  status: z.string().nullish(),
  current_job: jobRef.nullish(),
  previous_job: jobRef.nullish(),
});

/** Go's zero time. coderd writes it for "no time". */
const noTime = z.codec(z.literal('0001-01-01T00:00:00Z'), z.null(), {
  decode: () => null,
  encode: () => '0001-01-01T00:00:00Z' as const,
});
const maybeTime = z.union([noTime, time], { error: 'expected an RFC 3339 time' }).nullish();

/** docs/internals/coder.md §10. */
export const workspaceSchema = z.object({
  id: z.string(),
  organization_id: branded<OrganizationId>(),
  template_id: z.string(),
  name: z.string().nullish(),
  owner_id: z.string().nullish(),
  owner_name: z.string().nullish(),
  automatic_updates: z.string().nullish(),
  template_require_active_version: z.boolean().nullish(),
  outdated: z.boolean().nullish(),
  is_prebuild: z.boolean().nullish(),
  autostart_schedule: z.string().nullish(),
  next_start_at: maybeTime,
  last_used_at: maybeTime,
  dormant_at: maybeTime,
  deleting_at: maybeTime,
  latest_build: z.object({
    build_number: z.number().nullish(),
    created_at: maybeTime,
    transition: z.string(),
    reason: z.string().nullish(),
    deadline: maybeTime,
    max_deadline: maybeTime,
    initiator_id: z.string().nullish(),
    job: z.object({
      id: branded<JobId>().nullish(),
      status: z.string(),
      created_at: maybeTime,
      started_at: maybeTime,
      completed_at: maybeTime,
      worker_id: branded<DaemonId>().nullish(),
      tags: tags.nullish(),
    }),
  }),
});

/** codersdk.OrganizationMemberWithUserData without names and addresses. */
export const memberSchema = z.object({
  user_id: z.string(),
  status: z.string().nullish(),
  user_updated_at: maybeTime,
});

/** docs/internals/coder.md §10, without `build_time_stats`, whose keys differ between releases and docs. */
export const templateSchema = z.object({
  id: z.string(),
  organization_id: branded<OrganizationId>(),
  active_version_id: id,
  name: z.string().nullish(),
  deprecated: z.boolean().nullish(),
  updated_at: maybeTime,
  allow_user_autostart: z.boolean().nullish(),
  autostart_requirement: z.object({ days_of_week: z.array(z.string()).nullish() }).nullish(),
  failure_ttl_ms: z.number().nullish(),
  time_til_dormant_ms: z.number().nullish(),
  time_til_dormant_autodelete_ms: z.number().nullish(),
});

/** `name` is used in messages. */
export const listedTemplateSchema = templateSchema.extend({ name: z.string() });

/** By template id. */
export const activeVersionTagsSchema = mapping(z.string(), tags);

/** docs/internals/coder.md §10: `GET /api/v2/templateversions/{id}`. */
export const templateVersionSchema = z.object({ job: z.object({ tags }) });

/** codersdk.AuthorizationResponse: by name of the check, whether the token's user is allowed. */
export const authorizationSchema = mapping(z.string(), z.boolean());

/** docs/internals/coder.md §9. */
export const buildInfoSchema = z.object({ version: z.string() });

export const organizationSchema = z.object({ id: branded<OrganizationId>(), name: z.string() });

/** Error bodies (docs/internals/coder.md §9). */
export const errorSchema = z.object({
  message: z.string(),
  detail: z.string().nullish(),
  validations: z.array(z.object({ field: z.string(), detail: z.string() })).nullish(),
});

/** codersdk.APIKey without its secret. */
export const apiKeySchema = z.object({ created_at: time, expires_at: time, lifetime_seconds: z.number() });

/** codersdk.User. */
export const userSchema = z.object({
  id: z.string(),
  username: z.string(),
  roles: z.array(z.object({ name: z.string() })).nullish(),
});

/** codersdk.Entitlements (docs/internals/coder.md §3). */
export const entitlementsSchema = z.object({
  features: z.object({
    external_provisioner_daemons: z.object({ enabled: z.boolean(), entitlement: z.string() }).optional(),
  }),
});

/** codersdk.ProvisionerKey (docs/internals/coder.md §3). Its field is `organization`, without `_id`. */
export const provisionerKeySchema = z.object({
  id: z.string().nullish(),
  name: z.string(),
  organization: branded<OrganizationId>(),
  tags: tags.nullish(),
});

/** The same, in a list of keys, or of a key that asks about itself. */
export const listedKeySchema = provisionerKeySchema.extend({ id: z.string(), created_at: time });
