/**
 * A rotation: announces a version, then invokes the function once for each step. If a step fails, all steps run
 * again with the same token (docs/internals/aws.md §4).
 */
import type { SecretsModel } from './model.ts';
import { PENDING, type StoredSecret } from './secret.ts';

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

/**
 * When a schedule is stored without an immediate rotation: testSecret alone, with a version that is removed
 * afterwards. AWS does not say whether it has a value; `copies` gives it the current one.
 */
export async function testRotation(
  model: SecretsModel,
  secret: StoredSecret,
  given: { readonly invoke: (request: RotationRequest) => Promise<unknown>; readonly copies: boolean },
): Promise<void> {
  const token = model.announceRotation(secret);
  const now = model.timeline.now();
  if (given.copies) secret.put({ id: token, value: secret.value, stages: [PENDING], now });
  try {
    await given.invoke({ Step: 'testSecret', SecretId: secret.arn, ClientRequestToken: token });
  } finally {
    secret.move(PENDING, { from: secret.withStage(PENDING)?.id, now });
  }
}
