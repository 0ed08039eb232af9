import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../lambda/config/check.ts';
import { CODER, fileWith, POOL, problemsOf } from './written.ts';

const SMALLEST = fileWith({}, { coder: { ...CODER, url: 'https://coder.example.com/' } });

it('fills in every default of the smallest configuration', () => {
  const { config, warnings } = checkConfig(SMALLEST);
  expect(warnings).toEqual([]);
  expect(config).toEqual({
    coder: {
      url: 'https://coder.example.com',
      token: { secret: 'coder/token' },
    },
    limits: { maxTasks: 100 },
    alertAfterMs: 300_000,
    looks: { everyMs: 'auto' },
    roll: { atOncePercent: 25 },
    pools: [
      {
        name: 'a',
        organization: 'default',
        tags: {},
        auth: { kind: 'key', secret: { secret: 'coder/key' } },
        min: 'auto',
        max: 20,
        warm: 'auto',
        waiting: { person: 0.1, autostart: 0.1, prebuild: 0.005, stop: 0.001 },
        dollarsPerLaunch: 0.0135,
        idleTimeoutMs: 20_000,
        wake: true,
        startTimeMs: 90_000,
        schedules: [],
        retiring: false,
        image: 'ghcr.io/coder/coder:v2.29.19',
        cpu: 1024,
        memory: 2048,
        architecture: 'arm64',
        spot: false,
        environment: {},
        secrets: {},
        ephemeralStorage: 20,
        taskRole: { kind: 'own', policies: [] },
        bindTaskRole: false,
      },
    ],
    aws: {
      stack: 'CoderProvisionerAutoscaler',
      network: { subnets: [], securityGroups: [], natGateways: 1, endpoints: false },
      logs: { retentionDays: 30 },
      guardDuty: false,
      function: { memory: 512, inVpc: true },
      earlySuccess: false,
      alarms: { enabled: true, emails: [] },
      metrics: { perPool: false },
      tags: {},
    },
  });
});

it('uses the values of a pool instead of the defaults', () => {
  const own = { image: 'mine:1', cpu: 2048, memory: 4096, architecture: 'x86_64' };
  const defaults = { image: 'all:1', cpu: 512, memory: 1024, architecture: 'arm64' };
  const { config } = checkConfig({
    ...SMALLEST,
    defaults,
    pools: [POOL, { ...POOL, name: 'b', tags: { b: '1' }, key: { secret: 'b' }, ...own }],
  });
  expect(config.pools[0]).toMatchObject(defaults);
  expect(config.pools[1]).toMatchObject(own);
});

describe('the default of dollarsPerLaunch', () => {
  const ECR = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder:v2';
  it.each<{
    readonly pool: object;
    readonly more?: object;
    readonly dollars: number;
    readonly because: string;
  }>([
    { pool: {}, dollars: 0.0135, because: 'the default image comes through the NAT gateway' },
    { pool: { image: 'coder/coder:v2' }, dollars: 0.0135, because: 'so does any image of the internet' },
    { pool: { image: 'public.ecr.aws/acme/coder:v2' }, dollars: 0.0135, because: 'public ECR is elsewhere' },
    { pool: { image: ECR }, dollars: 0, because: 'the endpoint of S3 is free' },
    {
      pool: {},
      more: { defaults: { image: ECR } },
      dollars: 0,
      because: 'the image of defaults is from ECR',
    },
    { pool: { capacity: { provider: 'own' } }, dollars: 0, because: 'instances keep images' },
    { pool: { dollarsPerLaunch: 0 }, dollars: 0, because: 'somebody wrote it' },
    { pool: { image: ECR, dollarsPerLaunch: 0.02 }, dollars: 0.02, because: 'somebody wrote it' },
  ])('is $dollars for $pool $more: $because', ({ pool, more, dollars }) => {
    expect(checkConfig(fileWith(pool, more)).config.pools[0]?.dollarsPerLaunch).toBe(dollars);
  });
});

it('treats null as an unset optional setting', () => {
  const nothing = {
    tags: null,
    min: null,
    cpu: null,
    environment: null,
    warm: null,
    waiting: null,
    idleTimeout: null,
    wake: null,
    schedules: null,
  };
  const coder = { ...CODER, caBundle: null };
  const { config } = checkConfig(
    fileWith(nothing, { coder, limits: null, waiting: null, defaults: { cpu: null } }),
  );
  expect(config).toEqual(checkConfig(SMALLEST).config);
});

it('refuses a mapping that has its own toString', () => {
  const retiring = [{ toString: '' }];
  expect(problemsOf(fileWith({ retiring }))).toEqual([
    'pools[0].retiring: expected true or false, got a list',
  ]);
});

it('reports problems of a parsed document without lines', () => {
  expect(problemsOf({ ...SMALLEST, maxTasks: 3 })).toEqual([
    'maxTasks: unknown setting; "maxTasks" belongs in limits; allowed: coder, limits, looks, roll, waiting, alertAfter, defaults, managedKeys, pools, aws',
  ]);
});

