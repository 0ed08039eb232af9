/** How a pool authenticates: what each way allows, and what is said about the rest. */
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../lambda/config/read.ts';
import { problemsIn } from './written.ts';

const OWNER = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a11';
const KEY = 'aB3xdefghijklmnopqrstuvwxyzaB3xdefghijklmno';

const textOf = (settings: readonly string[]) => `coder:
  url: https://coder.example.com
  token: { secret: coder/token }
pools:
  - name: gpu
    organization: default
${settings.map((line) => `    ${line}\n`).join('')}`;

/** The problems of a pool with these settings, which begin in line 7. */
function said(...settings: string[]): readonly string[] {
  return problemsIn(textOf(settings), 'f').map((line) => line.replace(/^f:/, '').replace('pools[0].', ''));
}

const PSK_WARNING =
  '7:5: warning: psk: a pre-shared key is not recommended: templates can read it, whoever has it can run any job of the default organization, and a new one needs a restart of coderd; write key: managed, or { secret: … } with a provisioner key';
const TOKEN_WARNING =
  '7:5: warning: token: templates of all users run in this pool and can read the token, which is worth far more than a provisioner key; write key: managed, or give the pool to one user: tags: { scope: user, owner: … }';
const HOW = 'write the UUID of the user whose token it is (coder users show me --output json)';

describe('a pool', () => {
  it.each([
    { settings: ['key: { secret: coder/keys/gpu }'], says: [] },
    { settings: ['psk: { secret: coder/psk }'], says: [PSK_WARNING] },
    { settings: ['token: { secret: coder/t }'], says: [TOKEN_WARNING] },
    { settings: ['token: { secret: coder/t }', `tags: { scope: user, owner: ${OWNER} }`], says: [] },
  ])('may have $settings', ({ settings, says }) => {
    expect(said(...settings)).toEqual(says);
  });

  it('may have a managed key if the file has the section managedKeys', () => {
    const text = textOf(['key: managed']);
    expect(problemsIn(`${text}managedKeys: { token: { secret: coder/keys-token } }\n`, 'f')).toEqual([]);
    expect(said('key: managed')).toEqual([
      '7:5: key: "managed" needs the section managedKeys; write managedKeys: { token: { secret: coder/key-manager-token } }',
    ]);
  });

  it('has exactly one credential', () => {
    expect(said('max: 3')).toEqual([
      '5:5: key: missing; write the secret that holds the provisioner key, such as { secret: coder/keys/default }, or "managed". To use a pre-shared key or the token of a user, write psk or token instead',
    ]);
    expect(said('key: { secret: a }', 'token: { secret: b }')).toEqual([
      '8:5: token: the pool already has key; keep one of key, psk, token',
    ]);
  });

  it('says of a second organization with psk that only the default one accepts it', () => {
    const second = '  - name: two\n    organization: other\n    psk: { secret: coder/psk }\n';
    expect(problemsIn(`${textOf(['psk: { secret: coder/psk }'])}${second}`, 'f')).toContain(
      'f:10:5: warning: pools[1].psk: pools[0] has psk in another organization, but psk works in the default one only; write a key here or there',
    );
  });
});

