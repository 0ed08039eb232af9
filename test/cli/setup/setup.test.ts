/** `autoscaler setup` as a person runs it: from nothing, again, cut short, and with half of the rights. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadDeployment } from '../../../lambda/config/load.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { rows } from '../../support/runs.ts';
import { BOOTSTRAP, setupLab } from './setup-lab.ts';

const lab = setupLab();

const ROLES = [['organization-template-admin'], ['organization-template-admin']];
/** What a whole run makes. */
const EVERYTHING = {
  users: [
    ['autoscaler', ROLES],
    ['autoscaler-keys', ROLES],
  ],
  secrets: [
    ['coder/autoscaler-token', true],
    ['coder/key-manager-token', true],
  ],
  requested: [['L-3032A538', 40]],
  role: 'there',
};

const tokens = (): readonly string[] => lab.world.secrets.all().flatMap(({ value }) => value ?? []);

it('goes from nothing to the command that deploys', async () => {
  const { code, out, err } = await lab.run({}, '--yes', '--builds-per-day', '100');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(lab.made()).toEqual(EVERYTHING);
  expect(loadDeployment(lab.file).config.pools.map(({ name, auth }) => [name, auth.kind])).toEqual([
    ['default', 'managed'],
    ['data-data', 'managed'],
  ]);
  expect(lab.commands).toEqual([
    `npx cdk bootstrap aws://123456789012/eu-central-1 -c config=${lab.file}`,
    `npx cdk synth --quiet -c config=${lab.file}`,
  ]);
  expect(out).toContain('Tasks run on arm64, the default.');
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(
    /an idle month \$\d+ \(NAT gateways .*\); with 100 builds on a working day \$\d+ \(/,
  );
  expect(out).toContain(`Deploy with:\n\n    npx cdk deploy -c config=${lab.file}\n`);
  expect(tokens()).toHaveLength(2);
  for (const token of [...tokens(), lab.session]) expect(out).not.toContain(token);
});

it('finds what exists, and makes nothing twice', async () => {
  await lab.run({}, '--yes');
  const before = tokens();
  lab.changes.length = 0;
  const { code, out } = await lab.run({}, '--yes');
  expect(code).toBe(0);
  expect(lab.changes).toEqual([]);
  expect(tokens()).toEqual(before);
  expect(out.match(/^ {2}ok: /gm)).toHaveLength(7);
});

it.each(rows([0, 1, 2, 3, 4], 2))('goes on where it was cut short: after %i answers', async (answers) => {
  const first = await lab.run({ answers: Array.from({ length: answers }, () => '') });
  expect(first).toMatchObject({ code: 1, out: expect.stringContaining('stopped: run setup again') });
  const { code } = await lab.run({}, '--yes');
  expect(code).toBe(0);
  expect(lab.made()).toEqual(EVERYTHING);
});

it('mends what an interrupted step left: a user without a role, a secret without a value', async () => {
  const { coderd, secrets } = lab.world;
  const { id } = coderd.organizations.named('default');
  coderd.addUser({ username: 'autoscaler', memberOf: new Map([[id, []]]) });
  secrets.create('coder/autoscaler-token');
  expect(await lab.run({}, '--yes')).toMatchObject({ code: 0 });
  expect(lab.made()).toEqual(EVERYTHING);
});

it('replaces the token that a setup left when it was killed before it stored it, and no other one', async () => {
  const { coderd, secrets } = lab.world;
  await lab.run({}, '--yes');
  const [left] = tokens();
  const user = coderd.users().find(({ username }) => username === 'autoscaler');
  const elsewhere = coderd.addToken({ canRead: [], ...(user && { user }) });
  secrets.forget('coder/autoscaler-token');
  secrets.create('coder/autoscaler-token');
  // another setup may be about to store it
  expect((await lab.run({}, '--yes')).out).toContain(
    'FAILED: creating a token of autoscaler: a setup made one',
  );
  expect(coderd.authenticate(left)).toHaveProperty('user');
  lab.world.timeline.advanceTo(plusMs(lab.world.timeline.now(), MINUTE_MS));
  expect(await lab.run({}, '--yes')).toMatchObject({ code: 0 });
  expect(coderd.authenticate(left)).toHaveProperty('refusal');
  for (const token of [...tokens(), elsewhere]) expect(coderd.authenticate(token)).toHaveProperty('user');
});

it('reads the builds of an organization once, however often it looks', async () => {
  await lab.run({}, '--yes', '--skip', 'doctor');
  expect(lab.made()).toEqual(EVERYTHING);
  expect(lab.requests.filter((request) => request.includes('/provisionerjobs'))).toHaveLength(2);
});

it('asks again after an answer that it does not know, and skips a step at a no', async () => {
  const { code, out } = await lab.run({ answers: ['perhaps', 'N', 'y'] });
  expect(code).toBe(1);
  expect(out).toContain('Type y (do it), n (skip this step) or q');
  expect(out).toContain('skipped: not run');
  expect(out).toContain('not possible here: it needs "config" first');
  expect(existsSync(lab.file)).toBe(false);
});

it('deploys after a yes', async () => {
  await lab.run({}, '--yes');
  expect(await lab.run({ answers: ['y'] })).toMatchObject({ code: 0 });
  expect(lab.commands.at(-1)).toBe(`npx cdk deploy -c config=${lab.file}`);
});

it('lets doctor say that the account has no role of ECS, and goes on', async () => {
  const { code, out } = await lab.run({}, '--yes', '--skip', 'role');
  expect(code).toBe(0);
  expect(out.replaceAll(/\s+/g, ' ')).toContain(
    'warn role of ECS: this account has no AWSServiceRoleForECS, and its first deployment may fail. Run: aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com',
  );
});

it('is content with a role of ECS that exists, though the person may not look', async () => {
  Object.assign(lab.world.account, { serviceRole: 'there', hidesRoles: true });
  expect(await lab.run({}, '--yes')).toMatchObject({
    code: 0,
    out: expect.stringContaining('done: the role exists'),
  });
});

it('says that a stack exists, and how to change it', async () => {
  lab.world.account.stacks.set('CoderProvisionerAutoscaler', { status: 'UPDATE_COMPLETE' });
  expect((await lab.run({}, '--yes')).out).toContain('ok: the stack is UPDATE_COMPLETE.');
});

describe.each(['v2.35.4', 'v2.36.0'])('with Coder %s', (version) => {
  const other = setupLab(version);

  it('creates users that cannot sign in', async () => {
    expect((await other.run({}, '--yes')).err).toBe('');
    const names = other.world.coderd.users().map(({ username }) => username);
    expect(names).toEqual(expect.arrayContaining(['autoscaler', 'autoscaler-keys']));
  });
});

describe('--print', () => {
  it('prints the commands of all steps and changes nothing', async () => {
    const { code, out } = await lab.run({}, '--print');
    expect(code).toBe(0);
    expect({ changes: lab.changes, commands: lab.commands }).toEqual({ changes: [], commands: [] });
    expect(existsSync(lab.file)).toBe(false);
    const script = out.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const beginning of [
      'CODER_SESSION_TOKEN="$(coder tokens create --lifetime 8h)" npx autoscaler setup --draft --url',
      'coder users create --username autoscaler-keys --email',
      'coder organizations members edit-roles autoscaler organization-template-admin --org data',
      "coder tokens create --user autoscaler-keys --name autoscaler-keys --lifetime 8760h | tr -d '\\n' |",
      '  aws secretsmanager create-secret --name coder/key-manager-token --secret-string file:///dev/stdin',
      'aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com',
      'npx cdk bootstrap aws://123456789012/eu-central-1',
      'npx autoscaler doctor --config',
      'npx cdk deploy -c config=',
    ])
      expect(
        script.some((line) => line.startsWith(beginning)),
        beginning,
      ).toBe(true);
  });

  it('names coder.url if the address of a coderd that does not answer is from there', async () => {
    writeFileSync(
      lab.file,
      readFileSync('autoscaler.example.yaml', 'utf8').replace(/url: \S+/, 'url: http://127.0.0.1:9'),
    );
    const { out } = await lab.run({}, '--print');
    const text = out.replaceAll(/\s+#?\s*/g, ' ');
    expect(text).toContain('no answer from coderd');
    expect(text).toContain('check the host and port in coder.url');
  });

  it('works without any access', async () => {
    lab.session = '';
    lab.becomeGuest();
    const { code, out } = await lab.run({}, '--print');
    expect(code).toBe(0);
    expect(out).toMatch(/^# Coder: +nobody is signed in to http/);
    expect(out).toContain('\ncoder users create --username autoscaler --service-account');
  });
});

describe('with half of the rights', () => {
  it('gives an owner in Coder without AWS the steps of Coder, and both halves of the tokens', async () => {
    lab.becomeGuest();
    const { code, out } = await lab.run({}, '--yes');
    expect(code).toBe(1);
    expect(lab.made()).toEqual({ ...EVERYTHING, secrets: [], requested: [], role: 'none' });
    expect(existsSync(lab.file)).toBe(true);
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /skipped: making the role of ECS: AccessDenied.*runs: aws iam create-service-linked-role --aws-service-name ecs\.amazonaws\.com/,
    );
    expect(out).toMatch(/AWS does not let you look at the secret\s+coder\/autoscaler-token\./);
    expect(out).toMatch(/for an owner in Coder:\n\n {4}coder tokens create --user autoscaler /);
    expect(out).toMatch(/Run them one at a time: (.|\n)*:\n\n {4}read -rs VALUE && printf %s "\$VALUE" \|\n/);
    expect(out).not.toContain('Deploy with');
  });

  it('gives an administrator of AWS without Coder the steps of AWS', async () => {
    lab.session = lab.world.coderd.addToken({ canRead: [] });
    const { code, out } = await lab.run({}, '--yes', '--skip', 'config');
    expect(code).toBe(1);
    expect(lab.commands).toEqual([expect.stringContaining('npx cdk bootstrap')]);
    expect(out).toContain('Commands for an owner in Coder:\n\n    coder users create');
  });

  it('deletes a token that it could not store', async () => {
    const { secrets, coderd } = lab.world;
    secrets.create('coder/autoscaler-token');
    secrets.refusesValues = true;
    const { code, out } = await lab.run({}, '--yes');
    expect(code).toBe(1);
    expect(out).toMatch(/FAILED: storing the value of the secret coder\/autoscaler-token:\s+AccessDenied/);
    expect(out).toContain('    read -rs VALUE');
    expect(lab.changes).toContainEqual(expect.stringMatching(/^DELETE \/api\/v2\/users\/autoscaler\/keys\//));
    expect(coderd.users().some(({ username }) => username === 'autoscaler')).toBe(true);
  });
});

describe('keys that a person makes', () => {
  it('are created in coderd and stored', async () => {
    await lab.autoscaler('setup', '--draft', '--config', lab.file, '--key-prefix', 'coder/keys');
    const { code, out } = await lab.run({}, '--yes');
    expect(code, out).toBe(0);
    const { secrets, coderd } = lab.world;
    const stored = secrets.all().filter(({ name }) => name.startsWith('coder/keys/'));
    expect(stored.map(({ name, value }) => [name, coderd.keys.withSecret(value ?? '')?.tags])).toEqual([
      ['coder/keys/default', {}],
      ['coder/keys/data-data', { team: 'data' }],
    ]);
    for (const { value = '' } of stored) expect(out).not.toContain(value);
    expect(secrets.find('coder/key-manager-token')).toBeUndefined();
  });

  it('are named by their full ARN in the file from then on, which keeps its comments', async () => {
    await lab.autoscaler('setup', '--draft', '--config', lab.file, '--key-prefix', 'coder/keys');
    const before = readFileSync(lab.file, 'utf8');
    const { out } = await lab.run({}, '--yes');
    const arnOf = (name: string): string => lab.world.secrets.find(name)?.arn ?? '';
    expect(readFileSync(lab.file, 'utf8')).toBe(
      before.replace(/secret: (coder\/keys\/\S+)/g, (_, name) => `secret: ${arnOf(name)}`),
    );
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      `done: stored 2 keys. ${lab.file} now has the full ARN of each secret`,
    );
    // a second run finds them by their ARN
    expect((await lab.run({}, '--yes')).out).toContain('ok: all are stored');
  });

  it('say what to do if coderd has a key of that name', async () => {
    lab.world.coderd.addKey({ organization: 'default', name: 'default', tags: {} });
    await lab.autoscaler('setup', '--draft', '--config', lab.file, '--key-prefix', 'coder/keys');
    const { code, out } = await lab.run({}, '--yes');
    expect(code).toBe(1);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'run: coder provisioner keys delete default --org default.',
    );
  });
});

it('explains itself without a terminal', async () => {
  expect(await lab.run({})).toEqual({
    code: 2,
    out: '',
    err: 'error: setup asks before each step, and there is no terminal. Add --print to see the commands, or --yes to take every default\n',
  });
});

it.each([
  {
    why: 'no URL is set',
    args: [],
    environment: { CODER_URL: '' },
    says: /setup --draft --url https:\/\/coder\.example\.com/,
  },
  { why: 'nobody is signed in', args: [], environment: { CODER_SESSION_TOKEN: '' }, says: /validate \S+$/m },
])('prints commands that are whole if $why', async ({ args, environment, says }) => {
  expect((await lab.run({ environment }, '--print', ...args)).out).toMatch(says);
});

it('refuses the URL of another coderd than that of the configuration', async () => {
  await lab.run({}, '--yes', '--skip', 'doctor');
  const { code, err } = await lab.run({}, '--yes', '--url', 'https://other.example.com');
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('Leave out --url') });
});

