/** Secrets, read with the rights of the person who asks. */
import { SecretError, type Secrets } from '../../lambda/adapters/secrets/secrets.ts';
import type { SecretRef } from '../../lambda/decision/model/config.ts';
import { type Check, fail, warn } from './check.ts';

/** The value, or what is to be said of the lack of it. */
export type SecretReading = { readonly value: string } | { readonly check: Check };

/** `reader`: whose role reads it in production. */
export async function readSecret(
  secrets: Secrets,
  ref: SecretRef,
  { name, reader }: { readonly name: string; readonly reader: string },
): Promise<SecretReading> {
  try {
    return { value: await secrets.read(ref) };
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    if (cause.code !== 'denied') return { check: fail(name, cause.message) };
    return {
      check: warn(
        name,
        `you may not read secret "${ref.secret}"; ${reader} reads it, not you: to have it checked, ask for secretsmanager:GetSecretValue on it, and kms:Decrypt if it has a key of its own`,
      ),
    };
  }
}
