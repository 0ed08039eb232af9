/** What an answer of coderd with an error status says, in its own words. */
import type * as z from 'zod';
import type { EpochMs } from '../../../decision/model/brands.ts';
import { ownValue } from '../../../decision/model/collections.ts';
import { parseQuietly } from '../../../decision/model/parse-quietly.ts';
import { errorSchema } from './schemas.ts';

/** Without the secrets of the request. */
export type RawAnswer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly date: EpochMs | undefined;
};

const REFUSALS = {
  401: 'unauthorized',
  403: 'not-found',
  404: 'not-found',
  429: 'rate-limited',
} as const;

export type RefusalCode = (typeof REFUSALS)[keyof typeof REFUSALS] | 'refused';

/** What an error status means. coderd answers 403 and 404 where the right is missing. */
export function refusalOf(statusCode: number): RefusalCode {
  return (REFUSALS as Readonly<Record<number, RefusalCode>>)[statusCode] ?? 'refused';
}

/** The status, and the message of coderd's error body in one line. Bodies of proxies are not shown. */
export function describeAnswer(answer: RawAnswer): string {
  return `coderd answered ${answer.statusCode}${describeBody(answer)}`;
}

/** coderd's error body. Undefined for a body of anything else. */
export function errorBodyOf({ text }: RawAnswer): z.output<typeof errorSchema> | undefined {
  return errorSchema.safeParse(parseQuietly(text)).data;
}

function refusedIn({ validations }: z.output<typeof errorSchema>): readonly string[] {
  return (validations ?? []).map(({ field, detail }) => `${field}: ${detail}`);
}

/** The answer of Go's server, nginx or an AWS load balancer to plain http on a TLS port. */
const PLAIN_TO_TLS = /HTTP request (?:to an|was sent to) HTTPS/;

function describeBody(answer: RawAnswer): string {
  const error = errorBodyOf(answer);
  if (error !== undefined)
    return `: ${[error.message, error.detail, ...refusedIn(error)].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ').slice(0, 300)}`;
  if (PLAIN_TO_TLS.test(answer.text)) return ': this port speaks TLS; write https in coder.url';
  if (FROM_A_PROXY.has(answer.statusCode))
    return '. A proxy or load balancer answered for it: coderd is down, starting or not reachable from there; check that coderd runs';
  const location = answer.headers.location;
  return location === undefined
    ? ''
    : `, a redirect to ${String(location).slice(0, 200)}; check that coder.url is the URL of coderd`;
}

/** Bad gateway, unavailable and gateway timeout. coderd's own have its error body. */
const FROM_A_PROXY: ReadonlySet<number> = new Set([502, 503, 504]);

type Answer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

/** A shorter text may stand in data by chance. coderd's tokens and keys are longer. */
const LEAST_IN_DATA = 8;

/** The answer without the secrets, in its text and in the values of its headers. */
export function withoutSecrets<T extends Answer>(answer: T, secrets: readonly string[]): T {
  const hidden =
    answer.statusCode === 200 ? secrets.filter(({ length }) => length >= LEAST_IN_DATA) : secrets;
  const forms = hidden.flatMap(formsOf);
  const hide = (text: string): string =>
    forms.reduce((shown, form) => shown.replaceAll(form, '(hidden)'), text);
  const headers = Object.entries(answer.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(hide) : value && hide(value),
  ]);
  return { ...answer, headers: Object.fromEntries(headers), text: hide(answer.text) };
}

/** A secret as it is, in a URL, in JSON (that of Go too) and in base64. */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const goJson = json.replaceAll(/[<>&]/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`);
  const base64 = (['base64', 'base64url'] as const).map((form) => Buffer.from(secret).toString(form));
  return [...new Set([secret, encodeURIComponent(secret), json, goJson, ...base64])];
}

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
    const name = ownValue(NAMES, header) ?? header;
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
