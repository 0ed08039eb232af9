/** Changes of files, and the choice of some of them by a seed. */
import { Random } from '../../lab/world/base/random.ts';

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
  const random = new Random(seed);
  return items
    .map((item, index) => ({ item, index, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .sort((a, b) => a.index - b.index)
    .map(({ item }) => item);
}
