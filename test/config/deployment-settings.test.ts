/** Tests of the section `aws`, and of the settings that only the deployment of a pool uses. */
import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../lambda/config/check.ts';
import { CODER, fileWith, POOL, problemsOf as problemsOfFile } from './written.ts';

type Written = { readonly aws?: unknown; readonly pool?: object; readonly coder?: object };

const configOf = ({ aws = {}, pool = {}, coder = {} }: Written) =>
  fileWith(pool, { coder: { ...CODER, ...coder }, aws });

/** Errors or warnings, one for each line. */
const problemsOf = (written: Written) => problemsOfFile(configOf(written)).join('\n');

const ROLE = 'arn:aws:iam::123456789012:role/team/terraform';
const POLICY = 'arn:aws:iam::aws:policy/AmazonEC2FullAccess';
const KEY = 'arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/mrk-0123456789abcdef0123456789abcdef';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:on-call';
const NETWORK = { vpc: 'vpc-0123456789abcdef0', subnets: ['subnet-0a1b2c3d', 'subnet-0123456789abcdef1'] };

it('reads every setting of the section aws', () => {
  const aws = {
    stack: 'Coder-2',
    network: { ...NETWORK, securityGroups: ['sg-0123456789abcdef0'] },
    cluster: 'platform',
    logs: { group: '/platform/coder' },
    kmsKey: KEY,
    permissionsBoundary: 'arn:aws:iam::123456789012:policy/boundary',
    bindTaskRoles: true,
    guardDuty: true,
    function: { memory: 1024, inVpc: false },
    earlySuccess: true,
    alarms: { topic: TOPIC },
    metrics: { perPool: true },
    tags: { 'cost-center': '4711', team: 'Entwicklung für Ärzte' },
  };
  const { config, warnings } = checkConfig(configOf({ aws }));
  expect(warnings).toEqual([]);
  expect(config.aws).toEqual({
    ...aws,
    network: { ...aws.network, natGateways: 1, endpoints: false },
    logs: { group: '/platform/coder', retentionDays: 30 },
    alarms: { enabled: true, topic: TOPIC, emails: [] },
  });
});

it('reads the settings of a new network, new log groups and a new topic', () => {
  const aws = {
    network: { natGateways: 2, endpoints: true },
    logs: { retentionDays: 400 },
    alarms: { emails: ['platform+coder@example.com'] },
  };
  expect(checkConfig(configOf({ aws })).config.aws).toMatchObject(aws);
});

it.each([
  { taskRole: {}, means: { kind: 'own', policies: [] } },
  { taskRole: { arn: ROLE }, means: { kind: 'existing', arn: ROLE } },
  { taskRole: { policies: [POLICY] }, means: { kind: 'own', policies: [POLICY] } },
])('reads the task role $taskRole as $means', ({ taskRole, means }) => {
  expect(checkConfig(configOf({ pool: { taskRole } })).config.pools[0]?.taskRole).toEqual(means);
});

it('reads the settings of the tasks of a pool', () => {
  const pool = {
    spot: true,
    ephemeralStorage: 200,
    retiring: true,
  };
  expect(checkConfig(configOf({ pool })).config.pools[0]).toMatchObject(pool);
});

it('removes the slash at the end of the proxy URL', () => {
  const { config } = checkConfig(configOf({ coder: { proxy: 'http://proxy.example.com:3128/' } }));
  expect(config.coder.proxy).toBe('http://proxy.example.com:3128');
});

const VPC_ID = 'is not the id of a VPC; write one such as vpc-0123456789abcdef0';
const HTTP_PROXY =
  'coder.proxy: the value is not an http URL; write one such as http://proxy.example.com:3128';
const TAG_KEY = 'is not the key of an AWS tag; use 1 to 128 letters, digits, spaces and _ . : / = + - @';

type Refused = Written & { readonly says: string };

