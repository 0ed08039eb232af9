/** A small configuration file, and what is reported about one. */
import { checkConfig } from '../../lambda/config/check.ts';
import { ConfigError, formatProblem, type Problem } from '../../lambda/config/problems/problems.ts';
import { readConfig } from '../../lambda/config/read.ts';

export const CODER = { url: 'https://coder.example.com', token: { secret: 'coder/token' } };
export const POOL = { name: 'a', organization: 'default', key: { secret: 'coder/key' } };

/** A file with one pool. */
export const fileWith = (pool: object, rest: object = {}) => ({
  coder: CODER,
  ...rest,
  pools: [{ ...POOL, ...pool }],
});

/** The errors in a parsed file, or its warnings if it has none. */
export const problemsOf = (value: unknown): readonly string[] => linesOf(() => checkConfig(value));

/** As `problemsOf`, for the text of a file, with the places in it. */
export const problemsIn = (text: string, file: string): readonly string[] =>
  linesOf(() => readConfig(text, file));

function linesOf(read: () => { readonly warnings: readonly Problem[] }): readonly string[] {
  try {
    return read().warnings.map(formatProblem);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}
