import { createInterface } from 'node:readline/promises';
import { UsageError } from './cli-environment.ts';

/**
 * Asks one question on standard error, because standard output may go to a file. Throws UsageError
 * if the person ends the input (Ctrl-C, Ctrl-D).
 */
export async function askAtTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = Promise.withResolvers<never>();
  terminal.once('close', () => ended.reject(new UsageError('no answer. Give the values as options instead')));
  try {
    return await Promise.race([terminal.question(question), ended.promise]);
  } finally {
    ended.promise.catch(() => {});
    terminal.close();
  }
}
