/** `autoscaler doctor` over HTTP: the credentials of pools that have no key of their own. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { CLEAN } from '../../../cli/shared/credential-commands.ts';
import type { World } from '../../../lab/world/world.ts';
import { commandLabs } from '../../support/command-lab.ts';
import { type LabPool, labConfig } from '../../support/lab.ts';

const ANN = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a11';
const SECRET = 'coder/keys/pool';

const { file, start } = commandLabs();

type Settings = Record<string, unknown>;
type Case = {
  readonly pool?: Partial<LabPool>;
  readonly broken?: (world: World) => void;
  /** Changes the settings of the pool and of the file. */
  readonly settings?: (pool: Settings, config: Settings) => void;
  readonly args?: readonly string[];
};

/** The lines about the pool's credential, and all texts that doctor printed. */
async function doctor({ pool, broken, settings, args }: Case) {
  const pools = [{ name: 'pool', organization: 'default', tags: {}, ...pool } as const];
  const { world, coderdUrl, callIn } = await start({
    pools,
    organizations: ['default', 'data'],
    psk: 'q8-of-coderd',
  });
  const config = labConfig(coderdUrl, pools);
  settings?.((config.pools as Settings[])[0] ?? {}, config);
  broken?.(world);
  writeFileSync(file, stringify(config));
  const rest = args ?? ['--cluster', world.ecs.clusterName];
  const { out, err } = await callIn({ environment: {}, answerMs: 60_000 }, 'doctor', ...rest);
  const raw = world.secrets.find(SECRET)?.value ?? '';
  if (raw !== '') expect(`${out}${err}`).not.toContain(plainly(raw));
  const wanted = /^\S+ .*pool "pool": (?:key|psk|token|secret)/;
  return out.split('\n').filter((line) => wanted.test(line));
}

/** The part of a stored value that no output may have. */
const plainly = (raw: string): string => raw.replaceAll(/^\W+|\W+$/g, '');

describe('a value that only the autoscaler can read', () => {
  const STORED = `ECS gives it to tasks as it is, so coderd accepts no daemon. Run: aws secretsmanager get-secret-value --secret-id ${SECRET} --query SecretString --output text | LC_ALL=C tr -dc '!#-&(-_a-~' | aws secretsmanager put-secret-value --secret-id ${SECRET} --secret-string file:///dev/stdin`;
  const storedAs =
    (change: (value: string) => string) =>
    ({ secrets }: World): void => {
      secrets.put(SECRET, change(secrets.find(SECRET)?.value ?? ''));
    };

  it.each<{ what: string; as: (value: string) => string; because: string }>([
    { what: 'ends with a line break', as: (value) => `${value}\n`, because: 'file://key stores it' },
    { what: 'ends with a line break', as: (value) => `${value}\r\n`, because: 'Windows ends lines so' },
    { what: 'has an invisible character', as: (value) => `\uFEFF${value}`, because: 'of Notepad' },
    { what: 'has an invisible character', as: (value) => `\n${value}`, because: 'Go refuses it' },
    { what: 'has quotes around it', as: (value) => `"${value}"`, because: 'a shell kept them' },
    { what: 'has quotes around it', as: (value) => `'${value}'\n`, because: 'cmd.exe kept them' },
  ])('fails for key, psk and token if it $what ($because)', async ({ what, as }) => {
    for (const credential of ['key', 'psk', 'token'] as const) {
      const lines = await doctor({ pool: { credential }, broken: storedAs(as) });
      expect(lines[0]).toBe(
        `FAIL  pool "pool": ${credential}: the value of secret "${SECRET}" ${what}. ${STORED}`,
      );
    }
  });

  it('fails if it is JSON without jsonKey', async () => {
    const broken = storedAs((value) => JSON.stringify({ key: value }));
    expect(await doctor({ broken })).toEqual([
      `FAIL  pool "pool": key: the value of secret "${SECRET}" is JSON. ECS gives it to tasks as it is, so coderd accepts no daemon. Write jsonKey with the name of its key, or store the credential alone`,
    ]);
  });

  it('fails for a line break within JSON, where no command of one line mends it', async () => {
    const broken = storedAs((value) => JSON.stringify({ of: `${value}\n` }));
    const settings = (pool: Settings) => {
      pool.key = { secret: SECRET, jsonKey: 'of' };
    };
    const lines = await doctor({ broken, settings });
    expect(lines).toEqual([
      expect.stringMatching(/ends with a line break\. .*Store the JSON anew, with the key "of"/),
    ]);
  });

  it('passes with spaces around it, which Go leaves out', async () => {
    expect(await doctor({ broken: storedAs((value) => ` ${value} `) })).toEqual([
      expect.stringMatching(/^ok {4}pool "pool": key: /),
    ]);
  });

  it.each([
    {
      value: 'one line\n',
      says: /^warn {2}pool "pool": secret TF_TOKEN: the value of secret "tf" is one line/m,
    },
    {
      value: '-----BEGIN KEY-----\nabc\n',
      says: /^ok {4}pool "pool": secrets: TF_TOKEN readable with your permissions$/m,
    },
    { value: '{"a":1}', says: /^ok {4}pool "pool": secrets: TF_TOKEN readable with your permissions$/m },
  ])('judges another variable with the value $value', async ({ value, says }) => {
    const lines = await doctor({
      broken: ({ secrets }) => secrets.put('tf', value),
      settings: (pool) => {
        pool.secrets = { TF_TOKEN: { secret: 'tf' } };
      },
    });
    expect(lines.join('\n')).toMatch(says);
  });

  it('is mended by the command that doctor shows', () => {
    const stored = '\uFEFF"Abc-19_x+/=~"\r\n';
    expect(execFileSync('sh', ['-c', `LC_ALL=C ${CLEAN}`], { input: stored, encoding: 'utf8' })).toBe(
      'Abc-19_x+/=~',
    );
  });
});

