import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { run } from '../support/cli-run.ts';

it('prints the version of package.json for `autoscaler --version`', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await run('--version')).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
});
