/** `autoscaler setup --draft` over HTTP: what it writes, what it prints, and what it refuses. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { poolNames, type TagSetOf } from '../../../cli/draft/draft.ts';
import type { NewTemplate } from '../../../lab/world/coderd/tables/templates.ts';
import type { World } from '../../../lab/world/world.ts';
import { loadDeployment } from '../../../lambda/config/load.ts';
import { secretsOf } from '../../../lambda/config/rules/deployment.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { expectDocument } from '../../support/json-document.ts';
import { type LabOptions, START, startLab } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';

const folder = ownFolder();
const file = join(folder, 'autoscaler.yaml');

afterEach(() => {
  rmSync(file, { force: true });
});

type Case = Partial<LabOptions> & {
  readonly templates?: readonly NewTemplate[];
  readonly prepare?: (world: World) => unknown;
  readonly args?: readonly string[];
  readonly environment?: (world: World) => Readonly<Record<string, string>>;
};

/** Keys that a person creates. */
const STORED = ['--key-prefix', 'coder/keys'];

/** Exists in AWS, but not in the new configuration. */
const OTHER = { name: 'other', organization: 'default', tags: {} };

const TEMPLATES: readonly NewTemplate[] = [
  { organization: 'default', name: 'docker' },
  { organization: 'default', name: 'linux' },
  { organization: 'default', name: 'big', tags: { size: 'large' } },
  { organization: 'data', name: 'gpu', tags: { cluster: 'gpu', region: 'eu' } },
];

async function init({
  templates = TEMPLATES,
  prepare,
  args = [],
  environment,
  ...options
}: Case = {}): Promise<Answer> {
  const lab = await startLab({ pools: [OTHER], organizations: ['default', 'data'], ...options });
  const { world, coderdUrl } = lab;
  for (const template of templates) world.coderd.addTemplate(template);
  prepare?.(world);
  const variables = { CODER_URL: coderdUrl, ...environment?.(world) };
  const given = { environment: variables, now: () => START };
  const { code, out, err } = await runIn(given, 'setup', '--draft', '--config', file, ...args);
  const shown = (text: string): string => text.replaceAll(coderdUrl, 'CODERD').replaceAll(`${folder}/`, '');
  return { code, out: shown(out), err: shown(err) };
}

const poolsOf = () =>
  loadDeployment(file).config.pools.map((pool) => ({
    name: pool.name,
    organization: pool.organization,
    tags: pool.tags,
    key: secretsOf([pool])[0]?.secret ?? pool.auth.kind,
  }));

const tokenOf = (world: World): string => world.secrets.find(world.tokenSecretName)?.value ?? '';

it('writes a pool for each tag set of the active template versions', async () => {
  const { code, err } = await init();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(poolsOf()).toEqual([
    { name: 'default', organization: 'default', tags: {}, key: 'managed' },
    {
      name: 'default-large',
      organization: 'default',
      tags: { size: 'large' },
      key: 'managed',
    },
    {
      name: 'data-gpu-eu',
      organization: 'data',
      tags: { cluster: 'gpu', region: 'eu' },
      key: 'managed',
    },
  ]);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('managedKeys:\n  token: { secret: coder/key-manager-token }\n');
  expect(text).toContain('# templates: docker, linux\n');
  expect(text).toContain('image: ghcr.io/coder/coder:v2.30.0\n');
  expect(loadDeployment(file).warnings).toEqual([]);
});

it('says what it cannot see, and what to do next', async () => {
  const { out } = await init();
  expect(out).toContain('Tags that depend on parameters cannot be seen.');
  expect(out).toContain(
    'Next: npx autoscaler setup --config autoscaler.yaml does the other steps, and with --print it shows their commands.\n',
  );
});

it('never overwrites a file', async () => {
  writeFileSync(file, 'mine\n');
  const { code, err, out } = await init();
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toBe(
    'writing autoscaler.yaml: it exists, and setup never overwrites a file. Name another one with --config, or move it away\n',
  );
  expect(readFileSync(file, 'utf8')).toBe('mine\n');
});

