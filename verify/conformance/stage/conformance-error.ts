/** The conformance story or the run against a real coderd cannot go on. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}
