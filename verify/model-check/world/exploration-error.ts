/** A state does not fit into the numbers that the exploration packs states into. */
export class ExplorationError extends Error {
  override readonly name = 'ExplorationError';
}
