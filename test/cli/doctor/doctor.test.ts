/** `autoscaler doctor` over HTTP: each check fails once, with its advice, and all pass once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import type { World } from '../../../lab/world/world.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { POOL_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { commandLabs, putLine } from '../../support/command-lab.ts';
import { type LabOptions, type LabPool, labConfig, START } from '../../support/lab.ts';
import { IS_FULL } from '../../support/runs.ts';
import { serve } from '../../support/servers.ts';

const pools: readonly LabPool[] = [
  { name: 'cpu', organization: 'default', tags: {} },
  { name: 'gpu', organization: 'data', tags: { gpu: 'a10' } },
];
const { folder, file, start } = commandLabs();

type Settings = Record<string, unknown>;
type Draft = { readonly coder: Settings; readonly pools: readonly [Settings, Settings] };
type Case = Partial<LabOptions> & {
  /** Breaks one part of the setup. */
  readonly broken?: (world: World, config: Draft) => void;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Milliseconds by which this machine's clock is ahead. */
  readonly aheadMs?: number;
  readonly answerMs?: number;
  readonly registry?: string;
};

async function doctor({
  broken,
  args,
  environment = {},
  aheadMs = 0,
  answerMs = 60_000,
  registry = 'http://127.0.0.1:1',
  ...options
}: Case = {}): Promise<Answer> {
  const lab = await start({ pools, organizations: ['default', 'data'], ...options });
  const { world } = lab;
  const settings = { ...labConfig(lab.coderdUrl, pools), aws: { bindTaskRoles: false } };
  const config = settings as unknown as Draft;
  config.pools[0].secrets = { TF_TOKEN: { secret: 'terraform/token' } };
  world.secrets.put('terraform/token', 'terraform-secret');
  broken?.(world, config);
  putLine(lab, { message: 'look', takenAt: new Date(world.timeline.now()).toISOString() });
  writeFileSync(file, stringify(config));
  const now = () => plusMs(world.timeline.now(), aheadMs);
  const cluster = args ?? ['--cluster', world.ecs.clusterName];
  const { code, out, err } = await lab.callIn({ environment, now, answerMs, registry }, 'doctor', ...cluster);
  return { code, err, out: out.replaceAll(lab.coderdUrl, 'CODERD').replaceAll(`${folder}/`, '') };
}

const nobodyListens: Case['broken'] = (_, { coder }) => {
  coder.url = 'http://127.0.0.1:1';
};

/** The lines of these kinds. */
const linesOf = (out: string, ...kinds: readonly string[]): readonly string[] =>
  out.split('\n').filter((line) => kinds.some((kind) => line.startsWith(`${kind} `)));

const newToken = (world: World, token: Parameters<World['coderd']['addToken']>[0]): void => {
  world.secrets.put(world.tokenSecretName, world.coderd.addToken(token));
};
const RENEW = 'Create a new token (coder tokens create --lifetime 8760h) and put it into the secret';
const newKey = (pool: 'cpu' | 'gpu'): string =>
  pool === 'cpu'
    ? 'Create a key (coder provisioner keys create cpu --org default) and put it into secret "coder/keys/cpu"'
    : 'Create a key (coder provisioner keys create gpu --org data --tag gpu=a10) and put it into secret "coder/keys/gpu"';
/** Starts a task of pool `gpu` with a key of other tags, and then changes its secret. */
function startWithOtherTags(world: World, then: (world: World, rightKey: string) => void): void {
  const { coderd, secrets, timeline } = world;
  const right = secrets.find('coder/keys/gpu')?.value ?? '';
  const key = coderd.addKey({ organization: 'data', name: 'g2', tags: { gpu: 'h100' } });
  secrets.put('coder/keys/gpu', key);
  world.service('gpu').setDesiredCount(1);
  timeline.advanceTo(plusMs(timeline.now(), 180_000));
  then(world, right);
}
/** Starts of pool `gpu` fail for ten minutes, so that ECS waits for minutes before each try. */
function failStarts(world: World, countBefore: number): void {
  const { ecs, timeline } = world;
  const service = world.service('gpu');
  service.setDesiredCount(countBefore);
  timeline.advanceTo(plusMs(timeline.now(), 60_000));
  ecs.failStarts(service.identity.name, 'CannotPullContainerError');
  service.setDesiredCount(2);
  timeline.advanceTo(plusMs(timeline.now(), 600_000));
}
const OWN_INSTANCES = /^warn {2}configuration: .*: ECS stops builds on an instance that it drains/;
const mayNot = (secret: string, reader: string): string =>
  `not checked: you have no permission to read secret "${secret}". In production ${reader} reads it. For this check you need secretsmanager:GetSecretValue, and kms:Decrypt if the secret has its own key`;

