/** A snapshot as a JSON document (docs/internals/architecture.md, "The snapshot"), both ways. */
import * as z from 'zod';
import type { OrganizationId, PoolName, TaskArn } from '../decision/model/brands.ts';
import type { Snapshot } from '../decision/model/snapshot.ts';
import type { TagSet } from '../decision/model/tags.ts';
import { mapping } from '../shared/mapping.ts';
import {
  activeVersionTagsSchema,
  buildInfoSchema,
  daemonSchema,
  jobSchema,
  memberSchema,
  templateSchema,
  workspaceSchema,
} from './coderd/http/schemas.ts';
import { protectionSchema, serviceSchema, taskSchema } from './ecs/schemas.ts';
import { secretEntrySchema } from './secrets/schemas.ts';
import { describeSchemaMismatch } from './shared/schema-mismatch.ts';
import { time } from './shared/time.ts';

const reading = <T extends z.ZodType>(item: T) =>
  z.object({
    status: z.enum(['ok', 'truncated', 'forbidden', 'failed', 'stale']),
    error: z.string().optional(),
    takenAt: time.optional(),
    limit: z.int().optional(),
    tookMs: z.number().nonnegative().optional(),
    items: z.array(item),
    leftOut: z.array(z.object({ row: z.string(), why: z.string(), of: z.string().optional() })).optional(),
  });

const stockChoiceSchema = z.object({
  organizationId: z.string() as unknown as z.ZodType<OrganizationId, OrganizationId>,
  pools: z.array(z.string() as unknown as z.ZodType<PoolName, PoolName>),
  rule: z.object({
    free: z.int(),
    spareMs: z.number(),
    afterBuildMs: z.number().nullable(),
    countsBusy: z.boolean(),
  }),
  builds: z.int(),
  hours: z.number(),
  tasks: z.number(),
  waiting: z.number(),
  waitingNow: z.number().optional(),
  stays: z.object({ daemons: z.int(), until: z.number() }).optional(),
  seenAt: z.number().optional(),
  others: z.array(z.object({ free: z.int(), dollars: z.number() })),
  startMs: z.number().positive().optional(),
});

/** A choice of another form, of an earlier release, is left out: a process chooses again. */
export const stockChoices = z.codec(z.array(z.unknown()), z.array(stockChoiceSchema), {
  decode: (choices) => choices.flatMap((choice) => stockChoiceSchema.safeParse(choice).data ?? []),
  encode: (choices) => choices,
});

const snapshotSchema = z.object({
  version: z.literal(1),
  takenAt: time,
  clock: time.exactOptional(),
  coder: z.object({
    buildInfo: buildInfoSchema.optional(),
    token: z.object({ expiresAt: time }).optional(),
    license: z.enum(['entitled', 'grace_period', 'not_entitled']).optional(),
    unlicensedAt: time.exactOptional(),
    organizations: z.array(
      z.object({
        id: z.string() as unknown as z.ZodType<OrganizationId, OrganizationId>,
        name: z.string(),
        jobs: reading(jobSchema),
        daemons: reading(daemonSchema),
        previousJobs: reading(jobSchema),
        recentJobs: reading(jobSchema).exactOptional(),
        workspaces: reading(workspaceSchema).exactOptional(),
        templates: reading(templateSchema).exactOptional(),
        activeVersionTags: activeVersionTagsSchema.exactOptional(),
        members: reading(memberSchema).optional(),
        offlineDaemons: reading(daemonSchema).optional(),
      }),
    ),
  }),
  ecs: z.object({
    cluster: z.string(),
    stack: z.string().exactOptional(),
    ownsCluster: z.boolean().optional(),
    services: reading(
      serviceSchema.extend({
        changedFrom: z.int().exactOptional(),
        changesByOthers: z.array(time).exactOptional(),
        shortage: z
          .object({ lastedMs: z.int().nonnegative(), until: time, changedAt: time.optional() })
          .exactOptional(),
      }),
    ),
    tasks: reading(taskSchema),
    protections: reading(protectionSchema),
  }),
  secrets: reading(secretEntrySchema).optional(),
  canHandOver: z.boolean().optional(),
  remembered: z
    .object({
      pools: z
        .array(
          z.object({
            pool: z.string() as unknown as z.ZodType<PoolName, PoolName>,
            known: z
              .object({ at: time, tasks: z.number(), registered: z.number(), mayStart: z.number() })
              .optional(),
            unreadSince: time.optional(),
          }),
        )
        .optional(),
      mismatches: mapping(z.string(), time),
      refused: z.array(z.string() as unknown as z.ZodType<TaskArn, TaskArn>),
      heartbeats: z
        .array(
          z.object({
            organizationId: z.string() as unknown as z.ZodType<OrganizationId, OrganizationId>,
            late: z.object({ since: time, at: time }).optional(),
            oldAt: time.optional(),
          }),
        )
        .optional(),
    })
    .optional(),
  stock: z
    .object({
      tagSets: z.array(
        z.object({
          organizationId: z.string() as unknown as z.ZodType<OrganizationId, OrganizationId>,
          tags: mapping(z.string(), z.string()) as unknown as z.ZodType<TagSet, TagSet>,
          lastBuildAt: time.optional(),
          durationsMs: z.array(z.number()).optional(),
        }),
      ),
      choices: stockChoices,
    })
    .optional(),
});

/** A document is not a snapshot. The message names the wrong fields. */
class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/** Makes a snapshot from a parsed JSON document. Throws SnapshotError. */
export function parseSnapshot(value: unknown): Snapshot {
  const result = snapshotSchema.safeDecode(value as z.input<typeof snapshotSchema>);
  if (result.success) return result.data;
  throw new SnapshotError(`reading the snapshot: ${describeSchemaMismatch(result.error, value)}`, {
    cause: result.error,
  });
}

/** The JSON document of a snapshot. It has only the fields that the schema names. */
export function snapshotToJson(snapshot: Snapshot): unknown {
  return snapshotSchema.encode(snapshot as z.output<typeof snapshotSchema>);
}
