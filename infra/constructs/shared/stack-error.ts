/**
 * The constructs cannot be used together in this stack. The message says what to change in the CDK
 * app.
 */
export class StackError extends Error {
  override readonly name = 'StackError';
}
