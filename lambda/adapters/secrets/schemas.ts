/** Schemas of the metadata of secrets, in the names of the SDK. They have no field for a value. */
import * as z from 'zod';
import { mapping } from '../../shared/mapping.ts';
import { time } from '../shared/time.ts';

const versionSchema = z.object({
  VersionId: z.string(),
  VersionStages: z.array(z.string()).default([]),
  CreatedDate: time.optional(),
});

export const versionsSchema = z.array(versionSchema);

/** One secret, as the snapshot has it. */
export const secretEntrySchema = z.object({
  ARN: z.string(),
  Name: z.string(),
  CreatedDate: time.optional(),
  LastChangedDate: time.optional(),
  CurrentSince: time.optional(),
  Tags: z.array(z.object({ Key: z.string(), Value: z.string() })).default([]),
  Versions: versionsSchema.optional(),
});

/** One item of ListSecrets. `SecretVersionsToStages`: the stages by version id. */
export const listedSecretSchema = secretEntrySchema
  .omit({ CurrentSince: true, Versions: true })
  .extend({ SecretVersionsToStages: mapping(z.string(), z.array(z.string())).optional() });

export type ListedSecret = z.output<typeof listedSecretSchema>;
