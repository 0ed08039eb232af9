/** The simulator was used in a way that it does not support, or its own state is inconsistent. */
export class SimulatorError extends Error {
  override readonly name = 'SimulatorError';
}
