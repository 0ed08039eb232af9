/** A measurement cannot run, or has no values. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
}
