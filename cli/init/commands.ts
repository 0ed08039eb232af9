/** The shell commands that create what a configuration names and what does not exist yet. */
import type { DraftPool } from './draft.ts';

/** A year. Only tokens of owners are limited to 7 days (docs/coder.md §9). */
const LIFETIME = '8760h';
/** No argument of a process and no file holds the value: it goes through pipes only. */
const STORE = '--secret-string file:///dev/stdin';

/**
 * `hasTokenInShell`: the token of CODER_SESSION_TOKEN works, so it can be stored. Otherwise the
 * command creates one for the user "autoscaler" (docs/deploy.md, step 1).
 */
export function tokenCommand(secret: string, hasTokenInShell: boolean): string {
  const source = hasTokenInShell
    ? `printf %s "$CODER_SESSION_TOKEN"`
    : `coder tokens create --user autoscaler --name autoscaler --lifetime ${LIFETIME} | tr -d '\\n'`;
  return `${source} |\n  ${storeCommand(secret)}`;
}

/**
 * The key is the last line that coder prints (docs/coder.md §3). A newline at its end would make it
 * another key.
 */
export function keyCommand({ name, organization, tags, key }: DraftPool): string {
  const flags = Object.entries(tags).map(([tag, value]) => ` --tag ${quoted(csv(`${tag}=${value}`))}`);
  const create = `coder provisioner keys create ${name} --org ${quoted(organization)}${flags.join('')}`;
  return `${create} |\n  tail -n 1 | tr -d '\\n' | ${storeCommand(key)}`;
}

/** An ARN names a secret that exists. */
function storeCommand(secret: string): string {
  return secret.startsWith('arn:')
    ? `aws secretsmanager put-secret-value --secret-id ${secret} ${STORE}`
    : `aws secretsmanager create-secret --name ${secret} ${STORE}`;
}

/** coder reads the values of a flag that may be repeated as CSV. */
function csv(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A word for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
