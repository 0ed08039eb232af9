/** Text for a shell: every command that a person is to run is quoted here. */
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A word of a shell. `~`, `$`, `;` and white space keep their plain meaning. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function shellLine(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** `./autoscaler` of the clone. npx finds it in each of its folders too, but links the clone anew at each call. */
const LAUNCHER = fileURLToPath(new URL('../../autoscaler', import.meta.url));

/** What a person types in a clone to start the command. Windows does not start a script of sh. */
export function cloneCommand(
  folder = process.cwd(),
  platform: NodeJS.Platform = process.platform,
  launcher = LAUNCHER,
): string {
  if (platform === 'win32') return 'npx autoscaler';
  const path = relative(folder, launcher);
  return quoted(path.startsWith(`..${sep}`) ? path : `./${path}`);
}
