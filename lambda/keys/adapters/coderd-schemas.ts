/** Schemas of coderd's answers about provisioner keys (docs/internals/coder.md §3). */
import * as z from 'zod';
import { time } from '../../adapters/shared/time.ts';
import type { OrganizationId } from '../../decision/model/brands.ts';
import type { KeyFacts } from '../model/ports.ts';

const organizationId = z.string() as unknown as z.ZodType<OrganizationId, OrganizationId>;

/** codersdk.ProvisionerKey. */
export const keySchema = z
  .object({
    id: z.string(),
    created_at: time,
    organization: organizationId,
    name: z.string(),
    tags: z.record(z.string(), z.string()).nullish(),
  })
  .transform(
    ({ id, created_at, organization, name, tags }): KeyFacts => ({
      id,
      name,
      organization,
      tags: tags ?? {},
      createdAt: created_at,
    }),
  );

/** codersdk.CreateProvisionerKeyResponse. */
export const createdSchema = z.object({ key: z.string().min(1) });

/** codersdk.AuthorizationResponse. */
export const rightsSchema = z.record(z.string(), z.boolean());