it('reports every check of a healthy deployment as ok', async () => {
  const { code, out, err } = await doctor();
  expect(out.replace(/\+[0-9a-f]{7}/, '')).toBe(
    `${[
      'ok    configuration: autoscaler.yaml, 2 pools',
      'ok    AWS: Region eu-central-1, credentials found on this machine',
      'ok    coderd reachable: CODERD, from this machine',
      'ok    coderd version: v2.30.0',
      "ok    clock: coderd's clock agrees with this machine's",
      'ok    token secret: "coder/autoscaler-token" is readable with your permissions',
      'ok    token valid: coderd accepts it; its user is "autoscaler-1"',
      'ok    token expiry: expires at 2 March 2027 09:00:00 UTC, in 365 days',
      'ok    organization "data": listed by coderd',
      'ok    organization "data": jobs: readable, 0 listed',
      'ok    organization "data": daemons: readable, 0 listed',
      'ok    organization "data": workspaces: readable, 0 listed',
      'ok    organization "data": templates: readable, 0 listed',
      'ok    organization "default": listed by coderd',
      'ok    organization "default": jobs: readable, 0 listed',
      'ok    organization "default": daemons: readable, 0 listed',
      'ok    organization "default": workspaces: readable, 0 listed',
      'ok    organization "default": templates: readable, 0 listed',
      'ok    licence: includes external provisioner daemons',
      `ok    pool "cpu": key: key "cpu" has the pool's organization and tags`,
      'ok    pool "cpu": secrets: TF_TOKEN readable with your permissions',
      `ok    pool "cpu": image: ghcr.io/coder/coder:v2.30.0 is of coderd's release`,
      `ok    pool "gpu": key: key "gpu" has the pool's organization and tags`,
      `ok    pool "gpu": image: ghcr.io/coder/coder:v2.30.0 is of coderd's release`,
      'ok    cluster: "Stack-Cluster-AbC123" has 2 pool services',
      'ok    cluster: tasks: readable, 0 listed',
      'ok    cluster: task protection: readable, 0 listed',
      'ok    pool "cpu": service: Stack-PoolCpuService-A162629C5618',
      `ok    pool "cpu": guard: has this version`,
      'ok    pool "cpu": task definition: ghcr.io/coder/coder:v2.30.0, 1024 CPU units, 2048 MiB',
      'ok    pool "gpu": service: Stack-PoolGpuService-462BAF12A3A9',
      `ok    pool "gpu": guard: has this version`,
      'ok    pool "gpu": task definition: ghcr.io/coder/coder:v2.30.0, 1024 CPU units, 2048 MiB',
      'ok    other services: every service belongs to a pool',
      'ok    application auto scaling: no service of a pool is a scalable target',
      'ok    stack: stack "Stack" is CREATE_COMPLETE',
      'ok    schedule: enabled, rate(1 minute)',
      'ok    log groups: 3 groups, each with its retention',
      'ok    function: last look: 0 s ago; it read coderd and AWS from its own network, with its own role',
      "ok    quota: on-demand: this cluster's tasks use 0 of 6 vCPUs of the account; at their max the pools need 40",
      '',
      '40 checks: 40 passed',
    ].join('\n')}\n`,
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

type Fault = Case & {
  readonly scenario: string;
  readonly says: readonly (string | RegExp)[];
  readonly group?: string;
};

/** In a quick run one deployment has all faults of a group, of which none hides another. */
function inGroups(faults: readonly Fault[]): readonly Fault[] {
  if (IS_FULL) return faults;
  const groups = Map.groupBy(faults, ({ group, scenario }) => group ?? scenario);
  return [...groups.values()].map((all) => ({
    ...Object.assign({}, ...all),
    scenario: all.map(({ scenario }) => scenario).join(', '),
    says: all.flatMap(({ says }) => says),
    broken: (world, config) => {
      for (const { broken } of all) broken?.(world, config);
    },
  }));
}

describe('a failed check', () => {
  const faults: readonly Fault[] = [
    {
      scenario: 'an unknown setting',
      broken: (_, { pools: [cpu] }) => {
        cpu.idelTimeout = '5m';
      },
      says: [
        /^FAIL {2}configuration: autoscaler\.yaml:\d+:\d+: pools\[0\]\.idelTimeout: unknown setting; did you mean "idleTimeout"\?/,
      ],
    },
    {
      scenario: 'a port where nothing listens',
      broken: nobodyListens,
      says: [
        'FAIL  coderd reachable: no answer from coderd (connect ECONNREFUSED 127.0.0.1:1); nothing listens there; check the host and port in coder.url',
      ],
    },
    {
      scenario: 'a proxy that is only set in the environment',
      environment: { HTTPS_PROXY: 'http://proxy.example.com:3128' },
      broken: nobodyListens,
      says: [
        /check the host and port in coder\.url\. HTTPS_PROXY is set, but the autoscaler does not read it: if coderd is behind that proxy, set coder\.proxy$/,
      ],
    },
    {
      scenario: 'a name that DNS does not know',
      broken: (_, { coder }) => {
        coder.url = 'https://coder.invalid';
      },
      says: [
        /^FAIL {2}coderd reachable: no answer from coderd \(getaddrinfo \w+ coder\.invalid\); DNS does not know this name here; check the host in coder\.url$/,
      ],
    },
    {
      scenario: 'a server that is not coderd',
      broken: (_, { coder }) => {
        coder.url = process.env.AWS_ENDPOINT_URL_ECS;
      },
      says: [
        /^FAIL {2}coderd version: http:\S+ does not answer like coderd \(coderd answered 400.*\)\. Check coder\.url$/,
      ],
    },
    {
      scenario: 'a coderd that is too old',
      coderVersion: 'v2.18.0',
      says: [
        /^FAIL {2}coderd version: v2\.18\.0\S* is too old: the autoscaler needs the provisioner jobs API\. Upgrade coderd to 2\.20 or newer$/,
        ...['data', 'default'].map(
          (organization) =>
            new RegExp(
              `^FAIL {2}organization "${organization}": jobs: .* needs the provisioner jobs API of 2\\.20 or newer$`,
            ),
        ),
        ...['cpu', 'gpu'].map((pool) => new RegExp(`^FAIL {2}pool "${pool}": image: .*newer`)),
      ],
    },
    {
      scenario: 'a wrong clock',
      group: 'clock',
      aheadMs: 95_000,
      says: [
        "warn  clock: this machine is 95 s ahead of coderd. Correct the wrong clock with NTP: ages and leases follow coderd's clock",
      ],
    },
    {
      scenario: 'a missing secret of the token',
      broken: (_, { coder }) => {
        coder.token = { secret: 'coder/none' };
      },
      says: [
        `FAIL  token secret: reading secret "coder/none": Secrets Manager can't find the specified secret; create it with its value, or correct its name in the configuration`,
      ],
    },
    {
      scenario: 'a token without read permission',
      broken: ({ secrets, tokenSecretName }) => secrets.deny(tokenSecretName),
      says: [`warn  token secret: ${mayNot('coder/autoscaler-token', "the function's role")}`],
    },
    {
      scenario: 'a secret that holds no token',
      broken: (world) => world.secrets.put(world.tokenSecretName, 'pasted'),
      says: [
        `FAIL  token secret: "coder/autoscaler-token" holds no session token of the form <id>-<secret>. ${RENEW}`,
      ],
    },
    {
      scenario: 'a revoked token',
      broken: ({ coderd, secrets, tokenSecretName }) =>
        coderd.tokens.revoke(secrets.find(tokenSecretName)?.value ?? ''),
      says: [
        'FAIL  token valid: coderd refuses the token, also after it was read again from the secret. Store a valid token in it. coderd answered 401: You are signed out or your session has expired. Please sign in again to continue. API key is invalid.',
      ],
    },
    {
      scenario: 'an expired token',
      broken: (world) => {
        newToken(world, { canRead: 'all', lifetimeMs: DAY_MS });
        world.timeline.advanceTo(plusMs(START, 2 * DAY_MS));
      },
      says: [
        /^FAIL {2}token valid: .* coderd answered 401: .*API key expired at/,
        `FAIL  token expiry: expired at 3 March 2026 09:00:00 UTC. ${RENEW}`,
      ],
    },
    {
      scenario: 'a token that expires soon',
      group: 'expiry',
      broken: (world) => {
        world.coderd.tokens.disableExpiryRefresh();
        newToken(world, { canRead: 'all', lifetimeMs: 13.5 * DAY_MS });
      },
      says: [`warn  token expiry: expires at 15 March 2026 21:00:00 UTC, in 13 days. ${RENEW}`],
    },
    {
      scenario: 'a token of an owner',
      group: 'owner',
      broken: (world) => newToken(world, { canRead: 'all', isOwner: true }),
      says: [
        'warn  token valid: user "autoscaler-2" is an owner. An owner\'s token may do everything and expires after 7 days by default. Create the token for a user with the organization template admin role',
      ],
    },
    {
      scenario: 'a missing organization',
      broken: (_, { pools: [, gpu] }) => {
        gpu.organization = 'date';
      },
      says: [
        `FAIL  organization "date": finding organization "date": coderd lists "default", "data"; check the name, and that the token's user is a member`,
      ],
    },
    {
      scenario: 'an organization with forbidden jobs and daemons',
      group: 'rights',
      broken: (world) => newToken(world, { canRead: ['default'], canReadWorkspaces: 'all' }),
      says: [
        /^FAIL {2}organization "data": jobs: .*: the token's user needs the organization template admin role there, or a custom role with provisioner_jobs:read\. coderd answered 404: .*$/,
        /^FAIL {2}organization "data": daemons: .*: the token's user needs the organization template admin role there/,
      ],
    },
    {
      scenario: 'an organization with forbidden workspaces and templates',
      group: 'more rights',
      broken: (world) => newToken(world, { canRead: 'all', canReadWorkspaces: ['default'] }),
      says: [
        /^FAIL {2}organization "data": workspaces: .*needs the organization template admin role there, or a custom role with workspace:read/,
        /^FAIL {2}organization "data": templates: .*needs the organization template admin role there, or a custom role with workspace:read/,
      ],
    },
    {
      scenario: 'a missing licence',
      group: 'expiry',
      broken: ({ coderd }) => {
        coderd.licence = 'not_entitled';
      },
      says: [
        'FAIL  licence: does not include external provisioner daemons, so no daemon can connect. Add a Premium licence in coderd',
      ],
    },
    {
      scenario: 'an expired licence',
      group: 'clock',
      broken: ({ coderd }) => {
        coderd.licence = 'grace_period';
      },
      says: [
        'warn  licence: expired, now in its grace period. Renew it: after the grace period no daemon can connect',
      ],
    },
    {
      scenario: 'a missing secret of a key',
      group: 'expiry',
      broken: (_, { pools: [cpu] }) => {
        cpu.key = { secret: 'coder/none' };
      },
      says: [
        /^FAIL {2}pool "cpu": key: reading secret "coder\/none": Secrets Manager can't find the specified secret; create it with its value, or correct its name in the configuration$/,
      ],
    },
    {
      scenario: 'a key without read permission',
      group: 'clock',
      broken: ({ secrets }) => secrets.deny('coder/keys/gpu'),
      says: [`warn  pool "gpu": key: ${mayNot('coder/keys/gpu', "the tasks' execution role")}`],
    },
    {
      scenario: 'an unknown key',
      group: 'owner',
      broken: ({ secrets }) => secrets.put('coder/keys/gpu', 'k'.repeat(43)),
      says: [
        `FAIL  pool "gpu": key: the key in secret "coder/keys/gpu" is not accepted: coderd answered 401: provisioner daemon key invalid. ${newKey('gpu')}`,
      ],
    },
    {
      scenario: 'a truncated key',
      group: 'clock',
      broken: ({ secrets }) => secrets.put('coder/keys/cpu', 'k'.repeat(20)),
      says: [
        `FAIL  pool "cpu": key: the key in secret "coder/keys/cpu" is not accepted: coderd answered 400: provisioner daemon key invalid must be 43 characters. ${newKey('cpu')}`,
      ],
    },
    {
      scenario: 'a key of another organization',
      group: 'expiry',
      broken: ({ coderd, secrets }) =>
        secrets.put(
          'coder/keys/gpu',
          coderd.addKey({ organization: 'default', name: 'g2', tags: { gpu: 'a10' } }),
        ),
      says: [
        `FAIL  pool "gpu": key: key "g2" belongs to organization "default", but the pool to "data". ${newKey('gpu')}`,
      ],
    },
    {
      scenario: 'a key with other tags',
      group: 'rights',
      broken: ({ coderd, secrets }) =>
        secrets.put(
          'coder/keys/gpu',
          coderd.addKey({ organization: 'data', name: 'g2', tags: { gpu: 'h100' } }),
        ),
      says: [
        `FAIL  pool "gpu": key: key "g2" has tags gpu=h100, but the pool tags gpu=a10. ${newKey('gpu')}, or correct the pool's tags`,
      ],
    },
    {
      scenario: 'a daemon with other tags, and a key that you may not read',
      broken: (world) => startWithOtherTags(world, ({ secrets }) => secrets.deny('coder/keys/gpu')),
      says: [
        new RegExp(
          `^FAIL {2}pool "gpu": daemons: coderd shows 1 daemon with other tags than the pool's \\(gpu-[0-9a-f]{32}\\)\\. The provisioner key belongs to another pool, the token to another user, or a daemon of the same name has taken the row\\. ${newKey('gpu').replaceAll(/[()]/g, '\\$&')}$`,
        ),
        `warn  pool "gpu": key: ${mayNot('coder/keys/gpu', "the tasks' execution role")}`,
      ],
    },
    {
      scenario: 'starts that fail, so that ECS waits',
      broken: (world) => failStarts(world, 0),
      says: [
        /^FAIL {2}finding "starts-failing": pool "gpu": ECS lists \d tasks that failed to start since the last daemon registered: .*CannotPullContainerError/,
        /^warn {2}pool "gpu": starts: after failed starts ECS waits before its next try, for (\d+ s|\d min) now and 27 min at most\. Once the cause is mended, end this wait: `aws ecs update-service --cluster \S+ --service \S*Gpu\S* --force-new-deployment`$/,
      ],
    },
    {
      scenario: 'starts that fail beside a task, in a deployment',
      broken: (world) => failStarts(world, 1),
      says: [
        /^FAIL {2}finding "starts-failing": pool "gpu": ECS lists \d tasks that failed to start since the last daemon registered: .*CannotPullContainerError/,
        /^warn {2}pool "gpu": starts: .*\. Do not end this wait with a deployment before its only deployment is completed and its tasks have stopped$/,
      ],
    },
    {
      scenario: 'a daemon with other tags, whose key has been replaced',
      broken: (world) =>
        startWithOtherTags(world, ({ secrets }, right) => secrets.put('coder/keys/gpu', right)),
      says: [
        /^warn {2}pool "gpu": daemons: coderd shows 1 daemon with other tags .*\. The credential in the secret is right: the autoscaler replaces tasks with an earlier one$/,
      ],
    },
    {
      scenario: 'a key for one user',
      group: 'owner',
      broken: ({ coderd, secrets }) =>
        secrets.put(
          'coder/keys/cpu',
          coderd.addKey({ organization: 'default', name: 'c2', tags: { scope: 'user' } }),
        ),
      says: [
        `FAIL  pool "cpu": key: key "c2" has the tag scope=user, so its daemons run no jobs of the organization. ${newKey('cpu')}`,
      ],
    },
    {
      scenario: 'a missing secret of a pool',
      group: 'owner',
      broken: (_, { pools: [cpu] }) => {
        cpu.secrets = { TF_TOKEN: { secret: 'terraform/none' } };
      },
      says: [
        /^FAIL {2}pool "cpu": secret TF_TOKEN: reading secret "terraform\/none": .*; create it with its value/,
      ],
    },
    {
      scenario: 'an image that is newer than coderd',
      coderVersion: 'v2.29.3',
      broken: (world, { pools: [cpu] }) => {
        cpu.image = 'ghcr.io/coder/coder:v2.29.3';
        world.deploy('cpu', { image: 'ghcr.io/coder/coder:v2.29.3' });
      },
      says: [/^FAIL {2}pool "gpu": image: .*ghcr\.io\/coder\/coder:v2\.30\.0.*newer than coderd.*/],
    },
    {
      scenario: 'a missing cluster',
      args: ['--cluster', 'nowhere'],
      says: [
        'FAIL  cluster: listing services of cluster "nowhere": ClusterNotFoundException: Cluster not found. Give the name of the cluster with --cluster (an output of the stack)',
      ],
    },
    {
      scenario: 'a pool that is not deployed',
      broken: ({ secrets }, config) => {
        secrets.put('coder/keys/gpu-2', secrets.find('coder/keys/gpu')?.value ?? '');
        const other = {
          ...config.pools[1],
          name: 'gpu-2',
          tags: { gpu: 'h100' },
          key: { secret: 'coder/keys/gpu-2' },
        };
        Object.assign(config, { pools: [...config.pools, other] });
      },
      says: [
        /^FAIL {2}pool "gpu-2": key: key "gpu" has tags gpu=a10, but the pool tags gpu=h100/,
        `FAIL  pool "gpu-2": service: finding the service of pool "gpu-2": no active service of the cluster has the tag ${POOL_TAG}=gpu-2. Deploy the configuration, or name another cluster with --cluster`,
      ],
    },
    {
      scenario: 'a service without a pool',
      broken: (_, config) => Object.assign(config, { pools: [config.pools[0]] }),
      says: [/^warn {2}other services: .*"gpu"/],
    },
    {
      scenario: 'a service that Application Auto Scaling sizes too',
      group: 'clock',
      broken: (world) => {
        const { ecs } = world;
        for (let other = 0; other < 60; other++)
          ecs.scalableTargets.set(`other-${other}`, { min: 0, max: 9 });
        ecs.scalableTargets.set(world.service('gpu').identity.name, { min: 1, max: 4 });
      },
      says: [
        /^FAIL {2}application auto scaling: Application Auto Scaling also sizes service\/\S+Gpu\S+ \(1 to 4 tasks\), so .* --resource-id service\/\S+$/,
      ],
    },
    {
      scenario: 'tasks without a guard',
      group: 'owner',
      broken: (world) =>
        world.deploy('cpu', { entryPoint: ['/opt/coder'], command: ['provisioner', 'start'] }),
      says: [
        'FAIL  pool "cpu": guard: is not the entry point of the tasks, so ECS may stop running builds. Deploy (cdk deploy)',
      ],
    },
    {
      scenario: 'tasks with an older guard',
      group: 'clock',
      broken: (world) =>
        world.deploy('cpu', {
          entryPoint: ['sh', '-c', 'curl "$ECS_AGENT_URI/task-protection/v1/state"', 'guard'],
        }),
      says: ['warn  pool "cpu": guard: has another version. Deploy (cdk deploy) to get this version'],
    },
    {
      scenario: 'tasks with other settings',
      group: 'clock',
      broken: (world) =>
        world.deploy('gpu', { image: 'mirror/coder:v2.29.0', memory: 4096, architecture: 'X86_64' }),
      says: [
        'warn  pool "gpu": task definition: has image mirror/coder:v2.29.0 instead of ghcr.io/coder/coder:v2.30.0, memory 4096 instead of 2048, architecture x86_64 instead of arm64. Deploy (cdk deploy) to apply the configuration',
      ],
    },
    {
      scenario: 'a capacity provider that the cluster lacks',
      group: 'owner',
      broken: (_, { pools: [, gpu] }) => {
        gpu.capacity = { provider: 'builders' };
      },
      says: [
        OWN_INSTANCES,
        'FAIL  pool "gpu": capacity provider: the cluster has FARGATE, FARGATE_SPOT, but not "builders". Run aws ecs put-cluster-capacity-providers with all their names',
      ],
    },
    {
      scenario: 'missing permissions for task definitions, clusters and scalable targets',
      group: 'more rights',
      broken: (_, { pools: [, gpu] }) => {
        gpu.capacity = { provider: 'builders' };
        vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
      },
      says: [
        OWN_INSTANCES,
        /^warn {2}pool "gpu": capacity provider: reading the cluster: .*not authorized.*\. You need ecs:DescribeClusters for this check$/,
        ...['cpu', 'gpu'].map(
          (pool) =>
            new RegExp(
              `^warn {2}pool "${pool}": task definition: .*not authorized to perform: ecs:DescribeTaskDefinition.*. You need ecs:DescribeTaskDefinition for this check$`,
            ),
        ),
        /^warn {2}application auto scaling: .*not authorized.*\. You need application-autoscaling:DescribeScalableTargets for this check$/,
      ],
    },
  ];
  it.each(inGroups(faults))('tells you how to fix $scenario', async ({ says, scenario: _, ...given }) => {
    const { code, out, err } = await doctor(given);
    const said = linesOf(out, 'FAIL', 'warn');
    const isSaid = (line: string | RegExp): boolean =>
      said.some((text) => (line instanceof RegExp ? line.test(text) : line === text));
    expect(says.filter((line) => !isSaid(line))).toEqual([]);
    expect(said.length, said.join('\n')).toBe(says.length);
    expect(code).toBe(said.some((line) => line.startsWith('FAIL')) ? 1 : 0);
    expect(err).toBe('');
  });
});

