/** The plan of setup's steps: what is done, what is to do, and what is not possible here. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AwsSeen, CoderSeen, Situation } from '../../../cli/setup/situation.ts';
import { planSteps, type StepId } from '../../../cli/setup/steps.ts';
import { checkConfig } from '../../../lambda/config/check.ts';
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';

const ROLES = new Map([
  ['autoscaler', ['organization-template-admin']],
  ['autoscaler-keys', ['a-custom-role']],
]);
const CODER: CoderSeen = {
  url: 'https://coder.example.com',
  version: 'v2.36.0',
  user: 'ann',
  isOwner: true,
  organizations: [{ id: 'id-1' as OrganizationId, name: 'default' }],
  users: new Set(ROLES.keys()),
  roles: new Map([['id-1', ROLES]]),
  buildsPerDay: 100,
};
const AWS: AwsSeen = {
  region: 'eu-central-1',
  account: '123456789012',
  caller: 'arn:aws:sts::123456789012:assumed-role/admin/ann',
  secrets: new Map([
    ['coder/autoscaler-token', 'stored'],
    ['coder/key-manager-token', 'stored'],
    ['coder/keys/cpu', 'stored'],
  ]),
  quotas: new Map([
    ['L-3032A538', { vcpus: 100 }],
    ['L-36FBB829', { vcpus: 6 }],
  ]),
  serviceRole: 'there',
  bootstrap: '28',
  stack: 'none',
};

type Changes = {
  readonly coder?: Partial<CoderSeen>;
  readonly aws?: Partial<AwsSeen>;
  readonly settings?: Record<string, unknown>;
  readonly pool?: Record<string, unknown>;
  readonly hasApp?: boolean;
  readonly lacksCdk?: boolean;
};

function situation({ coder, aws, settings, pool, hasApp = true, lacksCdk = false }: Changes): Situation {
  const cpu = { name: 'cpu', organization: 'default', key: 'managed', ...pool };
  const { config } = checkConfig({
    coder: { url: CODER.url, token: { secret: 'coder/autoscaler-token' } },
    managedKeys: { token: { secret: 'coder/key-manager-token' } },
    pools: [cpu],
    ...settings,
  });
  const seen = { coder: { value: { ...CODER, ...coder } }, aws: { value: { ...AWS, ...aws } } };
  return {
    file: 'autoscaler.yaml',
    config: { value: config },
    hasApp,
    lacksCdk,
    named: [],
    url: CODER.url,
    ...seen,
    buildsPerDay: 100,
  };
}

const secrets = (name: string, state: 'empty' | 'missing' | 'deleted' | 'unknown') => ({
  aws: { secrets: new Map([...AWS.secrets, [name, state]]) },
});

it.each<
  Changes & { readonly id: StepId; readonly state: string; readonly says: RegExp; readonly because: string }
>([
  {
    id: 'users',
    state: 'done',
    says: /have a role in the organization default/,
    because: 'any role counts: doctor checks it',
  },
  {
    id: 'users',
    coder: { users: new Set() },
    state: 'done',
    says: /tokens are stored/,
    because: 'the stored tokens are those of other users',
  },
  {
    id: 'users',
    coder: { isOwner: false, roles: new Map() },
    state: 'cannot',
    says: /you are "ann", and only an owner/,
    because: 'only an owner makes users',
  },
  {
    id: 'tokens',
    ...secrets('coder/autoscaler-token', 'empty'),
    state: 'todo',
    says: /a token for autoscaler, valid for a year/,
    because: 'a secret without a value has no token',
  },
  {
    id: 'tokens',
    ...secrets('coder/key-manager-token', 'deleted'),
    state: 'cannot',
    says: /restore-secret --secret-id coder\/key-manager-token/,
    because: 'AWS keeps the name',
  },
  {
    id: 'tokens',
    ...secrets('coder/autoscaler-token', 'unknown'),
    state: 'cannot',
    says: /You need secretsmanager:DescribeSecret/,
    because: 'it may exist',
  },
  {
    id: 'tokens',
    settings: { coder: { url: CODER.url, token: { secret: 'all', jsonKey: 'token' } } },
    state: 'cannot',
    says: /store the key "token" in the JSON of the secret all/,
    because: 'setup would overwrite the other keys',
  },
  { id: 'keys', state: 'done', says: /the stack makes them/, because: 'key: managed' },
  {
    id: 'keys',
    pool: { key: { secret: 'coder/keys/cpu' } },
    state: 'done',
    says: /all are stored/,
    because: 'the secret has a key',
  },
  {
    id: 'keys',
    pool: { key: { secret: 'coder/keys/new' } },
    state: 'todo',
    says: /a provisioner key for cpu/,
    because: 'the secret is missing',
  },
  {
    id: 'quota',
    pool: { max: 100 },
    state: 'done',
    says: /100 on-demand vCPUs, .*need 100/,
    because: 'max tasks of one vCPU',
  },
  {
    id: 'quota',
    pool: { max: 100, cpu: 2048, memory: 4096 },
    state: 'todo',
    says: /Requests 200 on-demand vCPUs/,
    because: 'each has two vCPUs',
  },
  {
    id: 'quota',
    pool: { max: 100 },
    settings: { limits: { maxTasks: 3 } },
    state: 'done',
    says: /need 3/,
    because: 'limits.maxTasks limits all pools',
  },
  {
    id: 'quota',
    settings: {
      limits: { maxTasks: 150 },
      pools: [
        { name: 'large', organization: 'default', key: 'managed', max: 5, cpu: 4096, memory: 8192 },
        { name: 'small', organization: 'data', key: 'managed', max: 200 },
      ],
    },
    state: 'todo',
    says: /Requests 165 on-demand vCPUs.* for large \(max 5 of 4 vCPUs\), small \(max 200 of 1 vCPU\), within limits\.maxTasks: 150/,
    because: 'of 150 tasks five are large',
  },
  {
    id: 'quota',
    pool: { spot: true, max: 10 },
    state: 'todo',
    says: /Requests 10 Spot vCPUs/,
    because: 'Spot has a quota of its own',
  },
  {
    id: 'quota',
    pool: { spot: true, max: 10 },
    aws: { quotas: new Map([['L-36FBB829', { vcpus: 6, requested: 10 }]]) },
    state: 'done',
    says: /the quota is 6 Spot vCPUs \(10 are requested\)/,
    because: 'there is an open request',
  },
  {
    id: 'role',
    aws: { serviceRole: 'missing' },
    state: 'todo',
    says: /the first deployment of an account fails/,
    because: 'the account never had a cluster',
  },
  {
    id: 'role',
    aws: { serviceRole: 'unknown' },
    state: 'todo',
    says: /if the account has none/,
    because: 'whoever may not look may still make it',
  },
  {
    id: 'bootstrap',
    aws: { bootstrap: 'none' },
    state: 'todo',
    says: /account 123456789012, eu-central-1/,
    because: 'the parameter is missing',
  },
  {
    id: 'bootstrap',
    aws: { bootstrap: 'unknown' },
    state: 'cannot',
    says: /ssm:GetParameters/,
    because: 'it may be there',
  },
  { id: 'deploy', state: 'todo', says: /starts \(1 vCPUs\)/, because: 'there is no stack' },
  {
    id: 'deploy',
    aws: { stack: 'ROLLBACK_COMPLETE' },
    state: 'todo',
    says: /Creates the stack/,
    because: 'its creation has failed',
  },
  {
    id: 'deploy',
    aws: { stack: 'UPDATE_ROLLBACK_COMPLETE' },
    state: 'done',
    says: /run: npx cdk deploy/,
    because: 'the stack is there',
  },
  {
    id: 'deploy',
    aws: { stack: 'UPDATE_IN_PROGRESS' },
    state: 'cannot',
    says: /wait for its end/,
    because: 'a deployment is running',
  },
  {
    id: 'synth',
    hasApp: false,
    state: 'cannot',
    says: /autoscaler synth/,
    because: 'the package has no CDK app',
  },
  {
    id: 'synth',
    lacksCdk: true,
    state: 'cannot',
    says: /Run: npm ci$/,
    because: 'npm ci --omit=dev leaves out the command cdk',
  },
])('$id: $state, because $because', ({ id, state, says, because: _, ...changes }) => {
  const step = planSteps(situation(changes)).find((each) => each.id === id);
  expect(step).toMatchObject({ state, says: expect.stringMatching(says) });
});

it('prints commands that keep every name one word, and does what no name says', () => {
  const file = "my file;touch Y; it's $(touch Z).yaml";
  const organization = 'default;>X';
  const seen = situation({ pool: { organization, key: { secret: 'a+b' } }, coder: { users: new Set() } });
  const organizations = [{ id: 'id-1' as OrganizationId, name: organization }];
  const coder = { value: { ...CODER, organizations, users: new Set<string>() } };
  const aws = { value: { ...AWS, secrets: new Map(), bootstrap: 'none' } };
  for (const config of [seen.config, 'missing'] as const) {
    const steps = planSteps({ ...seen, file, named: [organization], config, coder, aws });
    const words = argumentsOf(steps.flatMap(({ commands }) => commands));
    expect(words).toEqual(expect.arrayContaining([file, organization, `config=${file}`]));
    const runs = steps.flatMap((step) => step.runs ?? []);
    expect(words).toEqual(expect.arrayContaining(runs.filter((word) => word !== 'npx')));
  }
});

/** Runs lines in a shell in which every command prints its arguments alone. */
function argumentsOf(lines: readonly string[]): readonly string[] {
  const cwd = mkdtempSync(join(tmpdir(), 'setup-words-'));
  const stubs = ['npx', 'coder', 'aws'].map((name) => `${name}() { printf '<%s>\\n' "$@" >&2; }`);
  const { stderr } = spawnSync('sh', ['-c', [...stubs, ...lines].join('\n')], { cwd, encoding: 'utf8' });
  expect(readdirSync(cwd)).toEqual([]);
  rmSync(cwd, { recursive: true });
  return [...stderr.matchAll(/<(.*)>/g)].map(([, word = '']) => word);
}

it('offers a cluster for each organization before it writes a file that shares one', () => {
  const organizations = ['default', 'data'].map((name) => ({ id: `id-${name}` as OrganizationId, name }));
  const planned = (named: readonly string[], stack?: string) => {
    const seen = situation({ coder: { organizations } });
    const [config] = planSteps({ ...seen, config: 'missing', named, stack });
    return { says: config?.says, command: config?.commands.join() };
  };
  expect(planned([]).says).toContain(
    'a build of one can end builds of another (docs/deploy.md, "Shared clusters"). If they must not, answer n and make a file and a stack for each, as for data: npx autoscaler setup --organization data --config data.yaml --stack CoderProvisionerAutoscaler-data',
  );
  expect(planned(['data']).says).not.toContain('share');
  expect(planned(['data'], 'Data').command).toContain('--organization data --stack Data');
});
