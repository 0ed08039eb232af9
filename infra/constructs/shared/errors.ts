/** The constructs cannot be used together in this stack. The message says what to change in the CDK app. */
export class StackError extends Error {
  override readonly name = 'StackError';
}

/**
 * The stack cannot be written as a plain template. The message says what to change in the
 * configuration or in the CDK app.
 */
export class PlainTemplateError extends Error {
  override readonly name = 'PlainTemplateError';
}
