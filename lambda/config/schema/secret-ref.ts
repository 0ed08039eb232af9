/** How a configuration refers to a secret: by its name or ARN in Secrets Manager, never by its value. */
import * as z from 'zod';
import { looksLikeSecret } from '../problems/shown.ts';
import type { Kind } from './kinds.ts';

/** Names in Secrets Manager have letters, digits and /_+=.@-; an ARN ends with such a name. */
const SECRET_NAME = /^(?:arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:)?[A-Za-z0-9/_+=.@-]{1,512}$/;
const PASTED = 'looks like the secret itself; store it in AWS Secrets Manager and write its name or ARN here';

/** The value of a pool's `key` if the key function makes the key (docs/adr/0032). */
export const MANAGED = 'managed';

export const secretRef = (description: string, example: string) =>
  z
    .strictObject({
      secret: z
        .string()
        .refine((text) => !looksLikeSecret(text), PASTED)
        .regex(SECRET_NAME, 'is not the name or ARN of a secret in AWS Secrets Manager')
        .meta({ description: 'Name or ARN of a secret in AWS Secrets Manager.' }),
      jsonKey: z
        .string()
        .regex(/^[^\s:]+$/, 'is not the name of a JSON key; write one without spaces and colons')
        .meta({ description: 'If the secret is a JSON document, the key of the value to use.' })
        .optional(),
    })
    .meta({
      title: 'secret reference' satisfies Kind,
      description,
      examples: [{ secret: example }],
      isPrivate: true,
      isReplayed: false,
    });