it.each([
  'https://coder.example.com:8443',
  'http://localhost:3000',
  'http://127.0.0.1:3000',
  'http://127.1.2.3',
  'http://[::1]:3000',
])('accepts %s as the URL of coderd', (url) => {
  expect(checkConfig(fileWith({}, { coder: { ...CODER, url } })).config.coder.url).toBe(url);
});

it.each([
  'http://coder.example.com',
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://10.0.0.1',
  'http://0.0.0.0:3000',
  'http://[::2]',
  'ftp://coder.example.com',
  'https:coder.example.com',
  '//coder.example.com',
  'localhost:3000',
  'https://coder.example.com/api',
  'https://coder.example.com?x=1',
  'https://coder.example.com#x',
  'https://me@coder.example.com',
  '',
])('refuses %j as the URL of coderd', (url) => {
  expect(problemsOf(fileWith({}, { coder: { ...CODER, url } })).join()).toMatch(/^coder\.url: /);
});

it.each([
  'coder/keys/default',
  'a',
  'autoscaler-coderprovisionertokens',
  'arn:aws:secretsmanager:eu-central-1:123456789012:secret:coder/token-AbCdEf',
  'arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:x-AbCdEf',
])('accepts %s as the name of a secret', (secret) => {
  const coder = { ...CODER, token: { secret } };
  expect(checkConfig(fileWith({}, { coder })).config.coder.token).toEqual({ secret });
});

it('reads the peers of a pool', () => {
  const peers = { self: 'eu-west', others: ['us-east', 'ap'] };
  expect(checkConfig(fileWith({ peers })).config.pools[0]?.peers).toEqual(peers);
});

it.each([
  { peers: { self: 'eu', others: ['us', 'eu'] }, says: 'others: a list has the name of this stack' },
  { peers: { self: 'eu', others: ['us', 'us'] }, says: 'others: a list has a duplicate entry' },
  { peers: { self: 'eu', others: [] }, says: 'others' },
  { peers: { self: '', others: ['us'] }, says: 'self: "" is not a name' },
  { peers: { self: 'eu', others: ['us east'] }, says: 'others[0]: "us east" is not a name' },
  { peers: { self: 'eu' }, says: 'others' },
  { peers: ['us'], says: 'peers' },
])('refuses wrong peers: $says', ({ peers, says }) => {
  const [problem, ...more] = problemsOf(fileWith({ peers }));
  expect(problem).toContain(`pools[0].peers`);
  expect(problem).toContain(says);
  expect(problem).not.toMatch(/^warning/);
  expect(more).toEqual([]);
});

const KEY = 'q8Zr2VbN6tLx0WcY4mHs1KdF7jGp3AoE5uTiXnRvBye';
const TOKEN = 'aB3dE5gH7j-K9mN1pQ3sT5vW7yZ9bC1dE';

type Mistake = { readonly pool?: object; readonly coder?: object; readonly managedKeys?: object };

it.each<Mistake>([
  { coder: { ...CODER, token: TOKEN } },
  { coder: { ...CODER, token: { secret: TOKEN } } },
  { coder: { ...CODER, token: { [TOKEN]: undefined } } },
  { coder: { ...CODER, token: [TOKEN] } },
  { coder: { ...CODER, url: `https://${KEY}@coder.example.com` } },
  { coder: { ...CODER, url: `https://coder.example.com/?token=${KEY}` } },
  { coder: { ...CODER, [KEY]: 1 } },
  { pool: { key: KEY } },
  { pool: { key: { secret: KEY } } },
  { pool: { key: { secret: `${KEY}\n` } } },
  { pool: { key: { secret: 'k', jsonKey: ` ${KEY}` } } },
  { pool: { key: { managed: KEY, [KEY]: KEY } } },
  { pool: { key: undefined, psk: KEY } },
  { pool: { key: undefined, token: TOKEN, tags: { owner: KEY, [`${KEY}=`]: '' } } },
  { pool: { key: undefined, token: { secret: 't' }, tags: { scope: 'user', owner: TOKEN } } },
  { managedKeys: { token: TOKEN, rotateAfterDays: KEY } },
  { pool: { name: KEY } },
  { pool: { tags: { scope: KEY, [KEY]: 1 } } },
  { pool: { architecture: KEY } },
  { pool: { environment: { 'A B': KEY, A: [KEY], CODER_PROVISIONER_DAEMON_KEY: KEY } } },
  { pool: { secrets: { A: KEY, [KEY]: KEY, '1': { secret: KEY } } } },
])(
  'refuses a secret in the wrong place without repeating it (case %#)',
  ({ pool = {}, ...rest }: Mistake) => {
    const problems = problemsOf(fileWith(pool, rest));
    expect(problems.some((line) => !line.startsWith('warning: '))).toBe(true);
    expect(problems.join('\n')).not.toContain(KEY);
    expect(problems.join('\n')).not.toContain(TOKEN);
  },
);
