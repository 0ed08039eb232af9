#!/usr/bin/env node
// first, so that it speaks before a module that an old Node cannot load
import './node-floor.mjs';
import type { EpochMs } from '../lambda/decision/model/brands.ts';
import { runCli } from './program.ts';
import { UsageError } from './shared/cli-environment.ts';
import { runningTry } from './shared/running-try.ts';
import { cloneCommand } from './shared/shell-words.ts';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // a reader such as `head` may close the pipe early
  if (code === 'EPIPE') return;
  process.stderr.write(`error: writing the output: ${message}\n`);
  process.exit(1);
});

const args = process.argv.slice(2);
const variables = runningTry(args, process.env);
Object.assign(process.env, variables);
if (variables.AUTOSCALER_CONFIG !== undefined)
  process.stderr.write('note: this is the simulated deployment of npm run try (dist/try/env)\n');

process.exitCode = await runCli(args, {
  ...(import.meta.url.endsWith('.ts') ? { command: cloneCommand() } : {}),
  environment: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  // a dumb terminal cannot clear a line
  ...(process.stderr.isTTY && process.env.TERM !== 'dumb' ? { terminal: process.stderr } : {}),
  ...(process.stdout.isTTY ? { columns: process.stdout.columns } : {}),
  ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
  onInterrupt: (run) => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const off = () => {
      for (const signal of signals) process.off(signal, once);
    };
    const once = () => {
      off();
      run();
    };
    for (const signal of signals) process.on(signal, once);
    return off;
  },
  now: () => Date.now() as EpochMs,
});

/**
 * On standard error, because standard output may go to a file. Throws UsageError if the person ends the
 * input (Ctrl-C, Ctrl-D). Only `setup` and `prove` ask, so the other commands do not load readline.
 */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
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
