/** A package cannot be written. The message says what to do. */
export class PackagingError extends Error {
  override readonly name = 'PackagingError';
}
