/** Reads the facts of docs/internals/coder.md and docs/internals/aws.md: a fact and its standing in each item. */

export type FactRow = { readonly fact: string; readonly standing: string };

const STANDING =
  /^- (?<fact>.+?) (?<standing>\*\*(?:verified|seen|source|documentation|issue|schema|assumed)\*\*.*)$/;

/** Every item from section 1 on. The standing is empty if an item has none. */
export function factRowsOf(page: string): readonly FactRow[] {
  return page
    .slice(page.indexOf('\n## 1. '))
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => {
      const { fact = line, standing = '' } = STANDING.exec(line)?.groups ?? {};
      return { fact, standing };
    });
}
