/** Deployments for tests, synthesized with the feature flags of the project's app. */
import { readFileSync } from 'node:fs';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Settings } from '../../../infra/constructs/settings.ts';
import { AutoscalerStack } from '../../../infra/stack.ts';
import { ownFolder } from '../../support/own-folder.ts';

export type PoolSettings = Settings['pools'][number];

export const ACCOUNT = '123456789012';
const REGION = 'eu-central-1';
export const arnOf = (service: string, resource: string): string =>
  `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`;

export const cpu: PoolSettings = {
  name: 'cpu',
  organization: 'default',
  key: { secret: 'coder/keys/cpu', jsonKey: 'value' },
  environment: { HTTPS_PROXY: 'http://proxy.internal:3128' },
  secrets: { TF_TOKEN: { secret: arnOf('secretsmanager', 'secret:tf-token-AbCdEf') } },
};
export const gpu: PoolSettings = {
  name: 'gpu',
  organization: 'default',
  tags: { gpu: 'true' },
  key: { secret: arnOf('secretsmanager', 'secret:coder/keys/gpu') },
  cpu: 4096,
  memory: 8192,
  architecture: 'x86_64',
};

/** A copy of another pool gets a key of its own, because a key fixes the tags. */
export function deployment(pools: readonly PoolSettings[], aws: Settings['aws'] = {}): Settings {
  return {
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } },
    pools: pools.map((pool, index) =>
      typeof pool.key === 'object' &&
      !pool.retiring &&
      pools.slice(0, index).some(({ key }) => key === pool.key)
        ? { ...pool, key: { secret: `coder/keys/${pool.name}` } }
        : pool,
    ),
    aws,
  };
}

export const MINIMAL = deployment([
  { name: 'default', organization: 'default', key: { secret: 'coder/keys/default' } },
]);

/** All settings that change the template. The stack creates network and cluster. */
export const EVERYTHING = deployment(
  [
    {
      ...cpu,
      image: `${ACCOUNT}.dkr.ecr.${REGION}.amazonaws.com/coder/provisioner:v2.30.0`,
      spot: true,
      ephemeralStorage: 50,
      taskRole: { policies: ['arn:aws:iam::aws:policy/ReadOnlyAccess'] },
    },
    { ...gpu, taskRole: { arn: `arn:aws:iam::${ACCOUNT}:role/terraform/gpu` } },
    { ...gpu, name: 'old', retiring: true },
  ],
  {
    stack: 'Everything',
    network: { natGateways: 2, endpoints: true },
    logs: { retentionDays: 90 },
    kmsKey: arnOf('kms', 'key/01234567-89ab-cdef-0123-456789abcdef'),
    permissionsBoundary: `arn:aws:iam::${ACCOUNT}:policy/boundary`,
    function: { memory: 1024 },
    alarms: { emails: ['platform@example.com'] },
    metrics: { perPool: true },
    tags: { 'cost-center': '4711' },
  },
);

/** Network, cluster, log group and topic exist already. */
export const EXISTING = deployment([cpu, gpu], {
  network: {
    vpc: 'vpc-0123456789abcdef0',
    subnets: ['subnet-0123456789abcdef0', 'subnet-0fedcba9876543210'],
    securityGroups: ['sg-0123456789abcdef0'],
  },
  cluster: 'platform',
  logs: { group: '/platform/coder' },
  alarms: { topic: arnOf('sns', 'oncall') },
});

/** Two pools with managed keys, beside one with a key of its own. */
export const MANAGED_KEYS: Settings = {
  ...deployment([
    { name: 'default', organization: 'default', key: 'managed' },
    { name: 'gpu', organization: 'ml', tags: { size: 'large', gpu: 'true' }, key: 'managed' },
    { ...cpu, tags: { team: 'cpu' } },
  ]),
  managedKeys: { token: { secret: 'coder/key-manager-token' }, rotateAfterDays: 60 },
};

/** What EVERYTHING leaves out: existing resources, managed keys, other credentials and kinds of capacity. */
export const ALTERNATIVES: Settings = {
  ...deployment(
    [
      { name: 'both', organization: 'default', key: 'managed', capacity: ['spot', 'on-demand'] },
      { ...cpu, name: 'ec2', tags: { ec2: 'yes' }, capacity: { provider: 'builders' } },
      {
        ...{ name: 'token', organization: 'ml', token: { secret: 'coder/daemon-token', jsonKey: 'token' } },
        bindTaskRole: false,
        tags: { scope: 'user', owner: '01234567-89ab-cdef-0123-456789abcdef' },
      },
    ],
    {
      stack: 'Alternatives',
      network: { vpc: 'vpc-0123456789abcdef0', subnets: ['subnet-0123456789abcdef0'] },
      cluster: 'platform',
      logs: { group: '/platform/coder' },
      bindTaskRoles: true,
      guardDuty: true,
      earlySuccess: true,
      function: { inVpc: false },
      alarms: { topic: arnOf('sns', 'oncall') },
    },
  ),
  managedKeys: { token: { secret: arnOf('secretsmanager', 'secret:key-manager') }, rotateAfterDays: 60 },
};

/** As many pools as a deployment may have, of a usual kind. */
export const FIFTY_POOLS = deployment(
  Array.from({ length: 50 }, (_, index) => ({
    ...cpu,
    name: `pool-${index}`,
    tags: { team: `team-${index}`, size: 'large' },
    key: { secret: `coder/keys/pool-${index}` },
  })),
  { tags: { 'cost-center': '4711', team: 'platform' } },
);

export function stackOf(settings: Settings, app = newApp()): AutoscalerStack {
  return new AutoscalerStack(app, settings.aws?.stack ?? 'Test', { autoscaler: settings });
}

/** The feature flags of the project's app. */
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

/** Without tree.json, which takes half of a synthesis. */
export function newApp(flags: object = context): App {
  const outdir = ownFolder();
  return new App({ context: { ...flags }, outdir, treeMetadata: false });
}

const known = new Map<string, Template>();

/** Synthesizes each deployment once, for all test files of a worker. */
export function synthesize(settings: Settings): Template {
  const key = JSON.stringify(settings);
  const template = known.get(key) ?? templateOf(stackOf(settings));
  known.set(key, template);
  return template;
}

/** Synthesizes without CDK's validation, which takes seconds. synth.test.ts runs it. */
export function templateOf(stack: Stack): Template {
  const before = process.env.CDK_VALIDATION;
  process.env.CDK_VALIDATION = 'false';
  try {
    return Template.fromStack(stack);
  } finally {
    if (before === undefined) delete process.env.CDK_VALIDATION;
  }
}
