/** Parses JSON, without the parser's error: that would quote a text that may be secret. */
export function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
