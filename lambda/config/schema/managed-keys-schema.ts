/** The section `managedKeys`: the provisioner keys that the stack creates and rotates. */
import * as z from 'zod';
import { secretRef } from './secret-ref.ts';

const EXAMPLE = { token: { secret: 'coder/key-manager-token' } };

/** AWS rotates a secret every 1 to 1000 days; a year is the longest that is any use for a key. */
const ROTATION_DAYS = { least: 1, most: 365 };

export const managedKeys = z
  .strictObject({
    token: secretRef(
      'Secret that holds the API token with which the key function creates, reads and deletes provisioner keys. Its user needs the role organization template admin in the organization of each pool with `key: managed`.',
      'coder/key-manager-token',
    ),
    rotateAfterDays: z
      .int()
      .min(ROTATION_DAYS.least)
      .max(ROTATION_DAYS.most)
      .default(30)
      .meta({ description: 'Days after which a managed key is replaced by a new one.' }),
  })
  .meta({
    description: 'How the stack manages the keys of pools with `key: managed`. Such a pool needs it.',
    examples: [EXAMPLE],
  });
