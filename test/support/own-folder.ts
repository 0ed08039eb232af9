import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder. It is removed after the run, with all that tests have written (run-environment.ts). */
export function ownFolder(): string {
  return mkdtempSync(join(tmpdir(), 'autoscaler-test-'));
}
