/**
 * The stack cannot be written as a plain template. The message says what to change in the
 * configuration or in the CDK app.
 */
export class PlainTemplateError extends Error {
  override readonly name = 'PlainTemplateError';
}
