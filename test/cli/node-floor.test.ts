/** npm 10 makes no `node_modules/.bin/node`, so every entry starts the packaged Node by its path. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const FLOOR = '--import ./cli/node-floor.mjs ';

it('starts the packaged Node first in every npm script and in the app of cdk.json', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const commands = [...Object.values<string>(scripts), app].flatMap((line) => line.split(' && '));
  // these run under any Node; the rest start with the floor
  const others = /^(?:npm run|npx --yes|tsc|biome|packaging\/release\.sh)\b/;
  expect(commands.filter((each) => !others.test(each) && !each.includes(`node ${FLOOR}`))).toEqual([]);
});

/** A project with this module, whose packaged Node is a script of `version`. */
function project(version: string, script: string): string {
  const folder = ownFolder();
  const node = join(folder, 'node_modules/node-here/bin/node');
  mkdirSync(join(node, '..'), { recursive: true });
  mkdirSync(join(folder, 'cli'));
  cpSync('cli/node-floor.mjs', join(folder, 'cli/node-floor.mjs'));
  const manifest = {
    engines: { node: '>=22.19.0' },
    optionalDependencies: { 'node-other': '1', 'node-here': '1' },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(node, '../../package.json'), JSON.stringify({ version, bin: { node: 'bin/node' } }));
  writeFileSync(node, `#!/bin/sh\n${script}\n`);
  chmodSync(node, 0o755);
  writeFileSync(join(folder, 'main.mjs'), "console.log('this Node')");
  return folder;
}

const ARGS = [...FLOOR.trim().split(' '), 'main.mjs', '--seed', '7'];

it('runs again with the packaged Node by its path, with the same options, arguments and exit code', () => {
  const cwd = project('99.0.0', 'echo "$@"; exit 7');
  const { status, stdout } = spawnSync(process.execPath, ARGS, { cwd, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 7, stdout: `${FLOOR}${join(cwd, 'main.mjs')} --seed 7\n` });
});

it.each([
  { scenario: 'is not newer', version: '20.0.0', script: 'exit 7' },
  { scenario: 'cannot start here', version: '99.0.0', script: undefined },
])('goes on with this Node if the packaged one $scenario', ({ version, script }) => {
  const cwd = project(version, script ?? '');
  if (script === undefined) chmodSync(join(cwd, 'node_modules/node-here/bin/node'), 0o644);
  expect(execFileSync(process.execPath, ARGS, { cwd, encoding: 'utf8' })).toBe('this Node\n');
});

it('names npm ci in a clone without its packages', () => {
  const cwd = project('20.0.0', '');
  writeFileSync(join(cwd, 'package-lock.json'), '{}');
  const { status, stderr } = spawnSync(process.execPath, ARGS, { cwd, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'error: no packages are installed. Run: npm ci\n',
  });
});

it('passes SIGTERM on and ends as the packaged Node ends', async () => {
  const cwd = project('99.0.0', 'trap "exit 3" TERM; echo ready; while :; do sleep 0.1; done');
  const child = spawn(process.execPath, ARGS, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([3, null]);
});