const VALUES: readonly Refused[] = [
  {
    pool: { image: 'https://ghcr.io/coder/coder:v2.29.19' },
    says: 'is not the name of a container image; write one such as ghcr.io/',
  },
  {
    pool: { image: 'coder:latest:x' },
    says: 'is not the name of a container image; write one such as ghcr.io/',
  },
  {
    pool: { environment: { AUTOSCALER_TEST_LOOK_MS: '1' } },
    says: 'is reserved for tests of the guard; remove it',
  },
  { aws: { network: { vpc: 'vpc-1' } }, says: `aws.network.vpc: "vpc-1" ${VPC_ID}` },
  { aws: { network: { vpc: 'vpc-0123456789ABCDEF0' } }, says: VPC_ID },
  { aws: { network: { vpc: 'vpc-0123456789abcdef01' } }, says: VPC_ID },
  {
    aws: { network: { ...NETWORK, subnets: ['sg-0123456789abcdef0'] } },
    says: 'aws.network.subnets[0]: "sg-0123456789abcdef0" is not the id of a subnet; write one such as subnet-0123456789abcdef0',
  },
  {
    aws: { network: { ...NETWORK, securityGroups: ['default'] } },
    says: 'aws.network.securityGroups[0]: "default" is not the id of a security group; write one such as sg-0123456789abcdef0',
  },
  { aws: { network: { natGateways: 0 } }, says: 'aws.network.natGateways: expected at least 1, got 0' },
  { aws: { network: { natGateways: 3 } }, says: 'aws.network.natGateways: expected at most 2, got 3' },
  {
    aws: { cluster: 'arn:aws:ecs:eu-central-1:123456789012:cluster/platform' },
    says: 'is not the name of an ECS cluster; write the part of its ARN after the last "/"',
  },
  {
    aws: { logs: { group: 'aws/lambda' } },
    says: 'aws.logs.group: "aws/lambda" is not a usable name of a log group; use at most 256 letters, digits and . - _ / (a service carries it as a tag), and do not begin with "aws/"',
  },
  {
    aws: { logs: { group: '/builds#1' } },
    says: 'aws.logs.group: "/builds#1" is not a usable name of a log group',
  },
  {
    aws: { network: { ...NETWORK, securityGroups: ['sg-0123456789abcdef0', 'sg-0123456789abcdef0'] } },
    says: 'aws.network.securityGroups: a list has a duplicate entry; keep one of them',
  },
  {
    aws: {
      network: {
        ...NETWORK,
        subnets: Array.from({ length: 17 }, (_, i) => `subnet-0123456789abcdef${i % 10}`),
      },
    },
    says: 'aws.network.subnets: expected at most 16',
  },
  {
    aws: { logs: { retentionDays: 31 } },
    says: 'aws.logs.retentionDays: expected one of 1, 3, 5, 7, 14, 30, 60,',
  },
  {
    aws: { kmsKey: 'arn:aws:kms:eu-central-1:123456789012:alias/logs' },
    says: 'is not the ARN of a KMS key (not of an alias); write one such as arn:aws:kms:',
  },
  {
    aws: { permissionsBoundary: ROLE },
    says: `aws.permissionsBoundary: "${ROLE}" is not the ARN of a managed policy; write one such as arn:aws:iam::123456789012:policy/boundary`,
  },
  { aws: { alarms: { topic: `${TOPIC}.fifo` } }, says: 'is not the ARN of a standard SNS topic' },
  {
    aws: { alarms: { emails: ['on-call'] } },
    says: 'aws.alarms.emails[0]: "on-call" is not an e-mail address',
  },
  { aws: { function: { memory: 255 } }, says: 'aws.function.memory: expected at least 256, got 255' },
  { aws: { function: { memory: 10_241 } }, says: 'aws.function.memory: expected at most 10240, got 10241' },
  {
    aws: { stack: '2nd' },
    says: 'aws.stack: "2nd" is not the name of a CloudFormation stack; use at most 128 letters, digits and hyphens, and begin with a letter',
  },
  { aws: { tags: { 'a,b': 'x' } }, says: `aws.tags["a,b"]: "a,b" ${TAG_KEY}` },
  { aws: { tags: { ['k'.repeat(129)]: 'x' } }, says: TAG_KEY },
  {
    aws: { tags: { 'AWS:a': 'x' } },
    says: 'aws.tags["AWS:a"]: "AWS:a" is reserved by AWS; write a key that does not begin with "aws:"',
  },
  {
    aws: { tags: { 'coder-autoscaler:pool': 'x' } },
    says: 'is a tag key that the autoscaler sets itself; write a key that does not begin with "coder-autoscaler:"',
  },
  {
    aws: { tags: { a: 'x;y' } },
    says: 'aws.tags.a: "x;y" is not the value of an AWS tag; use at most 256 letters, digits, spaces and _ . : / = + - @',
  },
  { aws: { tags: { a: 'x'.repeat(257) } }, says: 'is not the value of an AWS tag' },
  { aws: { tags: { a: 4711 } }, says: 'aws.tags.a: expected a string, got 4711; put it in quotes' },
  {
    aws: { tags: Object.fromEntries(Array.from({ length: 36 }, (_, index) => [`t${index}`, 'x'])) },
    says: 'aws.tags: a mapping has too many tags; write at most 35, because AWS allows 50 and the autoscaler needs the others',
  },
  { aws: { vpc: 'vpc-1' }, says: 'aws.vpc: unknown setting; "vpc" belongs in aws.network' },
  { aws: 'eu-central-1', says: 'aws: expected a mapping, got "eu-central-1"' },
  { pool: { ephemeralStorage: 201 }, says: 'pools[0].ephemeralStorage: expected at most 200, got 201' },
  { pool: { ephemeralStorage: 19 }, says: 'pools[0].ephemeralStorage: expected at least 20, got 19' },
  {
    pool: { taskRole: ROLE },
    says: 'pools[0].taskRole: expected a mapping, got "arn:aws:iam::123456789012:role/team/terraform"',
  },
  { pool: { taskRole: { arn: POLICY } }, says: 'is not the ARN of a role' },
  {
    pool: { taskRole: { policies: ['AmazonEC2FullAccess'] } },
    says: 'pools[0].taskRole.policies[0]: "AmazonEC2FullAccess" is not the ARN of a managed policy',
  },
  { coder: { proxy: 'proxy.example.com:3128' }, says: HTTP_PROXY },
  { coder: { proxy: 'https://proxy.example.com' }, says: HTTP_PROXY },
  {
    coder: { proxy: 'http://proxy.example.com/pac' },
    says: 'contains a path; end the URL after host and port',
  },
  {
    coder: { proxy: 'http://proxy.example.com?a' },
    says: 'coder.proxy: the value contains a query or fragment',
  },
];

