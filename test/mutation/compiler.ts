/** Whether the compiler refuses a change. Stryker's own checker cannot use TypeScript 7. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyClone } from './copy-clone.ts';
import { type Change, withChange } from './sample.ts';

const TSC = resolve('node_modules/typescript/bin/tsc');

/** Makes a copy of the clone in the folder, and a function that compiles it with a change. */
export function makeCompiler(folder: string): (change: Change) => boolean {
  copyClone(folder);
  const compiles = (project: string) => {
    const record = `${project === '.' ? 'root' : project}.tsbuildinfo`;
    const { status } = spawnSync(
      process.execPath,
      [TSC, '-p', project, '--incremental', '--tsBuildInfoFile', record],
      { cwd: folder, stdio: 'ignore' },
    );
    return status === 0;
  };
  return (change) => {
    const file = join(folder, change.fileName);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, withChange(text, change));
    try {
      return !compiles(change.fileName.startsWith('infra/') ? 'infra' : '.');
    } finally {
      writeFileSync(file, text);
    }
  };
}
