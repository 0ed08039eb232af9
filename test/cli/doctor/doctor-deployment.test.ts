/** `autoscaler doctor` looks at the deployment too: causes that no machine sees from its own reach. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { namesOf } from '../../../cli/adapters/stack-resources.ts';
import { lookAndAct } from '../../../lambda/look/look.ts';
import { lookEvent } from '../../../lambda/look/look-event.ts';
import { type CommandLab, commandLabs, logLooks, putLine } from '../../support/command-lab.ts';
import type { LabOptions, LabPool } from '../../support/lab.ts';

const { start } = commandLabs();

const CPU: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, min: 1, max: 5 };
const GPU: LabPool = { ...CPU, name: 'gpu', tags: { cluster: 'gpu' }, min: 0, max: 2 };
const KEY = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f';

const submit = ({ world }: CommandLab, tags: Readonly<Record<string, string>>, count = 1, seconds = 60) => {
  for (let job = 0; job < count; job++)
    world.coderd.submitJob({
      ...{ organization: 'default', tags, durationMs: seconds * 1000, type: 'template_version_import' },
    });
};

/** A look that ended now. */
function putLook(
  lab: CommandLab,
  found: { failures?: readonly string[]; findings?: readonly string[] } = {},
) {
  putLine(lab, { message: 'look', takenAt: new Date(lab.world.timeline.now()).toISOString(), ...found });
}

const failedLook = (failure: string) => (lab: CommandLab) =>
  putLook(lab, { failures: [failure], findings: [failure] });

type Checked = { readonly code: number; readonly problems: readonly string[]; readonly out: string };

async function doctor(lab: CommandLab): Promise<Checked> {
  const now = () => lab.world.timeline.now();
  const { code, out } = await lab.callIn({ answerMs: 60_000, now, registry: 'http://127.0.0.1:1' }, 'doctor');
  return { code, out, problems: out.split('\n').filter((line) => /^(FAIL|warn)/.test(line)) };
}

/** Four minutes of looks, and jobs in both pools. */
async function running(options: Partial<LabOptions> = {}, settings: object = {}): Promise<CommandLab> {
  const lab = await start({ pools: [CPU, GPU], ...options }, settings);
  lab.world.account.quotas.set('L-3032A538', 40);
  await logLooks(lab, 240);
  return lab;
}

type Cause = {
  readonly cause: string;
  readonly settings?: object;
  readonly pools?: readonly LabPool[];
  readonly broken: (lab: CommandLab) => unknown;
  /** All lines that are not fine. */
  readonly says: readonly RegExp[];
};

/** Starts of pool "gpu" fail for minutes, with ECS's reason. */
const failingStarts = (reason: string) => async (lab: CommandLab) => {
  lab.world.ecs.failStarts(lab.world.service('gpu').identity.name, reason);
  submit(lab, GPU.tags, 2);
  await logLooks(lab, 180);
};