it('reports the capacity provider of a pool that the cluster has', async () => {
  const { out } = await doctor({
    broken: ({ ecs }, { pools: [cpu] }) => {
      ecs.capacityProviders = ['FARGATE', 'builders'];
      cpu.capacity = { provider: 'builders' };
    },
  });
  expect(out).toContain('ok    pool "cpu": capacity provider: the cluster has "builders"\n');
});

it('says that coderd is down where a proxy in front of it answers 502, not that coder.url is wrong', async () => {
  const proxy = await serve((_, response) => response.writeHead(502).end('<html>Bad Gateway'));
  const { out } = await doctor({
    broken: (_, { coder }) => {
      coder.url = proxy;
    },
  });
  const [fails = ''] = linesOf(out, 'FAIL');
  expect(fails).toMatch(
    /^FAIL {2}coderd reachable: http:\S+: coderd answered 502\. .*; check that coderd runs$/,
  );
  expect(out).not.toContain('Check coder.url');
});

describe('checks that cannot be tried', () => {
  it('still checks secrets and ECS without coderd', async () => {
    const { out } = await doctor({
      broken: nobodyListens,
    });
    expect(linesOf(out, 'skip')).toEqual([
      'skip  12 checks need "coderd reachable" to pass: coderd version, clock, token valid and 9 more',
    ]);
    expect(out.split('\n')[0]).toMatch(/^FAIL {2}coderd reachable: /);
    expect(out).toContain('\n33 checks: 20 passed, 1 failed, 12 not tried\n');
  });

  it('still checks keys, secrets and ECS without a token', async () => {
    const { out } = await doctor({ broken: (world) => world.secrets.deny(world.tokenSecretName) });
    expect(linesOf(out, 'skip')).toEqual([
      'skip  6 checks need "token secret" to pass: token valid, token expiry, organization "data" and 3 more',
      'skip  KMS keys: not looked: needs secretsmanager:DescribeSecret (secrets "coder/autoscaler-token")',
    ]);
    expect(out).toContain(
      `ok    pool "gpu": key: key "gpu" has the pool's tags (organization not compared)\n`,
    );
  });

  it('tries no key on an open-source coderd, and fails one check that says what to install', async () => {
    const { out } = await doctor({
      broken: ({ coderd }) => {
        coderd.licence = 'open-source';
      },
    });
    expect(linesOf(out, 'FAIL')).toEqual([
      "FAIL  licence: coderd is the open-source build, which has no licences and lets no external daemon connect: the tasks of all pools would run no job. Install Coder's own release (image ghcr.io/coder/coder), and add a Premium licence in it",
    ]);
    expect(linesOf(out, 'skip')).toEqual([
      'skip  2 checks need "licence" to pass: pool "cpu": key, pool "gpu": key',
    ]);
  });

  it('checks everything except ECS without a cluster', async () => {
    const { out, code } = await doctor({ args: [], broken: ({ account }) => account.stacks.clear() });
    expect(linesOf(out, 'skip')).toEqual([
      'skip  cluster: finding the ECS cluster: this Region has no stack "CoderProvisionerAutoscaler". Deploy it, or name the cluster with --cluster or AUTOSCALER_CLUSTER',
      'skip  5 checks need "cluster" to pass: pool "cpu": service, pool "gpu": service, other services and 2 more',
    ]);
    expect(code).toBe(0);
  });

  it('checks nothing without a configuration', async () => {
    const { code, out } = await runIn({}, 'doctor', '--config', join(folder, 'none.yaml'));
    expect(out).toMatch(
      /^FAIL {2}configuration: .*none\.yaml: reading the configuration: no such file; write one with autoscaler setup --draft, or name another file with --config\nskip {2}everything else: needs "configuration" to pass\n/,
    );
    expect(code).toBe(1);
  });
});

