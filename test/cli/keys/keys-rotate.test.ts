/** `autoscaler keys rotate` over HTTP: what it starts, and what it refuses. */
import { describe, expect, it, vi } from 'vitest';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { expectDocument } from '../../support/json-document.ts';
import { GPU, type KeysLab, type KeysLabOptions, keysLabs, SECRET } from './keys-lab.ts';

const { start } = keysLabs();

async function created(options: KeysLabOptions = {}): Promise<KeysLab> {
  const lab = await start(options);
  await lab.createKey();
  return lab;
}

const pendingOf = (lab: KeysLab): string => lab.secret().withStage('AWSPENDING')?.id ?? 'none';

it('starts a rotation and says what happens next', async () => {
  const lab = await created();
  expect(await lab.keys('rotate', 'gpu')).toEqual({
    code: 0,
    out: [
      `pool "gpu": started the rotation of its key, in secret "${SECRET}"`,
      'Next:',
      '  1. The key function makes a key, tries it and stores it as the current one. This takes a minute.',
      '  2. New tasks get the new key. The autoscaler replaces the others, a share at a time. Running builds finish first.',
      '  3. Once no task and no daemon uses the old key, the key function deletes it in coderd. It looks every 15 minutes.',
      'Follow it with: autoscaler doctor --config FILE',
      '',
    ].join('\n'),
    err: '',
  });
  const before = lab.world.coderd.keys.withSecret(JSON.parse(lab.secret().value ?? '{}').key);
  await lab.finishRotation();
  const after = lab.world.coderd.keys.withSecret(JSON.parse(lab.secret().value ?? '{}').key);
  expect(after?.tags).toEqual(GPU.tags);
  expect(after?.id).not.toBe(before?.id);
});

it('prints the rotation as one JSON document', async () => {
  const lab = await created();
  const [key] = lab.keysIn('data').filter(({ name }) => name.startsWith('stack-'));
  const { code, out } = await lab.keys('rotate', 'gpu', '--json');
  expect(code).toBe(0);
  expectDocument('keys rotate', out);
  expect(JSON.parse(out)).toEqual({
    version: 1,
    pool: 'gpu',
    secret: SECRET,
    rotation: pendingOf(lab),
    oldKeyId: key?.id,
    says: expect.stringContaining('started the rotation'),
  });
});

it('needs no token for coderd', async () => {
  const lab = await created();
  lab.world.secrets.deny(lab.world.tokenSecretName);
  expect((await lab.keys('rotate', 'gpu')).code).toBe(0);
});

it('leaves a pool of the same name in another stack alone', async () => {
  const lab = await created();
  lab.world.secrets.create('other', { [POOL_TAG]: 'gpu', [STACK_TAG]: 'Stack-2' });
  expect((await lab.keys('rotate', 'gpu')).code).toBe(0);
  expect(lab.secret('other').versions).toEqual([]);
});

describe('a rotation is refused', () => {
  it.each<{
    readonly scenario: string;
    readonly broken: (lab: KeysLab) => unknown;
    readonly err: string;
  }>([
    {
      scenario: 'while the secret has no value',
      broken: (lab) => lab.world.secrets.create(SECRET, { [POOL_TAG]: 'gpu', [STACK_TAG]: 'Stack' }),
      err: `rotating the key of pool "gpu": secret "${SECRET}" has no value, so the key function has not made the first key yet. Wait for the end of the deployment. If there is none, run autoscaler doctor\n`,
    },
    {
      scenario: 'while another one is running',
      broken: (lab) => lab.keys('rotate', 'gpu'),
      err: `rotating the key of pool "gpu": a rotation of secret "${SECRET}" is running or has failed: version PENDING is pending. Secrets Manager repeats a failed rotation by itself. Read the log of the key function for the cause. To give this rotation up, run:\n\naws secretsmanager update-secret-version-stage --secret-id ${SECRET} --version-stage AWSPENDING --remove-from-version-id PENDING\n`,
    },
    {
      scenario: 'without a secret of the pool',
      broken: (lab) => lab.world.secrets.delete(SECRET),
      err: `finding the secret of pool "gpu": no secret of stack "Stack" has the tag ${POOL_TAG}=gpu. Deploy the configuration\n`,
    },
    {
      scenario: 'with two secrets of the pool',
      broken: (lab) => lab.world.secrets.create('copy', { [POOL_TAG]: 'gpu', [STACK_TAG]: 'Stack' }),
      err: `finding the secret of pool "gpu": 2 secrets of stack "Stack" have the tag ${POOL_TAG}=gpu (${SECRET}, copy). Wait for the end of a deployment. If there is none, remove the tag from the secrets that the tasks do not use\n`,
    },
    {
      scenario: 'without the permission',
      broken: () => vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAOTHER'),
      err: 'rotating the key of pool "gpu": calling DescribeSecret: User: arn:aws:sts::123456789012:assumed-role/autoscaler/session is not authorized to perform: secretsmanager:DescribeSecret because no identity-based policy allows the secretsmanager:DescribeSecret action. You need secretsmanager:DescribeSecret for this\n',
    },
    {
      scenario: 'on a machine without a Region',
      broken: () => {
        vi.stubEnv('AWS_REGION', undefined);
        vi.stubEnv('AWS_DEFAULT_REGION', undefined);
      },
      err: 'finding the AWS Region: none is set. Set AWS_REGION to the Region of the stack\n',
    },
  ])('$scenario', async ({ broken, err }) => {
    const lab = await created();
    await broken(lab);
    const pending = pendingOf(lab);
    const answer = await lab.keys('rotate', 'gpu');
    expect(answer).toEqual({
      code: 1,
      out: '',
      err: err.replaceAll('PENDING', pending).replaceAll(`AWS${pending}`, 'AWSPENDING'),
    });
    expect(pendingOf(lab)).toBe(pending);
  });

  it('for a pool that the configuration does not have', async () => {
    const lab = await start();
    const { code, err } = await lab.keys('rotate', 'gpu; rm');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'finding pool "gpu; rm": the configuration has only cpu, gpu. Name one of them\n',
    });
  });
});

it.each([
  { auth: { key: { secret: 'team/key' } }, has: 'a key of its own' },
  { auth: { token: { secret: 'team/token' } }, has: "a user's token" },
  { auth: { psk: { secret: 'team/psk' } }, has: "coderd's pre-shared key" },
])('refuses a credential that the stack does not manage: $has', async ({ auth, has }) => {
  const lab = await start({
    settings: ([, gpu = {}], config) => {
      delete gpu.key;
      delete config.managedKeys;
      Object.assign(gpu, auth);
    },
  });
  const { code, out, err } = await lab.keys('rotate', 'gpu');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  // before it there may be a warning about the configuration
  expect(err).toContain(
    `rotating the key of pool "gpu": it has ${has}, which the stack does not manage. Replace it by hand: docs/credentials.md, "Replace a key by hand"\n`,
  );
});
