/** Text for a shell: every command that a person is to run is quoted here. */

/** A word of a shell. `~`, `$`, `;` and white space keep their plain meaning. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function shellLine(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}