describe('what every request to AWS needs', () => {
  it('reports a missing Region once and first, and still checks coderd', async () => {
    vi.stubEnv('AWS_REGION', undefined);
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    const { code, out, err } = await doctor();
    expect(out.split('\n').slice(0, 2)).toEqual([
      'FAIL  AWS: finding the AWS Region: none is set. Set AWS_REGION to the Region of the stack',
      'skip  16 checks need "AWS" to pass: token secret, token valid, token expiry and 13 more',
    ]);
    expect(out.match(/AWS_REGION/g)).toHaveLength(1);
    expect(linesOf(out, 'ok').join('\n')).toContain('ok    coderd reachable: CODERD');
    expect({ code, err }).toEqual({ code: 1, err: '' });
  });

  it('reports a network without AWS once', async () => {
    const { out } = await doctor({
      broken: () => {
        for (const name of ['ECS', 'SECRETS_MANAGER'])
          vi.stubEnv(`AWS_ENDPOINT_URL_${name}`, 'http://127.0.0.1:1');
        vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
      },
    });
    expect(linesOf(out, 'FAIL')).toEqual([
      'FAIL  AWS: reading secret "coder/autoscaler-token": connect ECONNREFUSED 127.0.0.1:1; AWS did not answer; check the network (VPN, proxy, VPC endpoint)',
    ]);
  });

  it('gives up soon when neither coderd nor AWS ever answers', async () => {
    const silent = await serve(() => {});
    const startedAt = performance.now();
    const { code, out } = await doctor({
      answerMs: 200,
      broken: (_, { coder }) => {
        coder.url = silent;
        for (const name of ['ECS', 'SECRETS_MANAGER']) vi.stubEnv(`AWS_ENDPOINT_URL_${name}`, silent);
      },
    });
    // without the limit, each request to AWS alone takes 15 s
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(linesOf(out, 'FAIL')).toEqual([
      expect.stringMatching(/^FAIL {2}AWS: .*did not answer.*check the network/),
      expect.stringMatching(/^FAIL {2}coderd reachable: no answer from coderd \(.*timeout\)/),
    ]);
    expect(code).toBe(1);
  });
});

