/** What a task with a bound role asks of AWS, in a shell with a curl that answers as AWS does. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askScript } from '../../../cli/prove/steps/bound-role.ts';
import type { TaskArn } from '../../../lambda/decision/model/brands.ts';
import { ownFolder } from '../../support/own-folder.ts';

const folder = ownFolder();
const OTHER = 'arn:aws:ecs:eu-central-1:123456789012:task/Cluster/0123456789abcdef' as TaskArn;
const OWN = 'arn:aws:ecs:eu-central-1:123456789012:task/Cluster/fedcba9876543210' as TaskArn;
const DENIED = '{"__type":"AccessDeniedException","Message":"User: x is not authorized"}';
const ALLOWED = '{"failures":[],"protectedTasks":[{"protectionEnabled":true}]}';
const UNKNOWN = '{"__type":"UnrecognizedClientException"}';
const KEYS =
  '{"RoleArn":"r","AccessKeyId":"AKID","SecretAccessKey":"se/cret+","Token":"to=ken","Expiration":"e"}';

type Answers = { readonly own?: string; readonly other: readonly string[] };

/** `other`: the last one is repeated. */
function ask({ own = ALLOWED, other }: Answers): {
  readonly said: string;
  readonly calls: string;
  readonly code: number | null;
} {
  const calls = join(folder, 'calls');
  const answers = join(folder, 'answers');
  const curl = `#!/bin/sh
case "$*" in
  *169.254.170.2*) echo '${KEYS}' && exit ;;
esac
echo "$*" >>'${calls}'; cat >>'${calls}'
case "$*" in
  *${OWN}*) echo '${own}' ;;
  *) head -n 1 '${answers}'; [ "$(wc -l <'${answers}')" -lt 2 ] || sed -i 1d '${answers}' ;;
esac
`;
  writeFileSync(calls, '');
  writeFileSync(answers, other.map((answer) => `${answer}\n`).join(''));
  for (const [name, text] of [
    ['curl', curl],
    ['sleep', '#!/bin/sh\n'],
  ] as const) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  const env = { PATH: `${folder}:${process.env.PATH}`, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/keys' };
  const script = askScript({ other: OTHER, own: OWN }, 'Cluster');
  const { stderr, stdout, status } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
  expect(stdout).toBe('');
  return { said: stderr, calls: readFileSync(calls, 'utf8'), code: status };
}

it.each([
  { other: [DENIED], verdict: 'denied', because: 'AWS refuses the other tag and not its own' },
  { other: [ALLOWED, ALLOWED, DENIED], verdict: 'denied', because: 'the new tag reaches IAM later' },
  { other: [ALLOWED], verdict: 'allowed', because: 'IAM does not heed the tag' },
  { other: [DENIED], own: DENIED, verdict: 'both', because: 'AWS refuses any call from there' },
  { other: [DENIED], own: UNKNOWN, verdict: 'unknown', because: 'its own tag got no answer' },
  { other: [UNKNOWN], verdict: 'unknown', because: 'AWS does not know the credentials' },
  { other: [ALLOWED, UNKNOWN], verdict: 'allowed', because: 'it was allowed once' },
])('says $verdict: $because', ({ verdict, because: _, ...answers }) => {
  const { said, code } = ask(answers);
  expect({ said, code }).toEqual({ said: `autoscaler-prove:${verdict}\n`, code: 1 });
});

it('asks for 48 h for that task, and has the credentials in no argument', () => {
  const [args, ...config] = ask({ other: [DENIED] })
    .calls.trim()
    .split('\n');
  expect(args).toContain('"protectionEnabled":true,"expiresInMinutes":2880}');
  expect(args).toContain(`"tasks":["${OTHER}"]`);
  expect(args).toContain('--aws-sigv4 aws:amz:eu-central-1:ecs');
  expect(args).not.toMatch(/AKID|cret|to=ken/);
  expect(config.slice(0, 2)).toEqual(['user = "AKID:se/cret+"', 'header = "x-amz-security-token: to=ken"']);
});
