/** What coderd answers, as far as it is used. Unknown fields are dropped, new enum values pass (contract §12). */
import * as z from 'zod';
import type { DaemonId, JobId, OrganizationId } from '../../core/brands.ts';
import { time } from '../time.ts';

const branded = <T extends string>(): z.ZodType<T, T> => z.string() as unknown as z.ZodType<T, T>;
const tags = z.record(z.string(), z.string());

/** Contract §1. */
export const jobSchema = z.object({
  id: branded<JobId>(),
  created_at: time,
  started_at: time.nullish(),
  completed_at: time.nullish(),
  canceled_at: time.nullish(),
  status: z.string(),
  worker_id: branded<DaemonId>().nullish(),
  organization_id: branded<OrganizationId>(),
  initiator_id: z.string().nullish(),
  tags,
  type: z.string(),
});

const jobRef = z.object({ id: branded<JobId>(), status: z.string() });

/** Contract §2. */
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

/** Contract §9. */
export const buildInfoSchema = z.object({ version: z.string() });

export const organizationSchema = z.object({ id: branded<OrganizationId>(), name: z.string() });

/** Error bodies (contract §9). */
export const errorSchema = z.object({ message: z.string(), detail: z.string().nullish() });