describe('the pre-shared key of a pool', () => {
  const pool = { credential: 'psk' } as const;

  it.each<Case & { readonly scenario: string; readonly says: readonly unknown[] }>([
    {
      scenario: 'is in the default organization',
      says: [
        `ok    pool "pool": psk: secret "${SECRET}" is readable with your permissions, and "default" is the default organization. Only a daemon can try the key: read the log of the first task`,
      ],
    },
    {
      scenario: 'is in another organization',
      settings: (given) => {
        given.organization = 'data';
      },
      says: [
        'FAIL  pool "pool": psk: coderd accepts the pre-shared key for its default organization "default" only, but the pool is in "data". Use a provisioner key',
      ],
    },
    {
      scenario: 'is a session token',
      broken: ({ coderd, secrets }) => secrets.put(SECRET, coderd.addToken({ canRead: [] })),
      says: [`FAIL  pool "pool": psk: secret "${SECRET}" holds a session token. Write token instead of psk`],
    },
    {
      scenario: 'is missing',
      broken: ({ secrets }) => secrets.delete(SECRET),
      says: [expect.stringMatching(/^FAIL {2}pool "pool": psk: reading secret "coder\/keys\/pool": /)],
    },
    {
      scenario: 'cannot be compared without the token',
      broken: ({ coderd, secrets, tokenSecretName }) =>
        coderd.tokens.revoke(secrets.find(tokenSecretName)?.value ?? ''),
      says: [
        `ok    pool "pool": psk: secret "${SECRET}" is readable with your permissions (organization not compared). Only a daemon can try the key: read the log of the first task`,
      ],
    },
  ])('$scenario', async ({ says, ...given }) => {
    expect(await doctor({ pool, ...given })).toEqual(says);
  });
});

describe('the token of a pool', () => {
  const shared = { credential: 'token' } as const;
  const ofAnn = { credential: 'token', tags: { scope: 'user', owner: ANN } } as const;
  const EXPIRY = 'ok    pool "pool": token expiry: expires at 2 March 2027 09:00:00 UTC, in 365 days';
  const UNREAD = 'skip  pool "pool": token expiry: needs "pool "pool": token" to pass';
  const put =
    (token: Parameters<World['coderd']['addToken']>[0]) =>
    ({ coderd, secrets }: World): void => {
      secrets.put(SECRET, coderd.addToken(token));
    };

  it.each<Case & { readonly scenario: string; readonly says: readonly unknown[] }>([
    {
      scenario: 'is of the owner of its jobs',
      pool: ofAnn,
      says: [
        'ok    pool "pool": token: coderd accepts it; its user "user-2" owns the jobs of the pool',
        EXPIRY,
      ],
    },
    {
      scenario: 'is of another user',
      pool: ofAnn,
      broken: (world) =>
        put({ canRead: [], user: world.coderd.addUser({ id: ANN.replace('11', '12'), username: 'bob' }) })(
          world,
        ),
      says: [
        expect.stringMatching(
          /^FAIL {2}pool "pool": token: its user is "bob", so coderd gives its daemons the owner 7d9bd02c-.*12, but tags\.owner is 7d9bd02c-.*11\. Write owner: 7d9bd02c-.*12, or use a token of the other user$/,
        ),
        EXPIRY,
      ],
    },
    {
      scenario: 'may run daemons of the organization',
      pool: shared,
      says: [
        expect.stringMatching(
          /^ok {4}pool "pool": token: coderd accepts it; its user "autoscaler-\d" may run daemons of the organization$/,
        ),
        EXPIRY,
      ],
    },
    {
      scenario: 'may not run daemons of the organization',
      pool: shared,
      broken: put({ canRead: [], keyRights: { create: ['data'] } }),
      says: [
        expect.stringMatching(
          /^FAIL {2}pool "pool": token: user "autoscaler-\d" may not run daemons of organization "default", so coderd refuses them with 403\. Give the user the role organization template admin there, or use a provisioner key$/,
        ),
        EXPIRY,
      ],
    },
    {
      scenario: 'is of an owner of coderd',
      pool: shared,
      broken: put({ canRead: [], isOwner: true }),
      says: [
        expect.stringMatching(
          /^warn {2}pool "pool": token: user "autoscaler-\d" has the role owner, and templates of this pool can read the token\. Use the token of a user without such roles$/,
        ),
        EXPIRY,
      ],
    },
    {
      scenario: 'is revoked',
      pool: ofAnn,
      broken: ({ coderd, secrets }) => coderd.tokens.revoke(secrets.find(SECRET)?.value ?? ''),
      says: [
        expect.stringMatching(
          /^FAIL {2}pool "pool": token: .*401.*API key is invalid.*\. Create a new token/,
        ),
        UNREAD,
      ],
    },
  ])('$scenario', async ({ says, ...given }) => {
    expect(await doctor(given)).toEqual(says);
  });
});
