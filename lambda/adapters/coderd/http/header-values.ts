/** A character that no secret of coderd has means that the secret was stored wrongly. */

const NAMES: Readonly<Record<string, string>> = {
  'coder-session-token': 'session token',
  'coder-provisioner-daemon-key': 'provisioner key',
};

/** Visible ASCII, which includes all characters of tokens and keys. */
const VISIBLE = /[\x21-\x7e]/;

/** Describes the first wrong header value without quoting it. Undefined if all values are right. */
export function checkHeaders(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [header, value] of Object.entries(headers)) {
    const characters = [...value];
    const index = characters.findIndex((character) => !VISIBLE.test(character));
    const name = NAMES[header] ?? header;
    if (index >= 0)
      return `the ${name} in the secret contains ${nameOf(characters[index])} at position ${index + 1}, which is not allowed; store the ${name} again`;
  }
  return undefined;
}

function nameOf(character = ''): string {
  if (/[\r\n]/.test(character)) return 'a line break';
  if (/\s/.test(character)) return 'white space';
  const code = character.codePointAt(0) ?? 0;
  return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
