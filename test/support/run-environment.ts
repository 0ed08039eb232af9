/**
 * Gives a test run a folder of its own for temporary files, and removes it after the last test.
 * Turns on Node's cache of compiled modules for the workers and what they start.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Vitest calls it before the workers start: they take their environment from this process. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'autoscaler-tests-'));
  const { TMPDIR, NODE_COMPILE_CACHE } = process.env;
  set({ TMPDIR: folder, NODE_COMPILE_CACHE: resolve('node_modules/.cache/node-compile') });
  return () => {
    set({ TMPDIR, NODE_COMPILE_CACHE });
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

function set(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
}
