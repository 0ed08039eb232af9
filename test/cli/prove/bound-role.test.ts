/** What a task with a bound role asks of AWS, in a shell with a curl that answers as AWS does. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askScript } from '../../../cli/prove/steps/bound-role.ts';
import type { TaskArn } from '../../../lambda/decision/model/brands.ts';
import { ownFolder } from '../../support/own-folder.ts';

const folder = ownFolder();
const KEYS =
  '{"RoleArn":"r","AccessKeyId":"AKID","SecretAccessKey":"se/cret+","Token":"to=ken","Expiration":"e"}';

function ask(answer: string): {
  readonly said: string;
  readonly calls: string;
  readonly code: number | null;
} {
  const calls = join(folder, 'calls');
  const curl = `#!/bin/sh
case "$*" in
  *169.254.170.2*) echo '${KEYS}' ;;
  *) echo "$*" >>'${calls}'; cat >>'${calls}'; echo '${answer}' ;;
esac
`;
  writeFileSync(calls, '');
  for (const [name, text] of [
    ['curl', curl],
    ['sleep', '#!/bin/sh\n'],
  ] as const) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  const task = 'arn:aws:ecs:eu-central-1:123456789012:task/Cluster/0123456789abcdef' as TaskArn;
  const env = { PATH: `${folder}:${process.env.PATH}`, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/keys' };
  const { stderr, stdout, status } = spawnSync('sh', ['-c', askScript(task, 'Cluster')], {
    env,
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
  return { said: stderr, calls: readFileSync(calls, 'utf8'), code: status };
}

it.each([
  ['{"__type":"AccessDeniedException","Message":"User: x is not authorized"}', 'denied'],
  ['{"failures":[],"protectedTasks":[{"protectionEnabled":true}]}', 'allowed'],
  ['{"__type":"UnrecognizedClientException"}', 'unknown'],
])('says what AWS answers: %s', (answer, verdict) => {
  const { said, code } = ask(answer);
  expect({ said, code }).toEqual({ said: `autoscaler-prove:${verdict}\n`, code: 1 });
});

it('asks for 48 h for that task, and has the credentials in no argument', () => {
  const [args, ...config] = ask('{"__type":"AccessDeniedException"}').calls.trim().split('\n');
  expect(args).toContain('"protectionEnabled":true,"expiresInMinutes":2880}');
  expect(args).toContain('"tasks":["arn:aws:ecs:eu-central-1:123456789012:task/Cluster/0123456789abcdef"]');
  expect(args).toContain('--aws-sigv4 aws:amz:eu-central-1:ecs');
  expect(args).not.toMatch(/AKID|cret|to=ken/);
  expect(config).toEqual(['user = "AKID:se/cret+"', 'header = "x-amz-security-token: to=ken"']);
});
