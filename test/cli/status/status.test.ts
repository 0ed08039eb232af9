/** The exact output of `autoscaler status` for worlds that are served over HTTP. */
import { describe, expect, it, vi } from 'vitest';
import type { Status } from '../../../cli/status/report.ts';
import type { PoolName } from '../../../lambda/decision/model/brands.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import { type CommandLab, commandLabs, logLooks } from '../../support/command-lab.ts';
import type { Lab, LabPool } from '../../support/lab.ts';

const { start } = commandLabs();

const IDLE = { organization: 'default', desiredCount: 0 };
const CPU: LabPool = { ...IDLE, name: 'cpu', tags: {}, min: 1, max: 5 };
const GPU: LabPool = { ...IDLE, name: 'gpu', tags: { cluster: 'gpu' }, max: 2, dollarsPerLaunch: 0 };

const open = (pools: readonly LabPool[]): Promise<CommandLab> => start({ pools });

const submit = ({ world }: Lab, tags: Readonly<Record<string, string>>, durationS = 60) =>
  world.coderd.submitJob({
    organization: 'default',
    tags,
    durationMs: durationS * 1000,
    // a build would need a workspace, or coderd's lists contradict each other
    type: 'template_version_import',
  });

/** The screen of a status that could read everything. */
async function screen(lab: CommandLab): Promise<string> {
  const { code, out, err } = await lab.call('status');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

it('shows a healthy deployment', async () => {
  const lab = await open([CPU, GPU]);
  await logLooks(lab, 240);
  lab.pass(25);
  expect(await screen(lab)).toMatchInlineSnapshot(`
    "no jobs wait; no findings

    pool  tasks  busy  idle  starting  leaving  floor  max
    cpu       1     0     1         0        0      1    5
    gpu       0     0     0         0        0      0    2
    floor: the tasks to keep now, busy ones included; 0: only what jobs need

    last look: 25 s ago, at 2 March 2026 09:04:00 UTC; succeeded
    "
  `);
});

it('shows waiting jobs, failed starts and a paused pool', async () => {
  const lab = await open([CPU, GPU]);
  const { ecs } = lab.world;
  await logLooks(lab, 240);
  ecs.failStarts(lab.world.service('gpu').identity.name, 'CannotPullContainerError: no such image');
  for (let job = 0; job < 3; job++) submit(lab, { cluster: 'gpu' });
  submit(lab, { cluster: 'tpu' });
  await lab.call('pause', 'cpu', '--scale-in', '--for', '8h', '--why', 'release night');
  await logLooks(lab, 240);
  lab.pass(25);
  expect(await screen(lab)).toMatchInlineSnapshot(`
    "4 jobs wait, the oldest for 4 min, 1 of them unschedulable; 2 findings

    pool  tasks  busy  idle  starting  leaving  floor  max
    cpu       1     0     1         0        0      1    5
    gpu       1     0     0         1        0      0    2
    floor: the tasks to keep now, busy ones included; 0: only what jobs need

    waiting jobs:
      ! organization "default", tags cluster=tpu: 1 job (template_version_import), the oldest waits for 4 min. The closest pool is "gpu": it lacks cluster=tpu (has cluster=gpu). coderd fails the oldest at 2 March 2026 09:34:00 UTC
        organization "default", tags cluster=gpu: 3 jobs, the oldest for 4 min -> 3 waiting for a launch in "gpu" (starts fail)

    when they start:
      3 jobs of organization "default" (tags cluster=gpu): start unknown: tasks of its pool do not start as expected

    findings:
      ! pool "gpu": ECS lists 6 tasks that failed to start since the last daemon registered: ECS could not pull the image: check its name and tag, and that its registry answers (CannotPullContainerError: no such image)
      ! organization "default", tags cluster=gpu: coderd will fail 3 pending jobs from 2 March 2026 09:34:00 UTC on, if pool "gpu" stays limited by failing starts. coderd gives pending jobs 30 min

    overrides:
        pool "cpu": scale-in paused until 2 March 2026 17:04:00 UTC by ada (release night)

    last look: 25 s ago, at 2 March 2026 09:08:00 UTC; succeeded
    "
  `);
});

it('shows transitions that wait for a paused pool', async () => {
  const lab = await open([GPU]);
  const { coderd, timeline } = lab.world;
  const template = coderd.addTemplate({ organization: 'default', tags: GPU.tags });
  coderd.workspaces.add({ template, running: true, since: timeline.now(), ttlMs: 120_000 });
  await lab.call('pause', 'gpu', '--for', '8h', '--why', 'release night');
  await logLooks(lab, 240);
  const screened = await screen(lab);
  expect(screened).toMatch(/^no jobs wait; 1 finding\n/);
  expect(screened).toContain(
    'findings:\n  ! organization "default", tags cluster=gpu: 1 autostop at 2 March 2026 09:02:00 UTC waits for "gpu" (paused or pinned). Run `autoscaler resume gpu`. Pool "gpu" is paused until 2 March 2026 17:00:00 UTC by ada (release night)\n',
  );
});

it('shows that capacity for waiting jobs is starting', async () => {
  const lab = await open([CPU, GPU]);
  await logLooks(lab, 240);
  submit(lab, {}, 600);
  lab.pass(10);
  for (let job = 0; job < 3; job++) submit(lab, { cluster: 'gpu' });
  await logLooks(lab, 10);
  submit(lab, {});
  lab.pass(5);
  const screened = await screen(lab);
  expect(screened).toMatch(/^4 jobs wait, the oldest for 15 s; no findings\n/);
  for (const line of [
    'gpu       2     0     0         2        0      0    2',
    'organization "default", tags cluster=gpu: 3 jobs, the oldest for 15 s -> 2 by a starting daemon in "gpu", 1 waiting for a launch in "gpu"',
    'organization "default", tags (untagged): 1 job, the oldest for 5 s -> 1 by a new task in "cpu"',
  ])
    expect(screened).toContain(line);
});

it('names the limit for which jobs wait at max', async () => {
  const lab = await open([CPU, GPU]);
  await logLooks(lab, 240);
  for (let job = 0; job < 172; job++) submit(lab, { cluster: 'gpu' }, 600);
  await logLooks(lab, 120);
  expect(await screen(lab)).toContain(
    '172 jobs, the oldest for 2 min -> 170 waiting for a launch in "gpu" (max 2 is reached)'.replace(
      '172',
      '170',
    ),
  );
});

it('prints the same facts as one JSON document with --json', async () => {
  const lab = await open([CPU, GPU]);
  await logLooks(lab, 240);
  submit(lab, { cluster: 'tpu' });
  lab.pass(30);
  const { code, out } = await lab.call('status', '--json');
  const status: Status = JSON.parse(out);
  expect(code).toBe(0);
  expect(status).toMatchObject({
    version: 1,
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

it('fits the longest pool names into 80 columns', async () => {
  const lab = await open([{ ...CPU, name: 'a'.repeat(30), min: 0 }]);
  const [, , ...rows] = (await screen(lab)).split('\n');
  expect(rows.slice(0, 2).map(({ length }) => length)).toEqual([80, 80]);
});

describe('an unreadable source', () => {
  it('shows the facts of coderd and exits with 1 if ECS is unavailable', async () => {
    const lab = await open([CPU, GPU]);
    submit(lab, { cluster: 'gpu' });
    lab.pass(70);
    const { code, out } = await lab.call('status', '--cluster', 'nowhere');
    expect(code).toBe(1);
    expect(out).toMatchInlineSnapshot(`
      "1 job has waited for 70 s; 1 finding

      pool  tasks  busy  idle  starting  leaving  floor  max
      cpu       ?     ?     ?         ?        ?      1    5
      gpu       ?     ?     ?         ?        ?      0    2
      floor: the tasks to keep now, busy ones included; 0: only what jobs need

      waiting jobs:
          organization "default", tags cluster=gpu: 1 job, the oldest for 70 s -> 1 waiting for a launch in "gpu"

      when they start:
        job 81f388be of organization "default" (tags cluster=gpu): start unknown: a list is incomplete or contradicts another one (see the findings)

      findings:
        ! could not list ECS services: listing services of cluster "nowhere": ClusterNotFoundException: Cluster not found. Give the name of the cluster with --cluster (an output of the stack)

      last look: unknown: no ECS service has the tag coder-autoscaler:log-group, which names the log group
      "
    `);
  });

  it('shows the facts of ECS and exits with 1 if coderd is unavailable', async () => {
    const lab = await open([CPU, GPU]);
    await logLooks(lab, 120);
    lab.world.secrets.put(lab.world.tokenSecretName, 'no-token');
    const { code, out } = await lab.call('status');
    expect(code).toBe(1);
    expect(out).toMatchInlineSnapshot(`
      "waiting jobs unknown; 1 finding

      pool  tasks  busy  idle  starting  leaving  floor  max
      cpu       1     ?     ?         ?        ?      1    5
      gpu       0     ?     ?         ?        ?      0    2
      floor: the tasks to keep now, busy ones included; 0: only what jobs need

      findings:
        ! listing organizations: coderd refuses the token, also after it was read again from the secret. Store a valid token in it …

      last look: 0 s ago, at 2 March 2026 09:02:00 UTC; succeeded
      …: --explain prints these sentences whole
      "
    `);
  });
});

describe('the last look', () => {
  const lastLine = (out: string): string => out.trimEnd().split('\n').at(-1) ?? '';

  it('shows the causes if it failed', async () => {
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
    expect(out).toContain('no jobs wait; 1 finding\n');
    expect(out).toContain(`findings:\n  ! the function says: ${failures[0]}\n`);
    expect(lastLine(out)).toBe('last look: 20 s ago, at 2 March 2026 09:01:00 UTC; failed (see findings)');
  });

  /** A look that ended now, with what the function found. */
  const putLook = ({ world }: Lab, found: { failures?: readonly string[]; findings?: readonly string[] }) => {
    const takenAt = new Date(world.timeline.now()).toISOString();
    const line = { message: 'look', service: world.stackName, takenAt, ...found };
    world.logs.put(world.logGroupName, JSON.stringify(line));
  };
  const findingsIn = (out: string): readonly string[] =>
    out.split('\n').filter((line) => line.startsWith('  ! '));

  it('shows what only the memory of the function can find, as its words', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 60);
    const contested = sentenceOf({ code: 'count-contested', pool: 'cpu' as PoolName, changes: 4 });
    putLook(lab, { findings: [contested] });
    lab.pass(20);
    expect(findingsIn(await screen(lab))).toEqual([
      expect.stringMatching(
        /^ {2}! the function says: pool "cpu": others changed the desired count 4 times in the last hour\. /,
      ),
    ]);
  });

  it('gives no advice about this machine for an error that the function had', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 60);
    const failure = 'listing services of cluster "a": TimeoutError: connect ETIMEDOUT 10.0.0.1:443';
    putLook(lab, { failures: [failure], findings: [failure] });
    lab.pass(20);
    expect(findingsIn(await screen(lab))).toEqual([`  ! the function says: ${failure}`]);
  });

  it('says once what this machine sees too, with other numbers', async () => {
    const lab = await open([CPU, GPU]);
    const { ecs } = lab.world;
    await logLooks(lab, 60);
    ecs.failStarts(lab.world.service('gpu').identity.name, 'CannotPullContainerError: no such image');
    submit(lab, { cluster: 'gpu' });
    await logLooks(lab, 240);
    putLook(lab, {
      findings: [
        'pool "gpu": ECS lists 1 task that failed to start since the last daemon registered: ECS could not pull the image: check its name and tag, and that its registry answers (CannotPullContainerError: no such image (of the second try))',
      ],
    });
    lab.pass(20);
    const out = await screen(lab);
    expect(out).toContain('ECS lists');
    expect(out).not.toContain('the function says: pool "gpu": ECS lists');
  });

  it('withdraws the promised starts of jobs once no look comes', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 240);
    submit(lab, {}, 6000);
    await logLooks(lab, 60);
    submit(lab, {}, 600);
    await logLooks(lab, 10);
    expect(await screen(lab)).toMatch(/when they start:\n {2}job \w+ of .*: starts in about \d+ s/);
    lab.pass(110);
    submit(lab, {}, 600);
    expect(await screen(lab)).toContain('starts in about');
    lab.pass(20);
    const out = await screen(lab);
    expect(out).not.toContain('starts in about');
    expect(out).toContain(
      'when they start:\n  unknown: the function has not looked for 2 min, and without looks no task starts\n',
    );
    expect(JSON.parse((await lab.call('status', '--json')).out)).toMatchObject({
      isLooking: false,
      waiting: { pendingJobs: [{ startsAt: null }] },
    });
  });

  it('ignores another deployment in the same log group', async () => {
    const lab = await open([CPU]);
    const { logs, logGroupName, timeline } = lab.world;
    const takenAt = new Date(timeline.now()).toISOString();
    logs.put(logGroupName, JSON.stringify({ message: 'look', service: 'Other', takenAt }));
    lab.pass(20);
    expect(lastLine(await screen(lab))).toBe('last look: none in the last hour');
  });

  it('is a finding if it is too old', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 60);
    lab.pass(40 * 60);
    const out = await screen(lab);
    expect(out).toContain(
      '! the last look of the function was 40 min ago, but there should be one every minute. Run `autoscaler doctor`: it looks at the schedule and the log group "Stack-AutoscalerLogs-0A1B2C"\n',
    );
    expect(lastLine(out)).toBe('last look: 40 min ago, at 2 March 2026 09:01:00 UTC; succeeded');
  });

  it('is missing after an hour', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 60);
    lab.pass(61 * 60);
    const out = await screen(lab);
    expect(out).toContain('! the function has not looked for an hour. Run `autoscaler doctor`: it');
    expect(lastLine(out)).toBe('last look: none in the last hour');
  });

  it('is a finding without a look since the deployment, 3 min after it', async () => {
    const lab = await open([CPU]);
    expect(await screen(lab)).toContain('no findings\n');
    lab.pass(200);
    expect(await screen(lab)).toContain(
      '! the function has not looked since the deployment 3 min ago. Run `autoscaler doctor`:',
    );
  });

  it('is found among the lines of tasks on all pages', async () => {
    const lab = await open([CPU]);
    const { logs, logGroupName } = lab.world;
    await logLooks(lab, 10);
    for (let line = 0; line < 30; line++) logs.put(logGroupName, `terraform: ${'x'.repeat(100_000)}`);
    await logLooks(lab, 10);
    logs.put(logGroupName, '{"message":"look","of":"another version"}');
    expect(lastLine(await screen(lab))).toBe('last look: 0 s ago, at 2 March 2026 09:00:20 UTC; succeeded');
  });

  it('is unknown without the permission, and the status shows all other facts', async () => {
    const lab = await open([CPU]);
    await logLooks(lab, 240);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'somebody who may only read ECS');
    const out = await screen(lab);
    expect(out).toMatch(/^no jobs wait; no findings\n/);
    expect(lastLine(out)).toBe(
      'last look: unknown: reading the log group "Stack-AutoscalerLogs-0A1B2C": AccessDeniedException: User: arn:aws:sts::123456789012:assumed-role/autoscaler/session is not authorized to perform: logs:FilterLogEvents because no identity-based policy allows the logs:FilterLogEvents action; ask for logs:FilterLogEvents on it',
    );
  });
});
