/** Truncates lists to a size in bytes: CloudWatch and Lambda reject or split longer ones. */

/** The first rows, as many as fit into `maxBytes` as JSON. */
export function fitting<T>(rows: readonly T[], maxBytes: number): readonly T[] {
  let bytes = 0;
  const end = rows.findIndex((row) => {
    // plus the comma
    bytes += bytesOf(row) + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Truncates each list to its `maxBytes`. `leftOut` has truncated lists only. */
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
