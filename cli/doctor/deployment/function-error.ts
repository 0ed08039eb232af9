/** The errors that an invocation without a look leaves in the log: Lambda writes them, as JSON. */
import * as z from 'zod';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';

const thrown = z.object({ errorMessage: z.string() });
const schema = z.object({
  level: z.literal('ERROR'),
  errorMessage: z.string().optional(),
  message: z.union([z.string(), thrown]).optional(),
});

/** The message of the error, in one line; undefined for another line. */
export function errorOf(line: string): string | undefined {
  const { data } = schema.safeParse(parseQuietly(line));
  if (data === undefined) return undefined;
  const { errorMessage, message } = data;
  // of a look, the failures are told
  if (message === 'look') return undefined;
  const text = errorMessage ?? (typeof message === 'string' ? message : message?.errorMessage);
  return text?.replaceAll(/\s+/g, ' ');
}
