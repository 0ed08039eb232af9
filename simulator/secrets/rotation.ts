/**
 * A rotation as Secrets Manager runs it: it announces a version, then invokes the function once for
 * each step. If a step fails, it runs all steps again with the same token (docs/aws.md §4).
 */
import type { SecretsModel } from './model.ts';
import type { StoredSecret } from './secret.ts';

export const ROTATION_STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'] as const;

export type RotationRequest = {
  readonly Step: (typeof ROTATION_STEPS)[number];
  readonly SecretId: string;
  readonly ClientRequestToken: string;
};

/** Runs a rotation. Returns its token. Throws the error of the last attempt. */
export async function runRotation(
  model: SecretsModel,
  secret: StoredSecret,
  given: {
    readonly invoke: (request: RotationRequest) => Promise<unknown>;
    /** @default 1 */
    readonly attempts?: number;
    /** @default a new one */
    readonly token?: string;
  },
): Promise<string> {
  const { invoke, attempts = 1 } = given;
  const token = model.announceRotation(secret, given.token);
  for (let attempt = 1; ; attempt += 1)
    try {
      for (const Step of ROTATION_STEPS)
        await invoke({ Step, SecretId: secret.arn, ClientRequestToken: token });
      return token;
    } catch (cause) {
      if (attempt >= attempts) throw cause;
    }
}
