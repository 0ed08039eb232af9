/** `autoscaler doctor` over HTTP: the credentials of the pools, and the key function's own check. */
import { describe, expect, it } from 'vitest';
import { runIn } from '../../support/cli-run.ts';
import { DEPLOYMENT, KEY_TOKEN, type KeysLab, keysLabs, SECRET } from '../keys/keys-lab.ts';

const { file, start } = keysLabs();

async function created(): Promise<KeysLab> {
  const lab = await start();
  await lab.createKey();
  return lab;
}

const steady = (out: string): string =>
  out.replaceAll(new RegExp(`${DEPLOYMENT.id}-gpu-[a-z0-9]{8}`, 'g'), 'stack-…-gpu-…');

/** The lines about the pools and the key function. */
const linesOf = (out: string): readonly string[] =>
  steady(out)
    .split('\n')
    .filter((line) => /^\S+ +(?:pool "\w+": (?:key|old keys)|key function)/.test(line));

const TOKEN = [
  'ok    key function: token: coderd accepts it; its user is "autoscaler-2"',
  'ok    key function: token expiry: expires at 2 March 2027 09:00:00 UTC, in 365 days',
];
const CPU = `ok    pool "cpu": key: key "cpu" has the pool's organization and tags`;
const FINE = 'ok    pool "gpu": key function: key "stack-…-gpu-…" works; nothing to mend';

it('tries the credential of each pool, and changes nothing', async () => {
  const lab = await created();
  const before = [lab.keysIn('data'), lab.secret().changedAt];
  const { code, out, err } = await lab.run('doctor');
  expect(linesOf(out)).toEqual([CPU, ...TOKEN, FINE]);
  expect(out.replace(/\+[0-9a-f]{7}/, '')).toContain('ok    coderd version: v2.30.0\n');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect([lab.keysIn('data'), lab.secret().changedAt]).toEqual(before);
});

it('says why an old key is kept', async () => {
  const lab = await created();
  lab.startTask('gpu');
  await lab.keys('rotate', 'gpu');
  await lab.finishRotation();
  lab.lab.pass(1200);
  const { code, out } = await lab.run('doctor');
  expect(linesOf(out)).toContain(
    'ok    pool "gpu": old keys: key "stack-…-gpu-…" of organization "data": kept, because a task may use it',
  );
  expect(code).toBe(0);
});

it('warns while a rotation runs, and fails when it has run for ten minutes', async () => {
  const lab = await created();
  await lab.keys('rotate', 'gpu');
  const first = await lab.run('doctor');
  expect(linesOf(first.out).filter((line) => !line.startsWith('ok'))).toEqual([
    'warn  pool "gpu": key function: a rotation is running: a version of its secret has no key yet',
  ]);
  expect(first.code).toBe(0);
  lab.lab.pass(600);
  const later = await lab.run('doctor');
  expect(linesOf(later.out).filter((line) => !line.startsWith('ok'))).toEqual([
    'FAIL  pool "gpu": key function: a version of its secret has no readable key, so no old key is deleted; if no rotation is running, remove the label AWSPENDING from that version',
  ]);
  expect(later.code).toBe(1);
  await lab.finishRotation();
  expect((await lab.run('doctor')).code).toBe(0);
});

describe('a failed check', () => {
  it.each<{
    readonly scenario: string;
    readonly broken: (lab: KeysLab) => unknown;
    readonly code?: number;
    readonly says: readonly string[];
  }>([
    {
      scenario: 'tells that somebody deleted the key',
      broken: (lab) => {
        const name = lab.keysIn('data').find((key) => key.name.startsWith(DEPLOYMENT.id))?.name;
        lab.world.coderd.deleteKey('data', name ?? '');
      },
      says: [
        'FAIL  pool "gpu": key function: coderd does not know the key in its secret; somebody has deleted it; the next sweep, within 15 minutes, makes another key',
      ],
    },
    {
      scenario: 'tells which right the token of the key function lacks',
      broken: ({ world }) =>
        world.secrets.put(KEY_TOKEN, world.coderd.addToken({ canRead: 'all', keyRights: { read: 'all' } })),
      says: [
        `FAIL  key function: the token's user may not create, delete provisioner keys in organization "data"; give it the role organization template admin there`,
      ],
    },
    {
      scenario: 'tells that the token of the key function is none',
      broken: ({ world }) => world.secrets.put(KEY_TOKEN, 'abc-def'),
      says: [`FAIL  key function: token: secret "${KEY_TOKEN}": coderd answered 401: `, 'API key is invalid'],
    },
    {
      scenario: 'tells that the token of the key function is missing',
      broken: ({ world }) => world.secrets.delete(KEY_TOKEN),
      says: [
        `FAIL  key function: token: reading secret "${KEY_TOKEN}"`,
        'skip  2 checks need "key function: token" to pass: key function: token expiry, key function',
      ],
    },
    {
      scenario: 'tells which permission the person lacks, and does not fail',
      broken: ({ world }) => world.secrets.deny(KEY_TOKEN),
      code: 0,
      says: [
        `warn  key function: token: not checked: you have no permission to read secret "${KEY_TOKEN}". In production the key function's role reads it`,
      ],
    },
    {
      scenario: 'tells that the person may not read the managed secret',
      broken: ({ world }) => world.secrets.deny(SECRET),
      code: 0,
      says: ['You need secretsmanager:DescribeSecret for this'],
    },
    {
      scenario: 'shows a garbled value as what it is, without the value',
      broken: ({ world }) => world.secrets.put(SECRET, '{"password":"hunter2-hunter2"}'),
      says: [
        'FAIL  pool "gpu": key function: the value of its secret has no field "key"; the next sweep, within 15 minutes, makes another key',
      ],
    },
  ])('$scenario', async ({ broken, code = 1, says }) => {
    const lab = await created();
    await broken(lab);
    const answer = await lab.run('doctor');
    for (const each of says) expect(steady(answer.out)).toContain(each);
    expect(answer.out).not.toContain('hunter2');
    expect({ code: answer.code, err: answer.err }).toEqual({ code, err: '' });
  });

  it('quotes the tags of a new key for the shell and for CSV', async () => {
    const lab = await start({
      settings: ([, gpu = {}], config) => {
        Object.assign(gpu, { key: { secret: 'coder/keys/gpu' } });
        delete config.managedKeys;
      },
    });
    lab.world.coderd.deleteKey('data', 'gpu');
    const { out } = await lab.run('doctor');
    expect(out).toContain(
      `Create a key (coder provisioner keys create gpu --org data --tag gpu=a10 --tag '"note=it'\\''s ""new"", ok"') and put it into secret "coder/keys/gpu"`,
    );
  });

  it('is no failure of the key function if no cluster is known, as before the first deployment', async () => {
    const { world } = await created();
    world.account.stacks.clear();
    const { code, out } = await runIn({ answerMs: 60_000 }, 'doctor', '--config', file);
    expect(code).toBe(0);
    expect(out).toMatch(/^skip {2}\d+ checks need "cluster" to pass: key function, /m);
  });
});
