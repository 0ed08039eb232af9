/** An invocation of the function failed, or its process ended. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
}
