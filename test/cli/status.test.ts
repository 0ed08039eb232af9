/** `autoscaler status` on worlds that are served over HTTP, word for word. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import type { Status } from '../../cli/status/report.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { lookAndAct } from '../../lambda/look/look.ts';
import { lookEvent } from '../../lambda/look/look-event.ts';
import { ACCESS_KEY_OF_A_PERSON } from '../../simulator/aws-http.ts';
import { type Answer, runIn } from '../support/cli-run.ts';
import { type Lab, type LabPool, labConfig, startLab } from '../support/lab.ts';

const folder = mkdtempSync(join(tmpdir(), 'autoscaler-status-'));
const file = join(folder, 'autoscaler.yaml');
const opened: Lab[] = [];
beforeEach(() => vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON));
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(opened.splice(0).map((lab) => lab.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

const IDLE = { organization: 'default', desiredCount: 0 };
const CPU: LabPool = { ...IDLE, name: 'cpu', tags: {}, min: 1, max: 5 };
const GPU: LabPool = { ...IDLE, name: 'gpu', tags: { cluster: 'gpu' }, max: 2 };

async function open(pools: readonly LabPool[]): Promise<Lab> {
  const lab = await startLab({ pools });
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH_LOGS', lab.awsUrl);
  opened.push(lab);
  configure(lab, pools);
  return lab;
}

/** Writes the configuration that the command line reads. */
function configure(lab: Lab, pools: readonly LabPool[], retiring?: string) {
  const written = labConfig(lab.coderdUrl, pools);
  const changed = pools.map((pool, index) => ({
    ...(written.pools as readonly object[])[index],
    retiring: pool.name === retiring,
  }));
  const document = { ...written, pools: changed };
  writeFileSync(file, stringify(document));
  return checkConfig(document).config;
}

const call = (lab: Lab, ...args: readonly string[]): Promise<Answer> =>
  runIn(
    {
      environment: { AUTOSCALER_CLUSTER: lab.world.ecs.clusterName, USER: 'ada' },
      now: () => lab.world.timeline.now(),
    },
    ...args,
    '--config',
    file,
  );

/** A look every 10 s, logged as the function logs it. */
async function logLooks(lab: Lab, seconds: number, config = lab.config): Promise<void> {
  const { logs, logGroupName, stackName } = lab.world;
  for (let passed = 0; passed < seconds; passed += 10) {
    lab.pass(10);
    const event = lookEvent({ result: await lookAndAct(lab.ports(), config), calls: {}, durationMs: 420 });
    logs.put(logGroupName, JSON.stringify({ level: 'INFO', message: 'look', service: stackName, ...event }));
  }
}

const submit = ({ world }: Lab, tags: Readonly<Record<string, string>>, durationS = 60) =>
  world.coderd.submitJob({
    organization: 'default',
    tags,
    durationMs: durationS * 1000,
    // a build would need a workspace, or coderd's lists contradict each other
    type: 'template_version_import',
  });