it('offers an untagged pool to an organization without a template', async () => {
  const { code } = await init({ templates: [] });
  expect(code).toBe(0);
  expect(poolsOf().map(({ name, tags }) => [name, tags])).toEqual([
    ['default', {}],
    ['data', {}],
  ]);
  expect(readFileSync(file, 'utf8')).toContain('# no template yet; runs jobs without tags\n');
});

it.each([
  { keys: [], most: 42, left: 18 },
  { keys: STORED, most: 50, left: 10 },
])('keeps the $most tag sets that most templates use, and names the others', async ({ keys, most, left }) => {
  const tags = (number: number) => ({ team: `t${String(number).padStart(2, '0')}` });
  const each = Array.from({ length: 60 }, (_, number) => ({ organization: 'default', tags: tags(number) }));
  const more = each.slice(55).map((template, index) => ({ ...template, name: `more-${index}` }));
  const { code, out } = await init({
    templates: [...each, ...more],
    args: ['--organization', 'default', ...keys],
  });
  expect(code).toBe(0);
  const kept = poolsOf().map((pool) => pool.tags.team);
  expect(kept).toHaveLength(most);
  expect(kept).toEqual(expect.arrayContaining(['t00', `t${most - 6}`, 't55', 't59']));
  expect(out).toContain(`${left} tag sets too many for one deployment, which has at most ${most} pools`);
  expect(out).toContain(`Without a pool: "default" team=t${most - 5}; `);
  expect(readFileSync(file, 'utf8')).toContain(`These have no pool:\n#   default: team=t${most - 5}\n`);
});

it('leaves out templates whose jobs have scope=user, and says so', async () => {
  const mine = { organization: 'data', name: 'mine', tags: { scope: 'user', owner: 'x' } };
  const { out } = await init({ templates: [...TEMPLATES, mine] });
  expect(poolsOf()).toHaveLength(3);
  expect(out).toContain('Jobs of "mine" in organization "data" have scope=user.');
});

it('names the tags of builds that no pool can run', async () => {
  const { out } = await init({
    prepare: ({ coderd }) => {
      const [big] = coderd.templates().filter(({ name }) => name === 'big');
      if (big === undefined) throw new Error('no template');
      for (const name of ['a', 'b']) coderd.workspaces.add({ template: big, name });
      coderd.pushVersion(big, { size: 'huge' });
    },
  });
  expect(poolsOf().map(({ name }) => name)).toEqual(['default', 'default-huge', 'data-gpu-eu']);
  expect(out).toContain(
    '2 workspaces of organization "default" were last built with tags size=large, and no pool has them.',
  );
});

it('names no image for a coderd that is no release, and says so', async () => {
  const { out } = await init({ coderVersion: 'v2.36.0-devel' });
  expect(readFileSync(file, 'utf8')).not.toContain('image:');
  expect(out).toMatch(
    /coderd's version v2\.36\.0-devel\S* is no release, so the pools have the default image/,
  );
});

it('says nothing of builds that a pool with more tags can run', async () => {
  const { out } = await init({
    prepare: ({ coderd }) => {
      const [gpu] = coderd.templates().filter(({ name }) => name === 'gpu');
      if (gpu === undefined) throw new Error('no template');
      coderd.workspaces.add({ template: gpu });
      coderd.pushVersion(gpu, { cluster: 'gpu', region: 'eu', disk: 'big' });
    },
  });
  expect(out).not.toContain('last built');
});

it('takes the token from CODER_SESSION_TOKEN if it is set', async () => {
  const { code } = await init({
    args: ['--token-secret', 'coder/not-yet'],
    environment: (world) => ({ CODER_SESSION_TOKEN: tokenOf(world) }),
  });
  expect(code).toBe(0);
});

