/** Decodes the bytes of a file as UTF-8. */

export type Decoded = { readonly text: string } | { readonly problem: string };

const SAVE = 'save the file as UTF-8';

/** Returns the text without its byte order mark, or what is wrong and what to do. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  if (bytes.includes(0)) return { problem: `the file is not UTF-8 but perhaps UTF-16; ${SAVE}` };
  const text = strictText(bytes);
  if (text !== undefined) return { text };
  return { problem: `the file is not UTF-8 (line ${firstBadLine(bytes)}); ${SAVE}` };
}

function strictText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const NEWLINE = 10;

/** Counts from 1. A newline is never part of another character in UTF-8. */
function firstBadLine(bytes: Uint8Array): number {
  let [line, from] = [1, 0];
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
    if (strictText(bytes.subarray(from, end)) === undefined) return line;
    from = end + 1;
    line++;
  }
  return line;
}