it('takes the full ARN of a secret, which ends with a random suffix', () => {
  const secret = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:coder/cpu-AbCdEf';
  expect(problemsOf({ pool: { key: { secret }, secrets: { TF_TOKEN: { secret } } } })).toBe('');
});

it('takes a secret that was written in place of a name for a secret only', () => {
  const says = problemsOf({ pool: { key: { secret: 'AKIAIOSFODNN7EXAMPLE-abc123' } } });
  expect(says).toContain('secret');
  expect(says).not.toContain('random suffix');
  expect(says.split('\n')).toHaveLength(1);
});

it.each(VALUES)('refuses a wrong value: $says', ({ says, ...written }) => {
  expect(problemsOf(written)).toContain(says);
});

const OF_AN_EXISTING =
  'applies only to a VPC that the stack creates, but vpc names an existing one; remove it, or remove vpc';
const DRAINS =
  'warning: pools[0].capacity.provider: ECS stops builds on an instance that it drains, protected or not. Managed Instances drain 14 days after their launch (docs/adr/0049); for an Auto Scaling group turn managed termination protection on';
const OF_ITS_OWN_ROLE =
  'applies only to a role that the stack creates, but arn names an existing one; add it to that role, or remove arn';
const ALARMS_OFF = 'has no effect because alarms are disabled; remove it, or write enabled: true';

