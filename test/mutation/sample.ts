/** Changes of files, and the choice of some of them by a seed. */

export type Change = {
  /** Relative to the clone. */
  readonly fileName: string;
  /** Lines and columns count from 0. */
  readonly location: { readonly start: Place; readonly end: Place };
  readonly mutatorName: string;
  readonly replacement: string;
};
type Place = { readonly line: number; readonly column: number };

/** The text with a change. */
export function withChange(text: string, { location: { start, end }, replacement }: Change): string {
  const lines = text.split('\n');
  const at = ({ line, column }: Place): number =>
    lines.slice(0, line).reduce((length, each) => length + each.length + 1, column);
  return text.slice(0, at(start)) + replacement + text.slice(at(end));
}

/** So many of the items, in their own order; the same ones for the same seed. All of them if there are no more. */
export function choose<T>(items: readonly T[], count: number, seed: number): readonly T[] {
  const draw = numbers(seed);
  return items
    .map((item, index) => ({ item, index, order: draw() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .sort((a, b) => a.index - b.index)
    .map(({ item }) => item);
}

/** A sequence of numbers from 0 to 2^32 (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