/** The screen of a status that could read everything. */
async function screen(lab: Lab): Promise<string> {
  const { code, out, err } = await call(lab, 'status');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

it('a calm deployment', async () => {
  const lab = await open([CPU, GPU]);
  await logLooks(lab, 240);
  lab.pass(25);
  expect(await screen(lab)).toMatchInlineSnapshot(`
    "nobody waits; nothing is broken

    pool  tasks  busy  idle  starting  leaving  floor  max
    cpu       1     0     1         0        0      1    5
    gpu       0     0     0         0        0      0    2

    last look: 25 s ago, at 2026-03-02T09:04:00.000Z; all went well
    "
  `);
});

it('jobs wait, starts fail, and somebody has paused a pool', async () => {
  const lab = await open([CPU, GPU]);
  const { ecs } = lab.world;
  await logLooks(lab, 240);
  ecs.failStarts(lab.world.service('gpu').identity.name, 'CannotPullContainerError: no such image');
  for (let job = 0; job < 3; job++) submit(lab, { cluster: 'gpu' });
  submit(lab, { cluster: 'tpu' });
  await call(lab, 'pause', 'cpu', '--scale-in', '--for', '8h', '--why', 'release night');
  await logLooks(lab, 240);
  lab.pass(25);
  expect(await screen(lab)).toMatchInlineSnapshot(`
    "4 jobs wait, the oldest for 4 min, and nobody can run 1 of them; 1 thing is broken

    pool  tasks  busy  idle  starting  leaving  floor  max
    cpu       1     0     1         0        0      1    5
    gpu       1     0     0         1        0      0    2

    who waits:
      ! organization "default", tags cluster=tpu: 1 job (template_version_import), the oldest for 4 min, failed by coderd at 2026-03-02T09:34:00.000Z; pool "gpu" comes closest, but does not have cluster=tpu (it has cluster=gpu)
        organization "default", tags cluster=gpu: 3 jobs, the oldest for 4 min -> 3 when there is room in "gpu"

    what is broken:
      ! pool "gpu": 5 tasks failed to start since a daemon last registered: the image can not be pulled (CannotPullContainerError: no such image)

    overrides:
        pool "cpu": scale-in paused until 2026-03-02T17:04:00.000Z by ada (release night)

    last look: 25 s ago, at 2026-03-02T09:08:00.000Z; all went well
    "
  `);
});

it('what coderd would do by itself waits for a paused pool', async () => {
  const lab = await open([GPU]);
  const { coderd, timeline } = lab.world;
  const template = coderd.addTemplate({ organization: 'default', tags: GPU.tags });
  coderd.addWorkspace({ template, running: true, since: timeline.now(), ttlMs: 120_000 });
  await call(lab, 'pause', 'gpu', '--for', '8h', '--why', 'release night');
  await logLooks(lab, 240);
  const screened = await screen(lab);
  expect(screened).toMatch(/^nobody waits; 1 thing is broken\n/);
  expect(screened).toContain(
    'what is broken:\n  ! organization "default", tags cluster=gpu: 1 autostop at 2026-03-02T09:02:00.000Z waits, since pool "gpu" is paused until 2026-03-02T17:00:00.000Z by ada (release night); `autoscaler resume gpu` lets coderd do it\n',
  );
});

it('capacity is coming for those who wait', async () => {
  const lab = await open([CPU, GPU]);
  await logLooks(lab, 240);
  submit(lab, {}, 600);
  lab.pass(10);
  for (let job = 0; job < 3; job++) submit(lab, { cluster: 'gpu' });
  await logLooks(lab, 10);
  submit(lab, {});
  lab.pass(5);
  expect(await screen(lab)).toMatchInlineSnapshot(`
    "4 jobs wait, the oldest for 15 s; nothing is broken

    pool  tasks  busy  idle  starting  leaving  floor  max
    cpu       1     1     0         0        0      1    5
    gpu       2     0     0         2        0      0    2

    who waits:
        organization "default", tags cluster=gpu: 3 jobs, the oldest for 15 s -> 2 by a starting daemon in "gpu", 1 when there is room in "gpu"
        organization "default", tags (untagged): 1 job, the oldest for 5 s -> 1 by a new task in "cpu"

    last look: 5 s ago, at 2026-03-02T09:04:20.000Z; all went well
    "
  `);
});

it('a pool that is retiring: first with a build, then with nothing left', async () => {
  const pools = [CPU, { ...GPU, desiredCount: 2 }];
  const lab = await open(pools);
  lab.pass(120);
  submit(lab, { cluster: 'gpu' }, 600);
  const retiring = configure(lab, pools, 'gpu');
  await logLooks(lab, 240, retiring);
  expect(await screen(lab)).toMatchInlineSnapshot(`
    "nobody waits; nothing is broken

    pool  tasks  busy  idle  starting  leaving  floor  max
    cpu       1     0     1         0        0      1    5
    gpu       1     0     0         0        1      0    2

    retiring:
        pool "gpu": 1 task left, 1 of them with a build

    last look: 0 s ago, at 2026-03-02T09:06:00.000Z; all went well
    "
  `);
  await logLooks(lab, 600, retiring);
  expect(await screen(lab)).toMatchInlineSnapshot(`
    "nobody waits; nothing is broken

    pool  tasks  busy  idle  starting  leaving  floor  max
    cpu       1     0     1         0        0      1    5
    gpu       0     0     0         0        0      0    2

    retiring:
        pool "gpu": none left; remove it from the configuration and deploy

    last look: 0 s ago, at 2026-03-02T09:16:00.000Z; all went well
    "
  `);
});

it('--json is one document with the same facts', async () => {
  const lab = await open([CPU, GPU]);
  await logLooks(lab, 240);
  submit(lab, { cluster: 'tpu' });
  lab.pass(30);
  const { code, out } = await call(lab, 'status', '--json');
  const status: Status = JSON.parse(out);
  expect(code).toBe(0);
  expect(status).toMatchObject({
    takenAt: '2026-03-02T09:04:30.000Z',
    waiting: { jobs: 1, unserved: 1, oldestSeconds: 30, isComplete: true, groups: [] },
    pools: [
      { name: 'cpu', tasks: 1, daemons: { busy: 0, idle: 1, starting: 0, leaving: 0 }, floor: 1, max: 5 },
      { name: 'gpu', tasks: 0, daemons: { busy: 0, idle: 0, starting: 0, leaving: 0 }, floor: 0, max: 2 },
    ],
    broken: [],
    overrides: [],
    lastLook: { kind: 'seen', takenAt: '2026-03-02T09:04:00.000Z', ageSeconds: 30, failures: [] },
  });
});

it('nothing in it is coloured, so that it reads in a pipe', async () => {
  const lab = await open([CPU]);
  await logLooks(lab, 10);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  expect(await screen(lab)).not.toMatch(/\u001b/);
});

it('the table of the longest pool names fits into 80 columns', async () => {
  const lab = await open([{ ...CPU, name: 'a'.repeat(30), min: 0 }]);
  const [, , ...rows] = (await screen(lab)).split('\n');
  expect(rows.slice(0, 2).map(({ length }) => length)).toEqual([80, 80]);
});

describe('what can not be read', () => {
  it('ECS: what coderd tells is told, exit code 1', async () => {
    const lab = await open([CPU, GPU]);
    submit(lab, { cluster: 'gpu' });
    lab.pass(70);
    const { code, out } = await call(lab, 'status', '--cluster', 'nowhere');
    expect(code).toBe(1);
    expect(out).toMatchInlineSnapshot(`
      "1 job waits, the oldest for 70 s; 1 thing is broken

      pool  tasks  busy  idle  starting  leaving  floor  max
      cpu       ?     ?     ?         ?        ?      1    5
      gpu       ?     ?     ?         ?        ?      0    2

      who waits:
          organization "default", tags cluster=gpu: 1 job, the oldest for 70 s -> 1 when there is room in "gpu"

      what is broken:
        ! the list of services is failed: listing services of cluster "nowhere": ClusterNotFoundException: Cluster not found.; give the name of the cluster with --cluster; the stack prints it

      last look: not known; no service in sight names the log group in a tag coder-autoscaler:log-group
      "
    `);
  });

  it('coderd: what ECS tells is told, exit code 1', async () => {
    const lab = await open([CPU, GPU]);
    await logLooks(lab, 120);
    lab.world.secrets.put(lab.world.tokenSecretName, 'no-token');
    const { code, out } = await call(lab, 'status');
    expect(code).toBe(1);
    expect(out).toMatchInlineSnapshot(`
      "whether anybody waits is not known; 1 thing is broken

      pool  tasks  busy  idle  starting  leaving  floor  max
      cpu       1     ?     ?         ?        ?      1    5
      gpu       0     ?     ?         ?        ?      0    2

      what is broken:
        ! listing organizations: coderd answered 401: You are signed out or your session has expired. Please sign in again to continue. API key is invalid.; coderd also refused the token that was read again from the secret; store a valid token in it; not read for this: jobs, daemons, previous jobs of "default"

      last look: 0 s ago, at 2026-03-02T09:02:00.000Z; all went well
      "
    `);
  });
});

describe('the last look', () => {
  const lastLine = (out: string): string => out.trimEnd().split('\n').at(-1) ?? '';

  it('that failed is told with its causes', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 60);
    const failures = [
      'setting the desired count of pool "cpu" from 1 to 2: ThrottlingException: Rate exceeded',
    ];
    const { logs, logGroupName, stackName, timeline } = lab.world;
    const takenAt = new Date(timeline.now()).toISOString();
    logs.put(logGroupName, JSON.stringify({ message: 'look', service: stackName, takenAt, failures }));
    lab.pass(20);
    const out = await screen(lab);
    expect(out).toContain('nobody waits; 1 thing is broken\n');
    expect(out).toContain(`what is broken:\n  ! ${failures[0]}\n`);
    expect(lastLine(out)).toBe(
      'last look: 20 s ago, at 2026-03-02T09:01:00.000Z; it failed, see what is broken',
    );
  });

  it('is none of another deployment, which shares the log group', async () => {
    const lab = await open([CPU]);
    const { logs, logGroupName, timeline } = lab.world;
    const takenAt = new Date(timeline.now()).toISOString();
    logs.put(logGroupName, JSON.stringify({ message: 'look', service: 'Other', takenAt }));
    lab.pass(20);
    expect(lastLine(await screen(lab))).toBe('last look: none in the last hour');
  });

  it('that is long ago is what is broken', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 60);
    lab.pass(40 * 60);
    const out = await screen(lab);
    expect(out).toContain(
      '! the function looked 40 min ago for the last time, not a minute ago; look at the log group "Stack-AutoscalerLogs-0A1B2C" and at the schedule\n',
    );
    expect(lastLine(out)).toBe('last look: 40 min ago, at 2026-03-02T09:01:00.000Z; all went well');
  });

  it('of more than an hour ago is none', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 60);
    lab.pass(61 * 60);
    const out = await screen(lab);
    expect(out).toContain('! the function has not looked for an hour; look at the log group "Stack-');
    expect(lastLine(out)).toBe('last look: none in the last hour');
  });

  it('is found among the lines of tasks, over all pages', async () => {
    const lab = await open([CPU]);
    const { logs, logGroupName } = lab.world;
    await logLooks(lab, 10);
    for (let line = 0; line < 30; line++) logs.put(logGroupName, `terraform: ${'x'.repeat(100_000)}`);
    await logLooks(lab, 10);
    logs.put(logGroupName, '{"message":"look","of":"another version"}');
    expect(lastLine(await screen(lab))).toBe(
      'last look: 0 s ago, at 2026-03-02T09:00:20.000Z; all went well',
    );
  });

  it.each([
    {
      scenario: 'without the tag',
      arrange: ({ world }: Lab) => world.service('cpu').setTags({ 'coder-autoscaler:pool': 'cpu' }),
      line: 'last look: not known; no service in sight names the log group in a tag coder-autoscaler:log-group',
    },
    {
      scenario: 'without the group',
      arrange: ({ world }: Lab) =>
        world
          .service('cpu')
          .setTags({ 'coder-autoscaler:pool': 'cpu', 'coder-autoscaler:log-group': 'elsewhere' }),
      line: 'last look: not known; reading the log group "elsewhere": ResourceNotFoundException: The specified log group does not exist.',
    },
    {
      scenario: 'without the permission',
      arrange: () => vi.stubEnv('AWS_ACCESS_KEY_ID', 'somebody who may only read ECS'),
      line: 'last look: not known; reading the log group "Stack-AutoscalerLogs-0A1B2C": AccessDeniedException: User: arn:aws:sts::123456789012:assumed-role/autoscaler/session is not authorized to perform: logs:FilterLogEvents; ask for logs:FilterLogEvents on it',
    },
  ])('$scenario is not known, and all else is told', async ({ arrange, line }) => {
    const lab = await open([CPU]);
    await logLooks(lab, 240);
    arrange(lab);
    const out = await screen(lab);
    expect(out).toMatch(/^nobody waits; nothing is broken\n/);
    expect(lastLine(out)).toBe(line);
  });
});
