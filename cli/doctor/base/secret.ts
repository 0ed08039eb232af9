/** Reads secrets with the permissions of the person who runs the command. */
import { SecretError, type Secrets } from '../../../lambda/adapters/secrets/secrets.ts';
import type { Secret } from '../../../lambda/adapters/shared/secret.ts';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';
import { type Check, fail, warn } from './check.ts';

/** The value, or the check that says why there is none. */
export type SecretReading =
  | { readonly value: Secret }
  | {
      readonly check: Check;
      /** This machine cannot read any secret: its Region, credentials or network are missing. */
      readonly isEverywhere: boolean;
    };

/** Reads a secret. `reader` names the role that reads it in production. */
export async function readSecret(
  secrets: Secrets,
  ref: SecretRef,
  { name, reader }: { readonly name: string; readonly reader: string },
): Promise<SecretReading> {
  try {
    return { value: await secrets.read(ref) };
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    if (cause.code !== 'denied')
      return { check: fail(name, cause.message), isEverywhere: cause.code === 'unreachable' };
    return {
      isEverywhere: false,
      check: warn(
        name,
        `not checked: you have no permission to read secret "${ref.secret}". In production ${reader} reads it. For this check you need secretsmanager:GetSecretValue, and kms:Decrypt if the secret has its own key`,
      ),
    };
  }
}
