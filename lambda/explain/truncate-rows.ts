/** Cuts what is told to a size: logs and answers have limits, and what does not fit would be lost as a whole. */

/** The first of these rows, as many as fit into so many bytes as JSON. */
export function fitting<T>(rows: readonly T[], maxBytes: number): readonly T[] {
  let bytes = 0;
  const end = rows.findIndex((row) => {
    // a comma comes after each
    bytes += bytesOf(row) + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** How long a value is as JSON, in bytes. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** What fits of each list, and how many rows of which list were left out; lists that are whole are not named. */
export function cutLists<Lists extends Readonly<Record<string, readonly unknown[]>>>(
  lists: Lists,
  maxBytes: Readonly<Record<keyof Lists, number>>,
): { readonly kept: Lists; readonly leftOut: Readonly<Record<string, number>> } {
  const cut = Object.entries(lists).map(([name, rows]) => {
    const kept = fitting(rows, maxBytes[name] ?? 0);
    return { name, kept, leftOut: rows.length - kept.length };
  });
  return {
    kept: Object.fromEntries(cut.map(({ name, kept }) => [name, kept])) as Lists,
    leftOut: Object.fromEntries(
      cut.flatMap(({ name, leftOut }) => (leftOut > 0 ? [[name, leftOut] as const] : [])),
    ),
  };
}