describe('a provider that does not exist for arm64', () => {
  /** As `terraform init` writes them, before 1.9 and since. */
  const imported = [
    '- Installing hashicorp/template v2.2.0...',
    'Installing provider version: coder/coder v2.5.3...',
    'acme/mirrored v1.0.0: Using from the shared cache directory',
    '- Using terraform.acme.example/acme/cloud v1.0.0 from the shared cache directory',
  ];
  const known =
    /^\/v1\/providers\/(coder\/coder\/2\.5\.3\/.*arm64|\w+\/template\/2\.2\.0\/download\/linux\/amd64)$/;
  const lines = async (registry: string, architecture = 'arm64'): Promise<readonly string[]> => {
    const broken: Case['broken'] = ({ coderd }, { pools: [cpu] }) => {
      cpu.architecture = architecture;
      // pool "gpu" has a tag, so it runs no job of the template of its organization
      for (const organization of ['default', 'data']) {
        const { activeVersion } = coderd.addTemplate({ organization, name: `of-${organization}` });
        coderd.importLogs.set(activeVersion.id, imported);
      }
    };
    const { out } = await doctor({ broken, registry });
    return out.split('\n').filter((line) => line.includes('  arm64: '));
  };

  it('is named with the template and the pool where builds with it fail', async () => {
    const registry = await serve(({ url = '' }, response) =>
      response.writeHead(known.test(url) ? 200 : 404).end(),
    );
    expect(await lines(registry)).toEqual([
      'warn  arm64: hashicorp/template 2.2.0 does not exist for arm64, so builds with it fail: template "of-default" in pool "cpu". Write architecture: x86_64 in the pool, or use another version or provider in the template',
    ]);
  });

  it('is not found in a registry that has all', async () => {
    const registry = await serve((_, response) => response.end());
    expect(await lines(registry)).toEqual(['ok    arm64: 3 providers of templates exist for arm64']);
  });

  it('is unknown without the registry, which is asked only if a pool on arm64 runs the jobs', async () => {
    const says = 'skip  arm64: unknown, because http://127.0.0.1:1 did not answer (fetch failed)';
    expect(await lines('http://127.0.0.1:1')).toEqual([says]);
    expect(await lines('http://127.0.0.1:1', 'x86_64')).toEqual([]);
  });
});

