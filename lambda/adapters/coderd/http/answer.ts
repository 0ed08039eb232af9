/** What an answer of coderd with an error status says, in its own words. */
import type * as z from 'zod';
import type { EpochMs } from '../../../decision/model/brands.ts';
import { parseQuietly } from '../../../decision/model/parse-quietly.ts';
import { errorSchema } from './schemas.ts';

/** Without the secrets of the request. */
export type RawAnswer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The file that was asked for; undefined if it is too large. */
  readonly bytes?: Uint8Array | undefined;
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

/** The answer of Go's server, nginx or an AWS load balancer to plain http on a TLS port. */
const PLAIN_TO_TLS = /HTTP request (?:to an|was sent to) HTTPS/;

function describeBody(answer: RawAnswer): string {
  const error = errorBodyOf(answer);
  if (error !== undefined)
    return `: ${[error.message, error.detail].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ').slice(0, 300)}`;
  if (PLAIN_TO_TLS.test(answer.text)) return ': this port speaks TLS; write https in coder.url';
  const location = answer.headers.location;
  return location === undefined
    ? ''
    : `, a redirect to ${String(location).slice(0, 200)}; check that coder.url is the URL of coderd`;
}
