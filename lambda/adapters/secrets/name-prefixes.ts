/** The most values of a filter of ListSecrets (docs/internals/aws.md §4). */
const MOST_VALUES = 10;
const NAME_IN_ARN = /^arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:(.+?)(?:-[A-Za-z0-9]{6})?$/;

/** As many as one list takes. Empty: no prefix is common to enough of them, so the list needs all secrets. */
export function namePrefixes(secrets: readonly string[]): readonly string[] {
  const names = secrets.map((secret) => NAME_IN_ARN.exec(secret)?.[1] ?? secret);
  let prefixes = [...new Set(names)].sort();
  while (prefixes.length > MOST_VALUES) prefixes = joinClosest(prefixes);
  return prefixes.includes('') ? [] : prefixes;
}

/** Joins the two neighbours that have the longest beginning in common. */
function joinClosest(sorted: readonly string[]): string[] {
  const shared = sorted.slice(1).map((name, index) => commonPrefix(sorted[index] ?? '', name));
  const longest = Math.max(...shared.map(({ length }) => length));
  const at = shared.findIndex(({ length }) => length === longest);
  return [...sorted.slice(0, at), shared[at] ?? '', ...sorted.slice(at + 2)];
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
