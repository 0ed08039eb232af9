/** Messages show only coderd's own words: an answer may contain a key (docs/internals/coder.md §3). */
import * as z from 'zod';
import { describeAnswer, errorBodyOf, type RawAnswer } from '../../adapters/coderd/http/answer.ts';
import { provisionerKeySchema } from '../../adapters/coderd/http/schemas.ts';
import { describeSchemaMismatch } from '../../adapters/shared/schema-mismatch.ts';
import { time } from '../../adapters/shared/time.ts';
import { parseQuietly } from '../../decision/model/parse-quietly.ts';
import { KeysError } from '../model/keys-error.ts';
import type { KeyFacts } from '../model/ports.ts';

export const ROLE =
  "give the token's user the role organization template admin there, or a custom role that may create, read and delete provisioner_daemon and read provisioner_jobs";

export function errorOf(doing: string, answer: RawAnswer): KeysError {
  const said = `${doing}: ${describeAnswer(answer)}`;
  switch (answer.statusCode) {
    case 400:
      return new KeysError('refused', said);
    case 401:
      return new KeysError('token', `${said}; store a valid token in the secret of managedKeys.token`);
    case 403:
      return new KeysError('licence', `${said}; managed keys need a Premium licence of Coder`);
    case 404:
      return new KeysError('forbidden', `${said}; ${ROLE}`);
    default:
      return unanswered(doing, answer);
  }
}

/** The answer proves nothing. */
export function unanswered(doing: string, answer: RawAnswer): KeysError {
  return new KeysError(
    'unanswered',
    `${doing}: ${describeAnswer(answer)}; check coderd's log, and try again`,
  );
}

/** Whether this is coderd's own refusal of a key, not that of a proxy before it. */
export function isAboutKeys(answer: RawAnswer): boolean {
  return errorBodyOf(answer)?.message.startsWith('provisioner daemon key') ?? false;
}

/** The answer of a creation contains a key, so one that does not fit is not shown. */
export function readBody<T extends z.ZodType>(
  doing: string,
  { statusCode, text }: RawAnswer,
  schema: T,
): z.output<T> {
  const value = parseQuietly(text);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const seen = statusCode === 201 ? '' : `: ${describeSchemaMismatch(result.error, value)}`;
  const message = `${doing}: coderd's answer ${statusCode} has an unexpected format${seen}`;
  throw new KeysError('unanswered', message);
}

export const keySchema = provisionerKeySchema
  .extend({ id: z.string(), created_at: time })
  .transform(
    ({ tags, created_at: createdAt, ...key }): KeyFacts => ({ ...key, tags: tags ?? {}, createdAt }),
  );

/** codersdk.CreateProvisionerKeyResponse. */
export const createdSchema = z.object({ key: z.string().min(1) });
