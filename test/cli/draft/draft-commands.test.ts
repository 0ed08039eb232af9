/**
 * Runs the commands that `autoscaler setup` prints in a shell, with scripts in place of coder and
 * aws.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { keyCommand, tokenCommand } from '../../../cli/shared/credential-commands.ts';
import { ownFolder } from '../../support/own-folder.ts';

const folder = ownFolder();

const KEY = 'aB3dE6gH9jkL2mN5pQ8sT1vW4yZ7bC0eF3hJ6kM9nP2';

/**
 * `coder provisioner keys create` prints the key on its last line. Other commands print only the
 * token.
 */
const CODER = `#!/bin/sh
printf '%s\\n' "$@" > "$FOLDER/coder-arguments"
case $1 in
  provisioner) printf 'Successfully created provisioner key! Save it.\\n\\n%s\\n' '${KEY}' ;;
  *) echo id-token ;;
esac
`;
const AWS = `#!/bin/sh
printf '%s\\n' "$@" > "$FOLDER/aws-arguments"
cat > "$FOLDER/value"
`;
for (const [name, script] of Object.entries({ coder: CODER, aws: AWS })) {
  writeFileSync(join(folder, name), script);
  chmodSync(join(folder, name), 0o755);
}

function shell(command: string, environment: Readonly<Record<string, string>> = {}) {
  const env = { PATH: [folder, process.env.PATH].join(delimiter), FOLDER: folder, ...environment };
  execFileSync('sh', ['-c', command], { env });
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const lines = (name: string): readonly string[] => read(name).trimEnd().split('\n');
  return { coder: () => lines('coder-arguments'), aws: lines('aws-arguments'), value: read('value') };
}

const pool = (tags: Readonly<Record<string, string>>) => ({
  ...{ name: 'gpu', organization: 'data', tags, templates: [] },
  key: 'coder/keys/gpu',
});
const STORED = ['--secret-string', 'file:///dev/stdin'];

it('stores the key alone, without a newline', () => {
  const { coder, aws, value } = shell(keyCommand(pool({ gpu: 'a10' })));
  expect(value).toBe(KEY);
  expect(coder()).toEqual(['provisioner', 'keys', 'create', 'gpu', '--org', 'data', '--tag', 'gpu=a10']);
  expect(aws).toEqual(['secretsmanager', 'create-secret', '--name', 'coder/keys/gpu', ...STORED]);
});

it.each([
  { tags: { a: 'two words' }, given: 'a=two words' },
  { tags: { a: `it's $HOME \`x\`` }, given: `a=it's $HOME \`x\`` },
  { tags: { a: 'b,c' }, given: '"a=b,c"' },
  { tags: { a: 'say "x"' }, given: '"a=say ""x"""' },
])('gives coder the tag as one CSV field: $given', ({ tags, given }) => {
  expect(
    shell(keyCommand(pool(tags)))
      .coder()
      .at(-1),
  ).toBe(given);
});

it('stores a new token of the user autoscaler', () => {
  const { coder, value } = shell(tokenCommand('coder/autoscaler-token'));
  expect(value).toBe('id-token');
  expect(coder()).toEqual(expect.arrayContaining(['tokens', 'create', '--user', 'autoscaler']));
});

it('puts a value into a secret that is given by its ARN', () => {
  const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:coder/token-AbCdEf';
  const { aws } = shell(tokenCommand(arn));
  expect(aws).toEqual(['secretsmanager', 'put-secret-value', '--secret-id', arn, ...STORED]);
});
