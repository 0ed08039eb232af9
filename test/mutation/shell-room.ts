/** Changes a shell script in a copy of this clone, and runs its tests against each change. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { copyClone } from './copy-clone.ts';
import type { Outcome, Status } from './outcome.ts';
import type { Room, Sample } from './rooms.ts';
import { type Change, choose, withChange } from './sample.ts';
import { shellMutants } from './shell-mutants.ts';

const VITEST = resolve('node_modules/vitest/vitest.mjs');
/** A guard that does not end fails its test long before that. */
const RUN_TIMEOUT_MS = 600_000;

/** Tests a sample of the script's mutants. */
export function mutateShell(
  { sources: [script = ''], tests }: Room,
  { count, seed, folder }: Sample,
): readonly Outcome[] {
  const text = readFileSync(script, 'utf8');
  const all = shellMutants(script, text).filter((change) => isScript(withChange(text, change)));
  const copy = join(folder, 'sandbox');
  copyClone(copy);
  const run = (change: Change, effort: string): Status => {
    writeFileSync(join(copy, script), withChange(text, change));
    return statusOf(copy, tests, effort);
  };
  const unchanged = statusOf(copy, tests, 'full');
  if (unchanged !== 'survived') throw new Error(`testing ${script}: its tests fail without a change`);
  return choose(all, count, seed).map((change) => {
    // what the first shell does not notice, another one may
    const first = run(change, 'quick');
    const status = first === 'survived' ? run(change, 'full') : first;
    const { start } = change.location;
    return {
      place: `${script}:${start.line + 1}:${start.column + 1}`,
      change: `${change.mutatorName}: ${withChange(text, change).split('\n')[start.line]?.trim()}`,
      status,
    };
  });
}

const isScript = (text: string): boolean => spawnSync('sh', ['-n'], { input: text }).status === 0;

function statusOf(cwd: string, tests: readonly string[], effort: string): Status {
  const files = tests.map((pattern) => dirname(pattern));
  const { status, error } = spawnSync(
    process.execPath,
    [VITEST, 'run', '--bail', '1', '--testTimeout', '60000', ...files],
    {
      cwd,
      env: { ...process.env, TEST_EFFORT: effort },
      timeout: RUN_TIMEOUT_MS,
      stdio: 'ignore',
    },
  );
  if (error !== undefined) return 'timeout';
  return status === 0 ? 'survived' : 'killed';
}