describe('scope and owner', () => {
  it.each([
    { tags: '{ scope: user }', says: [`8:13: tags.owner: missing, but scope is user; ${HOW}`] },
    {
      tags: '{ scope: user, owner: bob }',
      says: [`8:26: tags.owner: "bob" is not the UUID of a user in lower case; ${HOW}`],
    },
    {
      tags: `{ scope: user, owner: ${OWNER.toUpperCase()} }`,
      says: [`8:26: tags.owner: "${OWNER.toUpperCase()}" is not the UUID of a user in lower case; ${HOW}`],
    },
    {
      tags: `{ owner: ${OWNER} }`,
      says: [
        TOKEN_WARNING,
        '8:13: tags.owner: applies only with scope: user; write that too, or remove owner',
      ],
    },
    {
      tags: '{ scope: organization }',
      says: [
        TOKEN_WARNING,
        '8:13: tags.scope: "organization" is no scope to set: write user, or remove the tag to run jobs of the organization',
      ],
    },
    {
      tags: '{ scope: user, owner: 5 }',
      says: ['8:26: tags.owner: expected a string, got 5; put it in quotes'],
    },
  ])('are checked in a pool with token: $tags', ({ tags, says }) => {
    expect(said('token: { secret: t }', `tags: ${tags}`)).toEqual(says);
  });

  it.each([
    { way: 'key', credential: 'a provisioner key' },
    { way: 'psk', credential: 'a pre-shared key' },
  ])('are refused in a pool with $way', ({ way, credential }) => {
    expect(said(`${way}: { secret: s }`, `tags: { scope: user, owner: ${OWNER} }`)).toEqual(
      ['8:13: tags.scope: "scope"', '8:26: tags.owner: "owner"'].map(
        (start) =>
          `${start} cannot be set in a pool with ${way}: coderd sets this tag, because ${credential} is always organization-scoped; remove it`,
      ),
    );
  });
});

it('refuses a tag with = in its name or a line break where the daemon sends the tags', () => {
  expect(said('token: { secret: t }', 'tags: { "a=b": c }')).toEqual([
    TOKEN_WARNING,
    '8:13: tags["a=b"]: "a=b" contains =, so a daemon cannot send it with token; change the tag, or use a provisioner key',
  ]);
  expect(said('psk: { secret: t }', 'tags: { a: "b\\nc" }')).toEqual([
    PSK_WARNING,
    '8:13: tags.a: "a" contains a line break or NUL, so a daemon cannot send it with psk; change the tag, or use a provisioner key',
  ]);
  expect(said('key: { secret: t }', 'tags: { "a=b": c }')).toEqual([]);
});

it('warns of a tag with an empty value, which coderd drops, and leaves it out', () => {
  const text = textOf(['key: { secret: k }', 'tags: { team: "", size: large }']);
  expect(problemsIn(text, 'f')).toEqual([
    'f:8:13: warning: pools[0].tags.team: "team" has an empty value, and coderd drops such a tag: the pool\'s daemons do not have it; write a value, or remove the tag',
  ]);
  expect(readConfig(text, 'f').config.pools[0]?.tags).toEqual({ size: 'large' });
});

it.each(['scope', 'owner'])('does not warn of an empty %s, which coderd writes by itself', (name) => {
  const text = textOf(['key: { secret: k }', `tags: { ${name}: "" }`]);
  expect(problemsIn(text, 'f').filter((problem) => problem.includes('empty value'))).toEqual([]);
});

describe('a common mistake', () => {
  it.each([
    {
      settings: `key: ${KEY}`,
      says: [
        '7:5: key: expected managed or a mapping, got a string; it looks like the secret itself; store it in AWS Secrets Manager and write { secret: <its name or ARN> }',
      ],
    },
    {
      settings: 'key: manged',
      says: ['7:5: key: expected managed or a mapping, got a string; did you mean "managed"?'],
    },
    {
      settings: 'key: coder/keys/gpu',
      says: [
        '7:5: key: expected managed or a mapping, got a string; for example: { secret: coder/keys/default }',
      ],
    },
    {
      settings: 'key: true',
      says: ['7:5: key: expected managed or a mapping, got a boolean; write managed'],
    },
    {
      settings: 'key: { managed: true }',
      says: [
        '7:12: key.managed: unknown setting; for a key that the stack creates and rotates, write key: managed',
      ],
    },
    {
      settings: 'psk: hunter2',
      says: ['7:5: psk: expected a mapping, got a string; for example: { secret: coder/psk }', PSK_WARNING],
    },
    {
      settings: 'token: { secret: coder/token-AbCdEf }',
      says: [
        TOKEN_WARNING,
        '7:14: token.secret: ends like the random suffix of a secret ARN, so ECS would not find the secret by name; write its full ARN (aws secretsmanager describe-secret)',
      ],
    },
  ])('gets a hint: $settings', ({ settings, says }) => {
    expect(said(settings)).toEqual(says);
  });
});

