import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../support/cli-run.ts';
import { ownFolder } from '../support/own-folder.ts';

const dir = ownFolder();

it('writes a template and its assets, and says what to do with them', async () => {
  const out = join(dir, 'written');
  const answer = await run('synth', '--config', 'autoscaler.example.yaml', '--out', out);
  expect(answer).toMatchObject({ code: 0, err: '' });
  expect(answer.out).toMatch(/^wrote\n {2}\S+template\.json {2}1\d\d KB\n {2}\S+\.zip {2}1\.\d MB\n/);
  expect(answer.out).toContain('Upload the files of the folder assets to an S3 bucket');
  expect(readdirSync(out).sort()).toEqual(['assets', 'template.json']);
});

// test/packages/manifest.full.test.ts writes a template with this command
it('refuses the same with the command of the construct alone', () => {
  const alone = (...args: string[]) =>
    spawnSync(process.execPath, ['infra/plain/main.ts', ...args], { encoding: 'utf8' });
  expect(alone('--config', 'none.yaml')).toMatchObject({
    status: 1,
    stdout: '',
    stderr:
      'none.yaml: reading the configuration: no such file; write one with autoscaler setup --draft, or name another file with --config\n',
  });
  expect(alone('--name', 'x')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^error: Unknown option '--name'.*usage: autoscaler-synth/s),
  });
});

it.each([
  { config: 'vpc: vpc-0123456789abcdef0', says: /network\.subnets: missing, but vpc is set; write the ids/ },
  { config: 'vpc: shared', says: /network\.vpc: / },
])('refuses a network that it would have to look up: $config', async ({ config, says }) => {
  const file = join(dir, 'lookup.yaml');
  const rest =
    'coder: {url: "https://c.example.com", token: {secret: t}}\npools: [{name: a, organization: o, key: {secret: k}}]';
  writeFileSync(file, `${rest}\naws: {network: {${config}}}\n`);
  const { code, err } = await run('synth', '--config', file, '--out', join(dir, 'lookup'));
  expect(code).toBe(1);
  expect(err).toMatch(says);
});

it('refuses a folder with other files', async () => {
  const { code, out, err } = await run('synth', '--config', 'autoscaler.example.yaml', '--out', 'docs');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(
    /^writing to docs: the folder has other files \(adr and \d+ more\); give an empty folder/,
  );
});

it('names the missing package where aws-cdk-lib is not installed', () => {
  const hide = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(name, context, next) {
    const elsewhere = { ...context, parentURL: 'file:///nowhere/else.mjs' };
    return next(name, name.startsWith('aws-cdk-lib') ? elsewhere : context);
  },
});`;
  const hook = `data:text/javascript,${encodeURIComponent(hide)}`;
  const args = ['--import', hook, 'cli/main.ts', 'synth', '--config', 'autoscaler.example.yaml'];
  const { status, stderr } = spawnSync(process.execPath, [...args, '--out', join(dir, 'hidden')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(
    /^writing a template: the package aws-cdk-lib is not installed; run: npm install coder-provisioner-autoscaler aws-cdk-lib constructs\n$/m,
  );
  expect(status).toBe(1);
});