describe('a refusal', () => {
  it.each<Case & { readonly scenario: string; readonly says: string | RegExp; readonly exit?: number }>([
    {
      scenario: 'a token that coderd does not accept',
      prepare: ({ secrets, tokenSecretName }) =>
        secrets.put(tokenSecretName, 'aaaaaaaaaa-bbbbbbbbbbbbbbbbbbbbbb'),
      says: /^reading the user of the secret's token: coderd answered 401: .* API key is invalid\. Create a new token \(docs\/deploy\.md\)\n$/,
    },
    {
      scenario: 'a refused token of the shell',
      environment: () => ({ CODER_SESSION_TOKEN: 'nonsense' }),
      says: /^reading the user of the token in CODER_SESSION_TOKEN: coderd answered 401: .*expected 2 got 1\. Create a new token \(docs\/deploy\.md\)\n$/,
    },
    {
      scenario: 'a missing token secret',
      args: ['--token-secret', 'coder/nowhere'],
      says: /^reading secret "coder\/nowhere": .*\. Store the token there, or set CODER_SESSION_TOKEN to it for this command \(docs\/deploy\.md\)\n$/,
    },
    {
      scenario: 'a token without the role',
      prepare: (world) =>
        world.secrets.put(
          world.tokenSecretName,
          world.coderd.addToken({ canRead: ['default'], canReadWorkspaces: ['default'] }),
        ),
      says: /^listing templates of "data": coderd does not let the token's user read them; the token's user needs the organization template admin role there/,
    },
    {
      scenario: 'an organization that coderd does not list',
      args: ['--organization', 'nope'],
      says: 'choosing organizations: coderd lists no "nope" for this token; it lists data, default. Add the token\'s user to the organization, or name another one\n',
    },
    {
      scenario: 'a coderd that is too old',
      coderVersion: 'v2.19.0',
      says: /^reading the version of coderd: coderd v2\.19\.0\S* is too old/,
    },
    {
      scenario: 'a host in place of a URL',
      args: ['--url', 'coder.example.com'],
      exit: 2,
      says: 'error: --url: "coder.example.com" is not an absolute http or https URL; write https://coder.example.com\n',
    },
    {
      scenario: 'a port where nothing listens',
      args: ['--url', 'http://127.0.0.1:1'],
      says: /^reading the version of coderd: no answer from coderd .*; check the host and port in --url\n$/,
    },
    {
      scenario: 'a CA bundle that does not exist',
      args: ['--ca-bundle', '/nowhere/ca.pem'],
      says: 'reading --ca-bundle /nowhere/ca.pem: no such file; check the path\n',
    },
    {
      scenario: 'templates that all have scope=user',
      templates: [{ organization: 'data', name: 'mine', tags: { scope: 'user', owner: 'x' } }],
      args: ['--organization', 'data'],
      says: /^making pools: no template has tags that a pool can have\n {2}- Jobs of "mine" in organization "data" have scope=user\./,
    },
    {
      scenario: 'a tag that no pool can have',
      templates: [{ organization: 'default', tags: { '': 'x' } }],
      says: /^writing autoscaler\.yaml: coderd has tags or names that no pool can have\.(.|\n)*is an empty tag name/,
    },
  ])('names the cause and writes nothing: $scenario', async ({ says, exit = 1, scenario: _, ...given }) => {
    const { code, out, err } = await init(given);
    expect(err).toEqual(says instanceof RegExp ? expect.stringMatching(says) : says);
    expect({ code, out }).toEqual({ code: exit, out: '' });
    expect(existsSync(file)).toBe(false);
  });

  it('does not print a token that was pasted as the name of its secret', async () => {
    const pasted = 'aB3dE6gH9j-kL2mN5pQ8sT1vW4yZ7bC0e';
    const { code, err } = await init({ args: ['--token-secret', pasted] });
    expect(code).toBe(2);
    expect(err).toContain('--token-secret: the value looks like the secret itself');
    expect(err).not.toContain(pasted);
  });
});

it('names the URL as missing if there is neither an option nor a terminal', async () => {
  expect(await runIn({}, 'setup', '--draft', '--config', file)).toEqual({
    code: 2,
    out: '',
    err: 'error: no URL of coderd given. Add --url https://coder.example.com, or set CODER_URL\n',
  });
});

