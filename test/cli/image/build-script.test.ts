/** Runs build.sh with stubs of aws and docker, which write down how they were called. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildScript } from '../../../cli/image/image-files.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'autoscaler-build-'));
  for (const name of ['bin', 'project/image', 'elsewhere/image'])
    mkdirSync(join(folder, name), { recursive: true });
  const script = buildScript({ platform: 'linux_arm64', repository: 'coder/coder', tag: 'v2-warm-1' });
  writeFileSync(join(folder, 'project/image/build.sh'), script);
  stub('docker', 'if [ "$1" = login ]; then read -r password; echo "stdin: $password" >>"$CALLS"; fi');
  stub('aws', AWS);
});
afterEach(() => rmSync(folder, { recursive: true }));

const URI = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder/coder';
/** ECR has the repository, and only the image that PRESENT names. */
const AWS = `case "$2" in
  describe-repositories) echo ${URI} ;;
  describe-images) [ "\${PRESENT:-}" = "$6" ] ;;
  get-login-password) echo hunter2 ;;
esac`;

/** Its calls are written down with one argument on each line. */
function stub(name: string, body: string): void {
  const text = `#!/bin/sh\n{ echo "[${name} in $(pwd)]"; printf '%s\\n' "$@"; } >>"$CALLS"\n${body}\n`;
  writeFileSync(join(folder, 'bin', name), text, { mode: 0o755 });
}

function build(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const calls = join(folder, 'calls');
  const out = execFileSync('sh', ['image/build.sh', ...args], {
    cwd: join(folder, 'project'),
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, CALLS: calls, ...env },
    encoding: 'utf8',
  });
  return { out, calls: readFileSync(calls, 'utf8').replaceAll(folder, '') };
}

it('builds and pushes the image, and gives the password to docker through a pipe only', () => {
  const { out, calls } = build({});
  expect(out).toBe(`Set this image in autoscaler.yaml, and deploy:\n  image: ${URI}:v2-warm-1\n`);
  const command = `buildx build --platform linux/arm64 --progress plain --tag ${URI}:v2-warm-1 --push .`;
  expect(calls).toContain(`[docker in /project/image]\n${command.replaceAll(' ', '\n')}\n`);
  expect(calls.match(/.*hunter2/g)).toEqual(['stdin: hunter2']);
});

it('gives its arguments to docker, such as the image that has Terraform', () => {
  writeFileSync(join(folder, 'project/rc'), '');
  const { calls } = build({ TERRAFORM_RC: 'rc' }, '--build-arg', 'TERRAFORM_IMAGE=example.com/a b');
  expect(calls).toContain(
    '\n--push\n--build-arg\nTERRAFORM_IMAGE=example.com/a b\n--secret\nid=terraformrc,src=/project/rc\n.\n',
  );
});

it('builds nothing if ECR has the image', () => {
  const { out, calls } = build({ PRESENT: 'imageTag=v2-warm-1' });
  expect(out).toBe(`image: ${URI}:v2-warm-1 is in ECR already\n`);
  expect(calls).not.toContain('docker');
});

it('builds the folder that it is in, whatever CDPATH is', () => {
  const { calls } = build({ CDPATH: join(folder, 'elsewhere') });
  expect(calls).toContain('[docker in /project/image]');
});

it('finds the CLI configuration for private registries from the folder of the person who runs it', () => {
  writeFileSync(join(folder, 'project/my terraformrc'), '');
  const { calls } = build({ TERRAFORM_RC: 'my terraformrc', REPOSITORY: "it's $(mine)" });
  expect(calls).toContain('\n--secret\nid=terraformrc,src=/project/my terraformrc\n.\n');
  expect(calls).toContain("\n--repository-names\nit's $(mine)\n");
});