it('breaks commands between words on a narrow terminal', async () => {
  const { out } = await lab.run({ columns: 80 }, '--print');
  const lines = out.split('\n').filter((line) => !line.includes(lab.file));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(out.replaceAll(/ \\\n */g, ' ')).toContain(
    'coder organizations members edit-roles autoscaler-keys organization-template-admin --org data\n',
  );
});

it('names every mistake of a configuration that exists, and stops the steps that need it', async () => {
  writeFileSync(lab.file, 'pools: 3\n');
  const { code, out } = await lab.run({}, '--yes');
  expect(code).toBe(1);
  expect(out).toContain('pools:\nexpected a list, got 3');
  expect(out).toContain('it needs "config" first');
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(
    /Not done: config, .*deploy\. When what they need is there, run setup again/,
  );
});

it('does not deploy what doctor refuses', async () => {
  await lab.run({}, '--yes', '--skip', 'doctor');
  lab.world.secrets.put('coder/autoscaler-token', 'aaaaaaaaaa-bbbbbbbbbbbbbbbbbbbbbb');
  const { code, out } = await lab.run({}, '--yes');
  expect(code).toBe(1);
  expect(out).toMatch(/FAIL {2}token valid: .*\n(.|\n)*FAILED: 1 check failed/);
  expect(out).toContain('not possible here: it needs "doctor" first');
});