it('prints one JSON document with --json', async () => {
  const { out } = await init({ args: ['--json', '--organization', 'data', ...STORED] });
  expectDocument('setup --draft', out);
  expect(JSON.parse(out)).toEqual({
    version: 1,
    file: 'autoscaler.yaml',
    coderd: { url: 'CODERD', version: expect.stringMatching(/^v2\.30\.0/), user: 'autoscaler-1' },
    pools: [
      {
        name: 'gpu-eu',
        organization: 'data',
        tags: { cluster: 'gpu', region: 'eu' },
        key: 'coder/keys/gpu-eu',
        templates: ['gpu'],
      },
    ],
    notes: [expect.stringContaining('coder_workspace_tags')],
  });
});

// The names of the pools that `autoscaler setup --draft` derives from tag sets.

const one = (tags: TagSetOf['tags'], organization = 'default'): TagSetOf => ({ organization, tags });

it.each<{ readonly scenario: string; readonly sets: readonly TagSetOf[]; readonly names: readonly string[] }>(
  [
    { scenario: 'no tags: the organization', sets: [one({}, 'data')], names: ['data'] },
    { scenario: 'a value that says enough', sets: [one({ size: 'large' })], names: ['large'] },
    { scenario: 'a yes: the name of the tag', sets: [one({ gpu: 'true' })], names: ['gpu'] },
    { scenario: 'a no keeps its value', sets: [one({ gpu: 'false' })], names: ['gpu-false'] },
    { scenario: 'a number alone says nothing', sets: [one({ cpu: '8' })], names: ['cpu-8'] },
    {
      scenario: 'tags in the order of their names',
      sets: [one({ region: 'eu', cluster: 'gpu' })],
      names: ['gpu-eu'],
    },
    {
      scenario: 'several organizations: each name begins with its own',
      sets: [one({}), one({ gpu: 'a10' }, 'data')],
      names: ['default', 'data-a10'],
    },
    {
      scenario: 'two tags with the same value',
      sets: [one({ region: 'eu' }), one({ zone: 'eu' })],
      names: ['eu', 'zone-eu'],
    },
    {
      scenario: 'values that differ only in case and punctuation',
      sets: [one({ os: 'Win' }), one({ os: 'win' }), one({ os: 'win!' })],
      names: ['win', 'os-win', 'win-2'],
    },
    { scenario: 'accents and capitals', sets: [one({ Größe: 'Größe XL' })], names: ['gro-e-xl'] },
    { scenario: 'nothing that a name may have', sets: [one({ 大: '小' })], names: ['pool'] },
    {
      scenario: 'a long value',
      sets: [one({ a: 'x'.repeat(40) }), one({ b: 'x'.repeat(40) })],
      names: ['x'.repeat(30), `b-${'x'.repeat(28)}`],
    },
    { scenario: 'a name that coderd refuses for a key', sets: [one({ a: 'psk' })], names: ['a-psk'] },
  ],
)('gives $names for $scenario', ({ sets, names }) => {
  expect(poolNames(sets)).toEqual(names);
});

it('gives valid and different names for any tag sets', () => {
  const tagSet = fc.record({ organization: fc.string(), tags: fc.dictionary(fc.string(), fc.string()) });
  fc.assert(
    fc.property(fc.array(tagSet, { maxLength: 60 }), (sets) => {
      const names = poolNames(sets);
      expect(new Set(names).size).toBe(sets.length);
      for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,29}$/);
    }),
  );
});

it('names the stack of a file for one of several clusters, and its pools after the organization', async () => {
  const { code } = await init({ args: ['--organization', 'data', '--stack', 'Coder-data'] });
  expect(code).toBe(0);
  const { config } = loadDeployment(file);
  expect([config.aws.stack, ...config.pools.map(({ name }) => name)]).toEqual(['Coder-data', 'data-gpu-eu']);
  // what a person uncomments belongs to the section that is there
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^# {3}alarms:/m, '  alarms:'));
  expect(loadDeployment(file).config.aws).toMatchObject({
    stack: 'Coder-data',
    alarms: { emails: ['platform@example.com'] },
  });
});

it('refuses a name that no stack can have', async () => {
  const { code, err } = await init({ args: ['--stack', 'a_b'] });
  expect(code).toBe(2);
  expect(err).toContain('--stack: "a_b" is not the name of a CloudFormation stack');
});
