import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeProblem } from '../../cli/node-floor.mjs';
import { missingPackage } from '../../cli/program.ts';
import { run } from '../support/cli-run.ts';

it('names the package that an import does not find', () => {
  const missing = 'not-installed-here';
  const cannotFind = Object.assign(new Error(`Cannot find package '${missing}' imported from a.ts`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  expect(missingPackage(cannotFind)).toBe(missing);
  expect(missingPackage(new Error(`Cannot find package '${missing}'`))).toBeUndefined();
});

it('prints the version of package.json for `autoscaler --version`', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await run('--version')).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
});

it.each([
  ['22.19.0', undefined],
  ['22.20.0', undefined],
  ['24.1.0', undefined],
  ['22.2.0', 'autoscaler needs Node 22.19.0 or newer, and this is Node 22.2.0. Install a newer Node'],
  ['20.20.2', 'autoscaler needs Node 22.19.0 or newer, and this is Node 20.20.2. Install a newer Node'],
])('answers Node %s with %s, if the package needs 22.19.0', (version, problem) => {
  expect(nodeProblem('>=22.19.0', version)).toBe(problem);
});