it.each([
  {
    image: 'ghcr.io/coder/coder:v2.29.19',
    says: "coderd accepts daemons of ghcr.io/coder/coder:v2.29.19. Prefer coderd's release, v2.30.0",
  },
  {
    image: 'mirror/provisioner:7',
    says: "the tag of mirror/provisioner:7 names no known release. Prefer coderd's release, v2.30.0",
  },
])('recommends an image for $image', async ({ image, says }) => {
  const { out } = await doctor({
    broken: (_, { pools: [cpu] }) => {
      cpu.image = image;
    },
  });
  expect(out).toContain(`ok    pool "cpu": image: ${says}\n`);
});

it('reports that coderd extends a token with each use', async () => {
  const { out } = await doctor({
    broken: (world) => {
      newToken(world, { canRead: 'all', lifetimeMs: 7 * DAY_MS });
      world.timeline.advanceTo(plusMs(START, DAY_MS));
    },
  });
  expect(out).toContain('ok    token expiry: coderd extends it with each use\n');
});

it('prints the same checks as one JSON document with --json', async () => {
  const { out, code } = await doctor({
    broken: ({ coderd }) => {
      coderd.licence = 'not_entitled';
    },
    args: ['--json'],
  });
  const { version, checks } = JSON.parse(out);
  expect({ version, code }).toEqual({ version: 1, code: 1 });
  expect(checks).toContainEqual({
    name: 'licence',
    status: 'FAIL',
    says: expect.stringMatching(/Add a Premium licence in coderd$/),
  });
});
