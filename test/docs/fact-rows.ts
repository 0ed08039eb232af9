/**
 * Reads the facts of docs/internals/coder.md and docs/internals/aws.md: rows of two cells, a fact
 * and its standing.
 */

export type FactRow = {
  readonly fact: string;
  readonly standing: string;
  /** Further cells, which no row should have. */
  readonly others: readonly string[];
};

export function factRowsOf(page: string): readonly FactRow[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:fact|---) \|/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
    .map(([fact = '', standing = '', ...others]) => ({ fact, standing, others }));
}