it('prints one JSON document', async () => {
  lab.world.parameters.put(BOOTSTRAP, '28');
  const { out } = await lab.run({}, '--yes', '--json', '--builds-per-day', '100');
  const { steps, ...rest } = JSON.parse(out);
  expect(rest).toEqual({
    version: 1,
    file: lab.file,
    coder: {
      url: expect.any(String),
      version: expect.stringMatching(/^v2/),
      user: 'autoscaler-2',
      isOwner: true,
    },
    aws: {
      account: '123456789012',
      region: 'eu-central-1',
      caller: expect.stringContaining(':assumed-role/'),
    },
    dollarsPerMonth: { idle: expect.any(Number), buildsPerDay: 100, usual: expect.any(Number) },
  });
  expect(steps.map(({ id, result }: Record<string, string>) => `${id} ${result}`)).toEqual([
    'config done',
    'users done',
    'tokens done',
    'keys found',
    'quota done',
    'role done',
    'bootstrap found',
    'doctor done',
    'synth done',
    'cost done',
    'deploy skipped',
  ]);
});

it('says what to do about a session that has ended', async () => {
  lab.session = 'aaaaaaaaaa-bbbbbbbbbbbbbbbbbbbbbb';
  const { out } = await lab.run({}, '--print');
  expect(out.replaceAll(/\n# +/g, ' ')).toMatch(
    /reading the user of your session: coderd answered 401.* Run: coder login http/,
  );
});
