/**
 * Keeps control characters from the terminal: a lock file, the name of a folder or an answer of a
 * server may contain them, and a terminal would obey.
 */
import type { CliEnvironment } from './shared/cli-environment.ts';

/** All but newlines and tabs. The ones for the direction of text make it look like another text. */
const CONTROL = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** They are written as JSON writes them, so a JSON document keeps its meaning. */
export function withPlainOutput({ out, err, ...rest }: CliEnvironment): CliEnvironment {
  return { ...rest, out: (text) => out(plain(text)), err: (text) => err(plain(text)) };
}

function plain(text: string): string {
  return text.replaceAll(CONTROL, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
