/** The settings and certificates as one text of JSON in ASCII, without secrets. */
import { isMapping } from './drafts.ts';

/** The same settings make the same text, with any comments. */
export function storedText(settings: unknown, caBundle: string | undefined): string {
  return toAscii(JSON.stringify({ config: withoutCaPath(settings), caBundle }));
}

/** A standard parameter of Systems Manager costs nothing and has at most 4 KB (docs/internals/aws.md §4). */
export const PART_LENGTH = 4096;

/** The path is one of the machine that made the text, which has the certificates themselves. */
function withoutCaPath(settings: unknown): unknown {
  if (!isMapping(settings) || !isMapping(settings.coder)) return settings;
  const { caBundle: _, ...coder } = settings.coder;
  return { ...settings, coder };
}

/**
 * Escapes what Systems Manager counts or reads in another way: characters of several bytes, and
 * `{{`, which refers to a parameter. In JSON, both occur in strings only.
 */
function toAscii(json: string): string {
  return json
    .replaceAll(/[^\x20-\x7e]/g, (character) => codeOf(character))
    .replaceAll(/\{(?=\{)/g, codeOf('{'));
}

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