describe('a cause that this machine does not see from its own reach', () => {
  const causes: readonly Cause[] = [
    {
      cause: 'a closed route from the function to coderd',
      broken: failedLook(
        'listing organizations: no answer from coderd (Connect Timeout Error); check routes, security groups and firewalls; if coderd is reachable only through a proxy, set coder.proxy',
      ),
      says: [
        /^FAIL {2}function: last look: 0 s ago, it failed: listing organizations: no answer from coderd .*The function looks from the subnets of aws\.network, not from this machine: check their way to coderd \(security groups, routes, coder\.proxy\)$/,
      ],
    },
    {
      cause: 'a closed route from the function to ECS',
      broken: failedLook(
        'listing services of cluster "Stack-Cluster-AbC123": TimeoutError: connect ETIMEDOUT 10.0.3.7:443; could not read: services',
      ),
      says: [
        /^FAIL {2}function: last look: .*TimeoutError.*check their way to AWS \(NAT gateway, or VPC endpoints for ecs, secretsmanager, ssm and sqs\)$/,
      ],
    },
    {
      cause: 'a closed route from the function to Secrets Manager',
      broken: failedLook(
        'reading secret "coder/autoscaler-token": request timed out; AWS did not answer; check the network (VPN, proxy, VPC endpoint)',
      ),
      says: [/^FAIL {2}function: last look: .*check their way to AWS \(NAT gateway, or VPC endpoints/],
    },
    {
      cause: 'a function that fails before its look',
      broken: (lab) => {
        lab.pass(600);
        putLine(lab, {
          level: 'ERROR',
          message: { errorType: 'ConfigError', errorMessage: 'pools[0].max: 0 is\ntoo small' },
        });
      },
      says: [
        /^FAIL {2}function: last look: the function has logged no look for 10 min, so probably no pool scales\. It runs, and its last error is: pools\[0\]\.max: 0 is too small$/,
      ],
    },
    {
      cause: "a disabled KMS key of the tasks' secret",
      broken: ({ world }) => {
        const secret = world.secrets.find('coder/keys/gpu');
        if (secret !== undefined) secret.kmsKey = KEY;
        world.account.kmsKeys.set(KEY, 'Disabled');
      },
      says: [
        /^FAIL {2}KMS keys: arn:\S+ is Disabled, so nothing can decrypt secret "coder\/keys\/gpu", .*Run: aws kms enable-key --key-id arn:\S+$/,
      ],
    },
    {
      cause: 'a KMS key of the deployment that somebody deletes',
      settings: { aws: { kmsKey: KEY } },
      broken: ({ world }) => {
        for (const name of world.logs.groups())
          world.logs.settings.set(name, { retentionInDays: 30, kmsKeyId: KEY });
        world.account.kmsKeys.set(KEY, 'PendingDeletion');
      },
      says: [
        /^FAIL {2}KMS keys: arn:\S+ is PendingDeletion, so nothing can decrypt the function's settings, .*the alarms, .*Run: aws kms cancel-key-deletion --key-id \S+ && aws kms enable-key --key-id \S+$/,
      ],
    },
    {
      cause: 'a deleted log group of the function',
      broken: ({ world }) => world.logs.deleteGroup(world.logGroupName),
      says: [
        /^FAIL {2}log groups: "Stack-AutoscalerLogs-0A1B2C" does not exist: the function writes neither log nor metrics\. Pools may scale all the same, .*Run: aws logs create-log-group --log-group-name Stack-AutoscalerLogs-0A1B2C && aws logs put-retention-policy --log-group-name Stack-AutoscalerLogs-0A1B2C --retention-in-days 30$/,
      ],
    },
    {
      cause: 'a deleted log group of a pool, with a key',
      settings: { aws: { kmsKey: KEY, logs: { retentionDays: 90 } } },
      broken: ({ world }) => {
        world.account.kmsKeys.set(KEY, 'Enabled');
        for (const name of world.logs.groups())
          world.logs.settings.set(name, { retentionInDays: 90, kmsKeyId: KEY });
        world.logs.deleteGroup('Stack-PoolGpuLogs');
      },
      says: [
        /^FAIL {2}log groups: "Stack-PoolGpuLogs" does not exist: its tasks .*Run: aws logs create-log-group --log-group-name Stack-PoolGpuLogs --kms-key-id arn:\S+ && aws logs put-retention-policy --log-group-name Stack-PoolGpuLogs --retention-in-days 90$/,
      ],
    },
    {
      cause: 'log groups that somebody made anew without retention and key',
      settings: { aws: { kmsKey: KEY } },
      broken: ({ world }) => {
        world.account.kmsKeys.set(KEY, 'Enabled');
        for (const name of world.logs.groups())
          world.logs.settings.set(name, { retentionInDays: 30, kmsKeyId: KEY });
        world.logs.settings.set(world.logGroupName, {});
      },
      says: [
        /^warn {2}log groups: "Stack-AutoscalerLogs-0A1B2C" keeps logs for ever instead of 30 days\. Run: aws logs put-retention-policy /,
        /^warn {2}log groups: "Stack-AutoscalerLogs-0A1B2C" is encrypted with AWS's own key instead of aws\.kmsKey\. Run: aws logs associate-kms-key /,
      ],
    },
    {
      cause: 'a full subnet',
      broken: failingStarts(
        'Unexpected EC2 error while attempting to Create Network Interface in subnet subnet-1: InsufficientFreeAddressesInSubnet',
      ),
      says: [
        /^FAIL {2}finding "starts-failing": pool "gpu": .*: a subnet of the tasks has no free address: free some, .*InsufficientFreeAddressesInSubnet/,
        /^warn {2}finding "jobs-about-to-fail"/,
      ],
    },
    {
      cause: 'a quota that is used up',
      broken: async (lab) => {
        lab.world.account.quotas.set('L-3032A538', 1);
      },
      says: [
        /^warn {2}quota: on-demand: this cluster's tasks use 1 of 1 vCPUs of the account, so Fargate refuses the next task, and jobs wait\. Request more: aws service-quotas request-service-quota-increase --service-code fargate --quota-code L-3032A538 --desired-value 7$/,
      ],
    },
    {
      cause: 'a disabled schedule',
      broken: ({ world }) => {
        world.account.schedule = 'DISABLED';
      },
      says: [
        /^FAIL {2}schedule: "Stack-Schedule-2C3D" of group "Stack-Schedules-0A1B" is disabled, so no look comes and no pool scales\. Enable it: aws scheduler update-schedule --cli-input-json /,
      ],
    },
    {
      cause: 'a deleted schedule',
      broken: ({ world }) => {
        world.account.schedule = undefined;
      },
      says: [/^FAIL {2}schedule: .* does not exist, .*Restore it: npx cdk deploy --revert-drift$/],
    },
    {
      cause: 'a contested count',
      // only the memory of one process finds it
      broken: async (lab) => {
        const ports = lab.ports();
        for (let round = 0; round < 5; round++) {
          lab.pass(20);
          const result = await lookAndAct(ports, lab.config);
          putLine(lab, { message: 'look', ...lookEvent({ result, calls: {}, durationMs: 400 }) });
          const { identity, state } = lab.world.service('cpu');
          if (round < 4) lab.world.ecs.setDesiredCount(identity.name, state.desiredCount + 1);
        }
      },
      says: [
        /^warn {2}function: finding: pool "cpu": others changed the desired count 4 times/,
        /^warn {2}function: finding: pool "cpu": somebody else changed the desired count from \d to \d/,
      ],
    },
    {
      cause: 'refused daemons, of whose cause nothing is left',
      pools: [GPU],
      broken: async (lab) => {
        const { coderd } = lab.world;
        submit(lab, GPU.tags, 2);
        await logLooks(lab, 10);
        coderd.licence = 'not_entitled';
        lab.pass(300);
        coderd.licence = 'entitled';
        await logLooks(lab, 10);
      },
      says: [
        /^FAIL {2}finding "starts-failing": pool "gpu": .* their daemons do not register\. Read the logs of the tasks/,
        /^warn {2}finding "daemons-empty-while-leased": organization "default": coderd lists no daemons, but 2 tasks of its pools hold leases\. Scale-in is on hold\./,
        /^warn {2}finding "jobs-waiting"/,
        /^warn {2}finding "jobs-about-to-fail"/,
      ],
    },
    {
      cause: 'a half rolled-back stack',
      broken: ({ world }) =>
        world.account.stacks.set(world.stackName, {
          status: 'UPDATE_ROLLBACK_FAILED',
          cluster: world.ecs.clusterName,
        }),
      says: [
        /^FAIL {2}stack: stack "Stack" is UPDATE_ROLLBACK_FAILED: .* continue-update-rollback --stack-name Stack$/,
      ],
    },
    {
      cause: 'a deployment that CloudFormation took back',
      broken: ({ world }) =>
        world.account.stacks.set(world.stackName, {
          status: 'UPDATE_ROLLBACK_COMPLETE',
          cluster: world.ecs.clusterName,
        }),
      says: [
        /^warn {2}stack: .*: the last deployment failed, and what runs is of the one before\. The first event/,
      ],
    },
  ];

  it.each(causes)('is told: $cause', async ({ broken, says, settings, pools = [CPU, GPU] }) => {
    const lab = await running({ pools }, settings);
    await broken(lab);
    const { problems } = await doctor(lab);
    expect(problems.length, problems.join('\n')).toBe(says.length);
    for (const [index, line] of says.entries()) expect(problems[index]).toMatch(line);
  });
});

describe('a deployment that is well', () => {
  type State = {
    readonly state: string;
    readonly settings?: object;
    readonly options?: Partial<LabOptions>;
    readonly play?: (lab: CommandLab) => unknown;
  };
  const states: readonly State[] = [
    { state: 'quiet' },
    {
      state: 'busy',
      play: async (lab) => {
        submit(lab, {}, 3, 600);
        submit(lab, GPU.tags, 2, 600);
        await logLooks(lab, 180);
      },
    },
    {
      state: 'starting tasks for jobs that wait',
      play: async (lab) => {
        submit(lab, GPU.tags, 2);
        await logLooks(lab, 20);
      },
    },
    {
      state: 'with more jobs than max, for a minute',
      play: async (lab) => {
        submit(lab, GPU.tags, 6, 90);
        await logLooks(lab, 120);
      },
    },
    {
      state: 'draining after a busy time',
      play: async (lab) => {
        submit(lab, {}, 4, 30);
        await logLooks(lab, 240);
      },
    },
    {
      state: 'deploying',
      play: async (lab) => {
        const { world } = lab;
        submit(lab, {}, 2, 600);
        await logLooks(lab, 120);
        const cluster = world.ecs.clusterName;
        world.account.stacks.set(world.stackName, { status: 'UPDATE_IN_PROGRESS', cluster });
        for (const pool of ['cpu', 'gpu']) world.deploy(pool);
        await logLooks(lab, 30);
      },
    },
    {
      state: 'cleaning up after a deployment',
      play: ({ world }) => {
        const cluster = world.ecs.clusterName;
        world.account.stacks.set(world.stackName, { status: 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', cluster });
      },
    },
    {
      state: 'paused',
      play: async (lab) => {
        await lab.call('pause', 'gpu', '--for', '8h', '--why', 'release night');
        await logLooks(lab, 60);
      },
    },
    {
      state: 'pinned',
      play: async (lab) => {
        await lab.call('pin', 'cpu', '3', '--for', '8h', '--why', 'workshop');
        await logLooks(lab, 180);
      },
    },
    { state: 'beside a coderd that was upgraded before the image', options: { coderVersion: 'v2.31.0' } },
    {
      state: 'with a key and a retention of its own',
      settings: { aws: { kmsKey: KEY, logs: { retentionDays: 90 } } },
      play: ({ world }) => {
        world.account.kmsKeys.set(KEY, 'Enabled');
        for (const name of world.logs.groups())
          world.logs.settings.set(name, { retentionInDays: 90, kmsKeyId: KEY });
      },
    },
    {
      state: 'with a log group of the company',
      settings: { aws: { logs: { group: 'Stack-AutoscalerLogs-0A1B2C' } } },
      play: ({ world }) => {
        for (const [name, { type }] of world.account.resources)
          if (type === 'AWS::Logs::LogGroup') world.account.resources.delete(name);
        world.logs.settings.set(world.logGroupName, { retentionInDays: 365, kmsKeyId: KEY });
      },
    },
  ];

  it.each(states)('passes, and warns of nothing: $state', async ({ settings, options, play }) => {
    const lab = await running(options, settings);
    await play?.(lab);
    expect(await doctor(lab)).toMatchObject({ problems: [], code: 0 });
  });

  it('passes in its first minutes, without a look', async () => {
    const lab = await start({ pools: [CPU, GPU] });
    const { problems, out } = await doctor(lab);
    expect(problems).toEqual([]);
    expect(out).toContain('ok    function: last look: none yet: the deployment is new\n');
  });
});

it('finds its own resources in the template, and no others', () => {
  const kept = new URL('../../infra/upgrade/kept/0.2.0/everything.snap', import.meta.url);
  const rows = readFileSync(kept, 'utf8').matchAll(/^"(\w+)":\{"Type":"([\w:]+)"/gm);
  const resources = [...rows].map(([, logicalId = '', type = '']) => ({ logicalId, type, name: logicalId }));
  expect(namesOf('schedule', resources)).toEqual(['AutoscalerScheduleA5FBB37B']);
  expect(namesOf('scheduleGroup', resources)).toEqual(['AutoscalerScheduleGroupFC25FB6B']);
  const logs = resources.filter(({ type }) => type === 'AWS::Logs::LogGroup').map(({ name }) => name);
  expect(namesOf('logs', resources)).toEqual(logs);
  const ofPools = namesOf('poolLogs', resources);
  expect(ofPools.length).toBeGreaterThan(0);
  expect(logs.filter((name) => !ofPools.includes(name))).toHaveLength(1);
});

describe('a person without permissions', () => {
  const notLooked = (out: string): readonly string[] =>
    out.split('\n').filter((line) => line.includes(': not looked: needs '));

  it('is told which each check needs, and other checks go on', async () => {
    const lab = await running();
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'the role of the function');
    const { out, code } = await doctor(lab);
    const secrets = '(secrets "coder/autoscaler-token", "coder/keys/cpu", "coder/keys/gpu")';
    expect(notLooked(out)).toEqual([
      'skip  stack: not looked: needs cloudformation:DescribeStacks',
      'skip  schedule and log groups of pools: not looked: needs cloudformation:ListStackResources',
      'skip  log groups: not looked: needs logs:DescribeLogGroups',
      'skip  function: last look: not looked: needs logs:FilterLogEvents on the log group "Stack-AutoscalerLogs-0A1B2C"',
      'skip  quota: on-demand: not looked: needs servicequotas:GetServiceQuota',
      `skip  KMS keys: not looked: needs secretsmanager:DescribeSecret ${secrets}`,
    ]);
    expect(code).toBe(0);
    expect(out).toContain('ok    pool "cpu": service: ');
  });

  it('finds in the docs what the checks of the deployment need', async () => {
    const folder = new URL('../../../cli/doctor/deployment/', import.meta.url);
    const needed = readdirSync(folder).flatMap((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      return [...text.matchAll(/permission: ['`]([a-z]+:\w+)/g)].map(([, permission]) => permission ?? '');
    });
    const docs = readFileSync(new URL('../../../docs/construct.md', import.meta.url), 'utf8');
    const [, listed = ''] = /`doctor` also looks at the\s+deployment, with (.*?)\. /s.exec(docs) ?? [];
    const documented = [...listed.matchAll(/`([a-z]+:\w+)`/g)].map(([, permission]) => permission);
    expect(documented.toSorted()).toEqual([...new Set(needed)].toSorted());
  });
});
