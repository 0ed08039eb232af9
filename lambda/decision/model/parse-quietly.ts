/**
 * Parses JSON; undefined if the text is none. It drops the parser's error, because that would quote
 * the text, which may contain a secret.
 */
export function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
