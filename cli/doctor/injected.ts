/**
 * What is wrong with a secret that ECS gives a container. ECS gives the value as it is stored; the
 * autoscaler itself reads it without white space around it. No text has a part of the value.
 */
import type { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { SecretRef } from '../../lambda/decision/model/config.ts';
import { cleanCommand } from '../shared/credential-commands.ts';

/** Go sends spaces and tabs around a header's value without them. */
const LINE_BREAK_AT_END = /[\r\n][ \t]*$/;
/** Go refuses control characters; coderd knows no key with one, nor with a byte order mark. */
const INVISIBLE = /[^\P{Cc}\t]|\p{Cf}|[^\P{Z} ]/u;
const QUOTES = /^\s*(["'`]).*\1\s*$/s;
const JSON_DOCUMENT = /^\s*[{[].*[}\]]\s*$/s;

/** A line of text: keys and certificates of several lines may end with a line break. */
const ONE_LINE = /^[^\r\n]*[\r\n]+$/;

/** Of a key, psk or token: what is wrong, and what to run. Undefined: a daemon can send it. */
export function flawOfCredential(raw: Secret, { secret, jsonKey }: SecretRef): string | undefined {
  const store = jsonKey === undefined ? `Run: ${cleanCommand(secret)}` : storeAnew(jsonKey);
  const refuse = (what: string, advice = store) =>
    `the value of secret "${secret}" ${what}. ECS gives it to tasks as it is, so coderd accepts no daemon. ${advice}`;
  if (jsonKey === undefined && raw.matches(JSON_DOCUMENT))
    return refuse('is JSON', 'Write jsonKey with the name of its key, or store the credential alone');
  if (raw.matches(QUOTES)) return refuse('has quotes around it');
  if (raw.matches(LINE_BREAK_AT_END)) return refuse('ends with a line break');
  return raw.matches(INVISIBLE) ? refuse('has an invisible character') : undefined;
}

/** Of any other variable: a value of one line that ends with a line break may be meant without. */
export function flawOfVariable(raw: Secret, { secret, jsonKey }: SecretRef): string | undefined {
  if (!raw.matches(ONE_LINE)) return undefined;
  const store = jsonKey === undefined ? `To store it without: ${cleanCommand(secret)}` : storeAnew(jsonKey);
  return `the value of secret "${secret}" is one line and ends with a line break. ECS gives it to tasks as it is. ${store}`;
}

const storeAnew = (jsonKey: string): string =>
  `Store the JSON anew, with the key "${jsonKey}" without line breaks and quotes around its value`;
