/** `autoscaler keys list` over HTTP: who uses which key, and what could not be read. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { CPU, DEPLOYMENT, type KeysLab, type KeysLabOptions, keysLabs, SECRET } from './keys-lab.ts';

const { file, start } = keysLabs();

async function created(options: KeysLabOptions = {}): Promise<KeysLab> {
  const lab = await start(options);
  // the world's own key of this pool, which its tasks do not get
  lab.world.coderd.deleteKey('data', 'gpu');
  await lab.createKey();
  return lab;
}

/** Ids and random endings differ from run to run. */
const steady = (out: string): string =>
  out
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID')
    .replaceAll(new RegExp(`${DEPLOYMENT.id}-gpu-[a-z0-9]{8}`, 'g'), 'stack-…-gpu-…');

const TAGS = `gpu=a10, note=it's "new", ok`;
const CPU_LINES = [
  'pool "cpu", organization "default": a key of its own, secret "coder/keys/cpu"',
  '  current  cpu, made 2 March 2026 09:00:00 UTC',
  '           id ID, tags (untagged); 1 task, 1 daemon online',
  '',
];

it('shows each key in use and after a rotation the earlier one', async () => {
  const lab = await created();
  await lab.keys('rotate', 'gpu');
  const running = await lab.keys('list');
  expect(running.out).toContain('  a rotation is running, or has failed\n');
  await lab.finishRotation();
  lab.startTask('gpu');
  const { code, out, err } = await lab.keys('list');
  expect(steady(out)).toBe(
    [
      ...CPU_LINES,
      `pool "gpu", organization "data": a managed key, secret "${SECRET}"`,
      '  current  stack-…-gpu-…, made 2 March 2026 09:00:00 UTC',
      `           id ID, tags ${TAGS}; 2 tasks, 2 daemons online`,
      '',
      'Keys that no pool uses:',
      '  ours     stack-…-gpu-…, made 2 March 2026 09:00:00 UTC',
      `           id ID, tags ${TAGS}; organization "data", 0 daemons online. Made for pool "gpu"; the key function deletes it when nothing can use it`,
      '',
    ].join('\n'),
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

it('tells how many tasks still use an earlier key', async () => {
  const lab = await created();
  lab.startTask('gpu');
  await lab.keys('rotate', 'gpu');
  await lab.finishRotation();
  lab.startTask('gpu');
  const { pools } = JSON.parse((await lab.keys('list', '--json')).out);
  const used = pools[1].keys.map(
    ({ is, tasks, daemons }: { is: string; tasks: number; daemons: object[] }) => ({
      ...{ is, tasks, daemons: daemons.length },
    }),
  );
  expect(used).toEqual([
    { is: 'current', tasks: 1, daemons: 1 },
    { is: 'earlier', tasks: 2, daemons: 2 },
  ]);
});

it('counts a task whose daemon has not connected apart', async () => {
  const lab = await created();
  lab.lab.pass(20);
  const { out } = await lab.keys('list');
  expect(out).toContain(
    '  1 task of which coderd lists no daemon by its name: starting, or without a guard\n',
  );
});

it('tells keys of this deployment from foreign ones, with their daemons', async () => {
  const lab = await created();
  const { coderd } = lab.world;
  const foreign = coderd.addKey({ organization: 'data', name: 'laptop', tags: { x: 'y' } });
  coderd.addKey({ organization: 'data', name: `${DEPLOYMENT.id}-web-k2j3h4g5`, tags: {} });
  coderd.addKey({ organization: 'data', name: `${DEPLOYMENT.id}-web-copy`, tags: {} });
  coderd.connect({ key: foreign, name: 'notebook', version: coderd.version.text });
  const { otherKeys } = JSON.parse((await lab.keys('list', '--json')).out);
  const seen = otherKeys.map(({ name, owner, pool, daemons }: Record<string, unknown>) => ({
    ...{ name, owner, pool, daemons },
  }));
  expect(seen).toEqual([
    { name: 'laptop', owner: 'foreign', pool: null, daemons: [{ name: 'notebook', online: true }] },
    { name: `${DEPLOYMENT.id}-web-k2j3h4g5`, owner: 'ours', pool: 'web', daemons: [] },
    { name: `${DEPLOYMENT.id}-web-copy`, owner: 'foreign', pool: null, daemons: [] },
  ]);
});

it('points out a daemon that keeps an old key alive and belongs to no task', async () => {
  const lab = await created();
  const { coderd } = lab.world;
  const { key } = JSON.parse(lab.secret().value ?? '{}');
  await lab.keys('rotate', 'gpu');
  await lab.finishRotation();
  coderd.connect({ key, name: 'stranger', version: coderd.version.text });
  const { out } = await lab.keys('list');
  expect(out).toContain(
    `organization "data", 1 daemon online (stranger). Made for pool "gpu"; no task of the pool has it, and the key function keeps it while a daemon is online. If you do not know the daemon, delete the key`,
  );
});

it('knows the keys of this deployment by the tag of CloudFormation, if no key is in use', async () => {
  const lab = await created();
  const stackId = 'arn:aws:cloudformation:eu-central-1:123456789012:stack/Stack/5c1e';
  const [key] = lab.keysIn('data');
  lab.world.secrets.create(SECRET, {
    [POOL_TAG]: 'gpu',
    [STACK_TAG]: 'Stack',
    'aws:cloudformation:stack-id': stackId,
  });
  const { otherKeys } = JSON.parse((await lab.keys('list', '--json')).out);
  expect(otherKeys).toEqual([expect.objectContaining({ name: key?.name, owner: 'ours', pool: 'gpu' })]);
});

describe('a problem', () => {
  it.each<{
    readonly scenario: string;
    readonly broken: (lab: KeysLab) => unknown;
    readonly code?: number;
    readonly says: readonly string[];
  }>([
    {
      scenario: 'is a managed key that somebody deleted',
      broken: (lab) => lab.world.coderd.deleteKey('data', lab.keysIn('data')[0]?.name ?? ''),
      says: [
        '  problem: coderd lists no key with the id ID: somebody has deleted it. New tasks cannot connect. The key function makes another one within 15 minutes',
      ],
    },
    {
      scenario: 'is a secret without a value',
      broken: (lab) => lab.world.secrets.create(SECRET, { [POOL_TAG]: 'gpu', [STACK_TAG]: 'Stack' }),
      says: [
        '  problem: the key function has not made its key yet. If no deployment is running, run autoscaler doctor',
        '  The current key of pool "gpu" is unknown, so it may be one of these.',
      ],
    },
    {
      scenario: 'is a missing secret',
      broken: (lab) => lab.world.secrets.delete(SECRET),
      says: ['  problem: no secret of stack "Stack" is for this pool. Deploy the configuration'],
    },
    {
      scenario: 'is a value that is no key',
      broken: (lab) => lab.world.secrets.put('coder/keys/cpu', '{"key": "no key"}\n'),
      says: [
        '  problem: the key in secret "coder/keys/cpu" is not accepted: the provisioner key in the secret contains white space',
      ],
    },
    {
      scenario: 'is a secret that the person may not read',
      broken: (lab) => lab.world.secrets.deny('coder/keys/cpu'),
      says: ['  problem: not checked: you have no permission to read secret "coder/keys/cpu".'],
    },
    {
      scenario: 'is an empty list that stands for a missing right',
      broken: ({ world }) =>
        world.secrets.put(
          world.tokenSecretName,
          world.coderd.addToken({ canRead: 'all', keyRights: { read: ['default'] } }),
        ),
      code: 1,
      says: [
        '  problem: its current key has the id ID, and not all lists of keys could be read',
        'Could not be read:',
        '  - listing provisioner keys of organization "data": the list is empty, as the role lacks the right;',
      ],
    },
    {
      scenario: 'is a token that coderd refuses',
      broken: ({ world }) => world.secrets.put(world.tokenSecretName, 'abc-def'),
      code: 1,
      says: ['  which keys its tasks use: not read', '  - listing organizations: coderd answered 401'],
    },
    {
      scenario: 'is a licence that is gone',
      broken: ({ world }) => {
        world.coderd.licence = 'not_entitled';
      },
      code: 1,
      says: ['  - listing provisioner keys of organization "data": coderd answered 403'],
    },
  ])('$scenario', async ({ broken, code = 0, says }) => {
    const lab = await created();
    await broken(lab);
    const answer = await lab.keys('list');
    const out = steady(answer.out);
    for (const each of says) expect(out).toContain(`\n${each}`);
    expect({ code: answer.code, err: answer.err }).toEqual({ code, err: '' });
  });

  it('is coderd, if it does not answer', async () => {
    const lab = await created();
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(lab.lab.coderdUrl, 'http://127.0.0.1:9'));
    const { code, out, err } = await lab.keys('list');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toContain('Could not be read:\n  - listing organizations: no answer from coderd');
    expect(out).toContain('  problem: the key in secret "coder/keys/cpu" could not be tried: ');
  });

  it('is a cluster that has no service of the pools', async () => {
    const lab = await created();
    const { code, out } = await lab.keys('list', '--cluster', 'nowhere');
    expect(code).toBe(1);
    expect(out).toContain('Could not be read:\n  - listing services of cluster "nowhere"');
  });
});

it('notes organizations without a pool whose keys the token may not read', async () => {
  const settings = (_: unknown, config: Record<string, unknown>) => {
    delete config.managedKeys;
  };
  const lab = await start({ pools: [CPU], settings });
  const { secrets, coderd, tokenSecretName } = lab.world;
  secrets.put(tokenSecretName, coderd.addToken({ canRead: 'all', keyRights: { read: ['default'] } }));
  const { code, out } = await lab.keys('list');
  expect(code).toBe(0);
  expect(out).toContain(
    `Not read:\n  - the token's user may not read the keys of these organizations, which have no pool: "data"\n`,
  );
});

it('shows pools without a provisioner key', async () => {
  const settings = (pools: readonly Record<string, unknown>[], config: Record<string, unknown>) => {
    delete config.managedKeys;
    for (const pool of pools) delete pool.key;
    Object.assign(pools[0] ?? {}, { psk: { secret: 'coder/psk', jsonKey: 'psk' } });
    Object.assign(pools[1] ?? {}, { token: { secret: 'coder/token' } });
  };
  const lab = await start({ settings });
  const { out } = await lab.keys('list');
  expect(out).toContain(
    `pool "cpu", organization "default": coderd's pre-shared key, secret "coder/psk", field "psk"\n  0 tasks\n`,
  );
  expect(out).toContain(`pool "gpu", organization "data": a user's token, secret "coder/token"\n  0 tasks\n`);
});
