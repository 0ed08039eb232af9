/**
 * Why the key function could not do its work. `unanswered`: coderd did not answer, or answered with
 * an error that proves nothing. `token`, `licence`, `forbidden`: coderd refuses the function.
 * `unknown-organization`, `refused`: the configuration is wrong. `secret`, `secret-gone`: Secrets
 * Manager refuses, or the secret is deleted. `resource-deleted`: a late event. `payload`: no event.
 * `unfinished`: a sweep with problems, after it has done what it could.
 */
export class KeysError extends Error {
  override readonly name = 'KeysError';
  readonly code: KeysErrorCode;

  constructor(code: KeysErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

type KeysErrorCode =
  | 'unanswered'
  | 'token'
  | 'licence'
  | 'forbidden'
  | 'unknown-organization'
  | 'refused'
  | 'secret'
  | 'secret-gone'
  | 'resource-deleted'
  | 'payload'
  | 'unfinished';

/** Codes that say nothing about the key in the secret. A user that leaves an organization sees it no more. */
const DOUBTS: ReadonlySet<KeysErrorCode> = new Set([
  'unanswered',
  'token',
  'licence',
  'forbidden',
  'unknown-organization',
]);

export function isDoubt(cause: unknown): boolean {
  return cause instanceof KeysError && DOUBTS.has(cause.code);
}
