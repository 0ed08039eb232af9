/** Secrets are sent in headers. A character that no secret of coderd has is told before the request is sent. */

const NAMES: Readonly<Record<string, string>> = {
  'coder-session-token': 'session token',
  'coder-provisioner-daemon-key': 'provisioner key',
};

/** Visible ASCII: the letters, digits and hyphens of tokens and keys are among it. */
const VISIBLE = /^[\x21-\x7e]$/;

/** What is wrong with the value of one of these headers, without the value. */
export function checkHeaders(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [header, value] of Object.entries(headers)) {
    const characters = [...value];
    const place = characters.findIndex((character) => !VISIBLE.test(character));
    const name = NAMES[header] ?? header;
    if (place >= 0)
      return `the ${name} in the secret has ${nameOf(characters[place])} at position ${place + 1}; a ${name} has none: store it again`;
  }
  return undefined;
}

function nameOf(character = ''): string {
  if (/[\r\n]/.test(character)) return 'a line break';
  if (/\s/.test(character)) return 'white space';
  const code = character.codePointAt(0) ?? 0;
  return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
