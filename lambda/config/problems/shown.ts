/** Formats values and paths for messages: short, on one line, and never a secret. */

/** A path into the configuration: names, and positions in lists. */
export type Path = readonly (string | number)[];

const LONGEST = 60;
// Values below these settings may be a secret in place of its reference, or a proxy's password.
const PRIVATE = new Set<string | number>(['token', 'key', 'psk', 'proxy', 'environment', 'secrets']);
// provisioner keys: 43 characters (docs/internals/coder.md §3); coder's API tokens: 10, a hyphen,
// 22
const SECRET_SHAPES = /(?<![A-Za-z0-9])(?:[A-Za-z0-9]{43}|[A-Za-z0-9]{10}-[A-Za-z0-9]{22})(?![A-Za-z0-9])/g;
// an access key id of AWS, and a secret access key: 40 characters of base64
const AWS_KEY = /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/;
const AWS_SECRET = /^[A-Za-z0-9+/]{40}$/;
const CREDENTIALS_IN_URL = /:\/\/\S*@/;

/**
 * Whether a part of the text looks like a provisioner key, an API token, a key of AWS, a PEM block
 * or the password of a URL.
 */
export function looksLikeSecret(text: string): boolean {
  if (text.includes('-----BEGIN') || CREDENTIALS_IN_URL.test(text)) return true;
  if (AWS_KEY.test(text) || (AWS_SECRET.test(text) && isMixed(text))) return true;
  return (text.match(SECRET_SHAPES) ?? []).some(isMixed);
}

/** The value for "got …": `"blue"`, `5`, `a list`. Only its type if it may be secret. */
export function shown(value: unknown, path: Path): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (path.some((step) => PRIVATE.has(step)))
    return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
  if (typeof value === 'string') return shownText(value);
  return String(value);
}

/** The value as the subject of a sentence: as `shown`, or `the value` if it may be secret. */
export function subject(value: unknown, path: Path): string {
  return path.some((step) => PRIVATE.has(step)) ? 'the value' : shown(value, path);
}

/** A name or text in quotes. It is truncated if it is long, and hidden if it looks like a secret. */
export function shownText(text: string): string {
  if (looksLikeSecret(text)) return 'a text that looks like a secret (hidden)';
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

/** Milliseconds as a duration of the configuration, in the largest unit that is exact. */
export function shownDuration(ms: number): string {
  if (ms % 3_600_000 === 0 && ms > 0) return `${ms / 3_600_000}h`;
  if (ms % 60_000 === 0 && ms > 0) return `${ms / 60_000}m`;
  return `${ms / 1000}s`;
}

/** Random text has digits and letters of both cases; a name of words rarely does. */
function isMixed(text: string): boolean {
  return /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
}