describe('a variable of the credential', () => {
  const VARIABLES = [
    'CODER_PROVISIONER_DAEMON_KEY',
    'CODER_PROVISIONER_DAEMON_PSK',
    'CODER_PROVISIONERD_TAGS',
    'CODER_ORGANIZATION',
    'CODER_SESSION_TOKEN',
  ];
  const OURS = 'is a variable that the autoscaler sets itself; remove it';
  const BY_KEY =
    'cannot be used with a provisioner key: coder refuses to start, because the key already fixes organization and tags; remove it';
  const NOT_NEEDED =
    'is not needed: the daemon has its own credential, and coder does not pass this variable to Terraform; remove it, because templates could still read it from the daemon';
  const instead = (way: string) =>
    `cannot be used with token: coder would use this credential instead of the token; remove it, or write ${way} instead of token`;

  it.each([
    { way: 'key', reasons: [OURS, BY_KEY, BY_KEY, BY_KEY, NOT_NEEDED] },
    {
      way: 'psk',
      reasons: [
        'cannot be used with a pre-shared key: coder refuses to start with both; remove it',
        OURS,
        OURS,
        'cannot be used with a pre-shared key: coder refuses to start, because a pre-shared key works in the default organization only; remove it',
        NOT_NEEDED,
      ],
    },
    { way: 'token', reasons: [instead('key'), instead('psk'), OURS, OURS, OURS] },
  ])('is refused with the reason that fits $way', ({ way, reasons }) => {
    const variables = VARIABLES.map((name) => `  ${name}: { secret: s }`);
    const found = said(`${way}: { secret: s }`, 'secrets:', ...variables).filter(
      (line) => !line.includes('warning'),
    );
    expect(found.map((line) => line.replace(/^\d+:\d+: /, ''))).toEqual(
      VARIABLES.map((name, place) => `secrets.${name}: "${name}" ${reasons[place]}`),
    );
  });
});

describe('two pools with the key of one secret', () => {
  const both = (first: string, second: string, retiring = '') =>
    problemsIn(
      `${textOf([first, 'tags: { gpu: a10 }'])}  - name: cpu
    organization: default
    ${second}
${retiring}`,
      'f',
    ).map((line) => line.replace(/^f:/, ''));

  it('are refused if their tags differ', () => {
    const key = 'key: { secret: coder/keys/gpu }';
    expect(both(key, key)).toEqual([
      '11:5: pools[1].key: secret "coder/keys/gpu" is also the key of pools[0] "gpu", which has other tags; a key has one organization and one set of tags: create a key for "cpu", and name its secret here',
    ]);
  });

  it('are refused if their organizations differ', () => {
    const key = 'key: { secret: coder/keys/gpu }';
    const text = textOf([key]).replace('organization: default', 'organization: data');
    expect(problemsIn(`${text}  - name: cpu\n    organization: default\n    ${key}\n`, 'f')).toEqual([
      'f:10:5: pools[1].key: secret "coder/keys/gpu" is also the key of pools[0] "gpu", which has another organization; a key has one organization and one set of tags: create a key for "cpu", and name its secret here',
    ]);
  });

  it.each([
    ['psk: { secret: coder/psk }', 'psk: { secret: coder/psk }', ''],
    ['key: { secret: coder/keys, jsonKey: gpu }', 'key: { secret: coder/keys, jsonKey: cpu }', ''],
    ['key: { secret: coder/keys/gpu }', 'key: { secret: coder/keys/gpu }', '    retiring: true\n'],
  ])('are accepted with %s and %s %s', (first, second, retiring) => {
    expect(both(first, second, retiring).filter((line) => !line.includes('warning'))).toEqual([]);
  });
});
