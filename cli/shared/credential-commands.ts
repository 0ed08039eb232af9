/** The shell commands that create tokens and keys and store them in secrets. */
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { quoted } from './shell-words.ts';

/** A provisioner key that does not exist yet. `organization`: its name or id. */
type NewKey = { readonly name: string; readonly organization: string; readonly tags: Tags };

/** The user of the autoscaler's token, and that of the key function's. */
export const AUTOSCALER_USER = 'autoscaler';
export const KEYS_USER = 'autoscaler-keys';

/** A year. Only tokens of owners are limited to 7 days (docs/internals/coder.md §9). */
const LIFETIME = '8760h';
/** No argument of a process and no file holds the value: it goes through pipes only. */
const STORE = '--secret-string file:///dev/stdin';
/** A newline at the end would make another value. */
const WITHOUT_NEWLINE = `tr -d '\\n'`;

/** Creates a token of the user and stores it. */
export function tokenCommand(secret: string, user = AUTOSCALER_USER, isThere = false): string {
  const store = isThere ? putCommand(secret) : storeCommand(secret);
  return `${createTokenCommand(user)} | ${WITHOUT_NEWLINE} |\n  ${store}`;
}

/** A token of whoever is signed in to coder. `coder login token` came with 2.31 (docs/internals/coder.md §9). */
export const SHELL_TOKEN = '"$(coder tokens create --lifetime 8h)"';

export const READ_VALUE = 'read -rs VALUE';

/** Stores the value of a secret again, without line breaks, quotes and what else no credential has. */
export function cleanCommand(secret: string): string {
  const read = `aws secretsmanager get-secret-value --secret-id ${quoted(secret)} --query SecretString --output text`;
  return `${read} | LC_ALL=C ${CLEAN} | ${putCommand(secret)}`;
}

/** Visible characters of ASCII without quotes. */
export const CLEAN = `tr -dc '!#-&(-_a-~'`;

/** Asks for a value without showing it, and stores it. */
export function storeTypedCommand(secret: string, isThere: boolean): string {
  const store = isThere ? putCommand(secret) : storeCommand(secret);
  return `${READ_VALUE} && printf %s "$VALUE" |\n  ${store}; unset VALUE`;
}

/** Creates a key and stores it in a secret that may not exist yet. */
export function keyCommand({ key: secret, ...key }: NewKey & { readonly key: string }): string {
  return `${printKeyCommand(key)} | ${storeCommand(secret)}`;
}

export function createKeyCommand({ name, organization, tags }: NewKey): string {
  const flags = Object.entries(tags).map(([tag, value]) => ` --tag ${quoted(csv(`${tag}=${value}`))}`);
  return `coder provisioner keys create ${quoted(name)} --org ${quoted(organization)}${flags.join('')}`;
}

/** Prints the key alone: it is the last line that coder prints (docs/internals/coder.md §3). */
function printKeyCommand(key: NewKey): string {
  return `${createKeyCommand(key)} |\n  tail -n 1 | ${WITHOUT_NEWLINE}`;
}

export function createTokenCommand(user: string): string {
  return `coder tokens create --user ${quoted(user)} --name ${quoted(user)} --lifetime ${LIFETIME}`;
}

/** An ARN names a secret that exists. */
function storeCommand(secret: string): string {
  return secret.startsWith('arn:')
    ? putCommand(secret)
    : `aws secretsmanager create-secret --name ${quoted(secret)} ${STORE}`;
}

function putCommand(secret: string): string {
  return `aws secretsmanager put-secret-value --secret-id ${quoted(secret)} ${STORE}`;
}

/** coder reads the values of a flag that may be repeated as CSV. */
function csv(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
