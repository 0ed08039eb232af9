/** Checks that the commands of docs/deploy.md work, as far as possible without an AWS account. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keyCommand, tokenCommand } from '../../cli/shared/credential-commands.ts';
import { run } from '../support/cli-run.ts';

const guide = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
const blocks = [...guide.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', text = '']) =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
);
const commands = blocks.join('\n');

const pool = (name: string, organization: string, tags: Record<string, string>) => ({
  ...{ name, organization, tags, templates: [] },
  key: `coder/keys/${name}`,
});

it.each(blocks)('has a block that a shell can parse: %s', (block) => {
  expect(spawnSync('sh', ['-n'], { input: block, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

it('names only commands that exist', async () => {
  const named = [...commands.matchAll(/npx autoscaler (\w+)/g)].map(([, name = '']) => name);
  expect(named).toEqual(expect.arrayContaining(['setup', 'init', 'validate', 'doctor', 'status', 'plan']));
  for (const name of new Set(named)) expect(await run(name, '--help')).toMatchObject({ code: 0 });
});

describe('the commands for secrets', () => {
  it.each([
    tokenCommand('coder/autoscaler-token', false),
    keyCommand(pool('data-gpu', 'data', { cluster: 'gpu' })),
  ])('are those that autoscaler init prints: %s', (command) => {
    expect(commands).toContain(`${command}\n`);
  });
});

it('creates every secret that it deletes at the end', () => {
  const secrets = (pattern: RegExp) => [...commands.matchAll(pattern)].map(([, name]) => name);
  expect(secrets(/create-secret --name (\S+)/g)).toEqual(
    expect.arrayContaining(secrets(/delete-secret --secret-id (\S+)/g)),
  );
});