const TOGETHER: readonly Refused[] = [
  {
    aws: { network: { vpc: NETWORK.vpc } },
    says: 'aws.network.subnets: missing, but vpc is set; write the ids of its private subnets: [subnet-…, subnet-…]',
  },
  {
    aws: { network: { subnets: NETWORK.subnets } },
    says: 'aws.network.subnets: applies only to an existing VPC; write its id too: vpc: vpc-…',
  },
  {
    aws: { network: { securityGroups: ['sg-0123456789abcdef0'] } },
    says: 'aws.network.securityGroups: applies only to an existing VPC; write its id too: vpc: vpc-…',
  },
  { aws: { network: { ...NETWORK, natGateways: 1 } }, says: `aws.network.natGateways: ${OF_AN_EXISTING}` },
  { aws: { network: { ...NETWORK, endpoints: true } }, says: `aws.network.endpoints: ${OF_AN_EXISTING}` },
  {
    aws: { logs: { group: 'mine', retentionDays: 30 } },
    says: 'aws.logs.retentionDays: applies only to log groups that the stack creates, but group names an existing one; remove it, or remove group',
  },
  {
    aws: { alarms: { topic: TOPIC, emails: ['a@example.com'] } },
    says: 'aws.alarms.emails: applies only to a topic that the stack creates, but topic names an existing one; subscribe the addresses there, or remove topic',
  },
  { aws: { alarms: { enabled: false, topic: TOPIC } }, says: `aws.alarms.topic: ${ALARMS_OFF}` },
  {
    pool: { key: { secret: 'coder/cpu-secret' } },
    says: 'pools[0].key.secret: ends like the random suffix of a secret ARN, so ECS would not find the secret by name; write its full ARN (aws secretsmanager describe-secret)',
  },
  {
    pool: { secrets: { TF_TOKEN: { secret: 'terraform-tokens' } } },
    says: 'pools[0].secrets.TF_TOKEN.secret: ends like the random suffix of a secret ARN, so ECS would not find the secret by name; write its full ARN (aws secretsmanager describe-secret)',
  },
  {
    pool: { environment: { HTTPS_PROXY: 'http://ada:hunter2@proxy:3128' } },
    says: 'warning: pools[0].environment.HTTPS_PROXY: looks like a secret, and the template and the AWS console would show it; store it in AWS Secrets Manager and refer to it in secrets',
  },
  {
    pool: { environment: { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE' } },
    says: 'warning: pools[0].environment.AWS_ACCESS_KEY_ID: looks like a secret, and the template and the AWS console would show it; store it in AWS Secrets Manager and refer to it in secrets',
  },
  {
    pool: { environment: { AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' } },
    says: 'warning: pools[0].environment.AWS_SECRET_ACCESS_KEY: looks like a secret, and the template and the AWS console would show it; store it in AWS Secrets Manager and refer to it in secrets',
  },
  {
    aws: { tags: { token: 'Zq8sKx2Lw9-Zq8sKx2Lw9Zq8sKx2Lw9ab' } },
    says: 'warning: aws.tags.token: looks like a secret, and the template and the AWS console would show it; store it in AWS Secrets Manager and refer to it in secrets',
  },
  {
    pool: { capacity: ['spot', 'on-demand'], spot: true },
    says: 'pools[0].spot: has no effect because capacity says it; remove one of the two',
  },
  {
    pool: { capacity: ['spot'] },
    says: 'pools[0].capacity: a list is not a choice of capacity; write [spot, on-demand], or [on-demand] while the service on Spot drains',
  },
  {
    pool: { capacity: ['spots'] },
    says: 'pools[0].capacity[0]: expected spot or on-demand, got "spots"; did you mean "spot"?',
  },
  {
    pool: { capacity: 'spot' },
    says: 'pools[0].capacity: expected a list or a mapping, got "spot"; for example: [ spot, on-demand ]',
  },
  {
    pool: { capacity: { provider: 'FARGATE_SPOT' } },
    says: 'pools[0].capacity.provider: "FARGATE_SPOT" is not a capacity provider of yours; write its name. For Fargate remove capacity, for Spot write [spot, on-demand]',
  },
  {
    pool: { capacity: { provider: 'builders' }, cpu: 256, memory: 8000 },
    says: DRAINS,
  },
  {
    pool: { capacity: { provider: 'builders' }, ephemeralStorage: 40 },
    says: `${DRAINS}\npools[0].ephemeralStorage: is a setting of Fargate, but the tasks run on instances of capacity.provider; remove it, and give the instances the disk`,
  },
  {
    pool: { taskRole: { arn: ROLE, policies: [POLICY] } },
    says: `pools[0].taskRole.policies: ${OF_ITS_OWN_ROLE}`,
  },
  {
    pool: { scaleIn: 'confirm' },
    says: 'pools[0].scaleIn: confirm has ended; every pool has the guard. Its image needs sh and curl: docs/upgrade.md',
  },
  {
    pool: { scaleIn: 'never' },
    says: 'pools[0].scaleIn: never has ended; every pool has the guard. Its image needs sh and curl: docs/upgrade.md',
  },
];

it.each(TOGETHER)('reports settings that contradict each other: $says', ({ says, ...written }) => {
  expect(problemsOf(written)).toBe(says);
});

it.each([
  {
    aws: { network: { ...NETWORK, endpoints: false } },
    because: 'endpoints: false is right for an existing VPC',
  },
  { aws: { network: { subnets: [] } }, because: 'an empty list sets nothing' },
  { aws: { alarms: { enabled: false } }, because: 'alarms may be disabled' },
  { aws: null, because: 'a section may be empty' },
  { pool: { capacity: ['on-demand'] }, because: 'its service on Spot may drain' },
  {
    pool: { scaleIn: 'lease' },
    because: 'scaleIn: lease of earlier versions says what holds for every pool',
  },
  {
    pool: { retiring: true, min: 0, wake: false },
    because: 'a retiring pool has no floors',
  },
])('reports nothing: $because', (written) => {
  expect(problemsOf(written)).toBe('');
});

it('reports contradicting settings besides a wrong value in the same section', () => {
  const problems = problemsOf({ aws: { stack: '-', logs: { group: 'mine', retentionDays: 30 } } });
  expect(problems).toContain('aws.stack: "-" is not the name');
  expect(problems).toContain('aws.logs.retentionDays: applies only to log groups that the stack creates');
});

it('does not count the min of a retiring pool against maxTasks', () => {
  const config = {
    coder: CODER,
    limits: { maxTasks: 5 },
    pools: [
      { ...POOL, min: 5 },
      { ...POOL, name: 'b', organization: 'data', min: 5, retiring: true },
    ],
  };
  expect(checkConfig(config).warnings).toEqual([]);
});

it.each([
  { retiring: [true, false], because: 'its successor comes second' },
  { retiring: [false, true], because: 'its successor comes first' },
  { retiring: [true, true], because: 'both pools are retiring' },
])('lets a retiring pool have the tags of another pool ($retiring): $because', ({ retiring }) => {
  const pools = retiring.map((isRetiring, index) => ({ ...POOL, name: `p${index}`, retiring: isRetiring }));
  expect(checkConfig({ coder: CODER, pools }).config.pools).toHaveLength(2);
});

it('never repeats the proxy URL, because it may contain a password', () => {
  for (const proxy of [
    'http://me:hunter2@proxy.example.com:3128',
    'me:hunter2@proxy.example.com',
    'http://me:hun/ter2@proxy.example.com',
    ['http://me:hunter2@proxy.example.com'],
  ]) {
    const problems = problemsOf({ coder: { proxy } });
    expect(problems).toContain('coder.proxy: ');
    expect(problems).not.toMatch(/hun|ter2/);
  }
});

it('never repeats a value of the section aws that looks like a secret', () => {
  const secret = 'Zq8sKx2Lw9-Zq8sKx2Lw9Zq8sKx2Lw9ab';
  const fields = ['stack', 'cluster', 'kmsKey', 'permissionsBoundary'].map((name) => [name, `${secret};`]);
  const aws = {
    ...Object.fromEntries(fields),
    network: { vpc: secret, subnets: [secret], securityGroups: [secret] },
    logs: { group: `${secret};`, retentionDays: secret },
    alarms: { topic: secret, emails: [secret] },
    tags: { [`${secret};`]: `${secret};` },
  };
  const pool = { taskRole: { arn: secret, policies: [secret] } };
  const problems = problemsOf({ aws, pool });
  expect(problems).toContain('(hidden)');
  expect(problems).not.toContain('Zq8s');
});

describe('bindTaskRole', () => {
  const bound = (aws: object, pool: object) => {
    const { config, warnings } = checkConfig(configOf({ pool, aws }));
    return { isBound: config.pools[0]?.bindTaskRole, warned: warnings.map(({ path }) => path) };
  };
  const mine = { taskRole: { arn: ROLE } };

  it.each([
    { aws: {}, pool: {}, isBound: false },
    { aws: { bindTaskRoles: true }, pool: {}, isBound: true },
    { aws: { bindTaskRoles: true }, pool: { bindTaskRole: false }, isBound: false },
    { aws: {}, pool: { bindTaskRole: true }, isBound: true },
    { aws: {}, pool: mine, isBound: false },
    { aws: { bindTaskRoles: true }, pool: { ...mine, bindTaskRole: false }, isBound: false },
  ])('is $isBound with $aws and $pool', ({ aws, pool, isBound }) => {
    expect(bound(aws, pool)).toEqual({ isBound, warned: [] });
  });

  it('says that a role of the user is not bound', () => {
    const { isBound, warned } = bound({ bindTaskRoles: true }, mine);
    expect(isBound).toBe(false);
    expect(warned).toEqual(['pools[0].taskRole.arn']);
  });

  it('is refused for a role of the user', () => {
    expect(() => bound({}, { ...mine, bindTaskRole: true })).toThrow(
      'pools[0].bindTaskRole: applies only to a role that the stack creates',
    );
  });
});
