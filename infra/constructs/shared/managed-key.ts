import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IDependable } from 'constructs';

/** The secret of a pool's managed key, and what has to exist before it has a value. */
export type ManagedKey = { readonly secret: ISecret; readonly ready: IDependable };

/** The field of the secret's JSON value that holds the key. The key function writes it. */
export const KEY_FIELD = 'key';
