import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder of its own for a test file. It is removed after the file's tests. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'autoscaler-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
