/** The exact output of `autoscaler explain` for worlds that are served over HTTP. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import type { ExplainedJob, JobExplanation } from '../../../cli/explain/explanation.ts';
import { explanationScreen } from '../../../cli/explain/screen.ts';
import { WaitRecord } from '../../../lambda/look/waits/wait-record.ts';
import { type CommandLab, commandLabs, logLooks } from '../../support/command-lab.ts';
import { type Lab, type LabOptions, type LabPool, labConfig } from '../../support/lab.ts';

const { file, start } = commandLabs();

const CPU: LabPool = { organization: 'default', desiredCount: 0, name: 'cpu', tags: {}, max: 1 };

const open = (pool: Partial<LabPool> = {}, options: Partial<LabOptions> = {}): Promise<CommandLab> =>
  start({ pools: [{ ...CPU, ...pool }], ...options });

const explain = (lab: CommandLab, ...args: readonly string[]) => lab.call('explain', ...args);

const submit = ({ world }: Lab, durationS: number, tags = {}) =>
  world.coderd.submitJob({ organization: 'default', tags, durationMs: durationS * 1000 });

describe('autoscaler explain', () => {
  it('tells where the wait of a finished job went, from the log of the function', async () => {
    const lab = await open();
    const record = new WaitRecord();
    await logLooks(lab, 10, record);
    const id = submit(lab, 60);
    await logLooks(lab, 300, record);
    const answer = await explain(lab, id);
    expect(answer.code).toBe(0);
    expect(answer.out).toMatchInlineSnapshot(`
      "job b2238349-cb98-4f38-abe5-f3426763fa50: build of workspace workspace-1, template "template-1"
        organization "default", tags (untagged)
        submitted 2 March 2026 09:00:10 UTC; succeeded at 2 March 2026 09:02:05 UTC after 60 s

      waited 55.4 s for a daemon of pool "cpu", task 95457cb8ab00d86ff54f524fef991ec8:
        from (UTC)  seconds  share  what it waited for
        09:00:10       10.4    19%  not noticed yet
        09:00:20        1.4     2%  launch requested
        09:00:21       10.8    19%  network and placement
        09:00:32       21.5    39%  image pull
        09:00:54        3.6     6%  container start
        09:00:57        7.7    14%  lease and registration

      most of it: image pull. Use a smaller image, from a registry in the same Region such as ECR.
      first promise: a start at about 09:01:14, in most cases by 09:02:08 UTC. The job started in time.
      "
    `);
    const { wait } = JSON.parse((await explain(lab, id, '--json')).out) as JobExplanation;
    expect(wait?.source).toBe('log');
    expect(wait?.parts.reduce((all, { ms }) => all + ms, 0)).toBe(wait?.waitMs);
  });

  it('finds a pending job by the first characters of its id', async () => {
    const lab = await open();
    const id = submit(lab, 60);
    const { out } = await explain(lab, id.slice(0, 8));
    expect(out).toContain(`job ${id}: `);
  });

  it('splits the wait from what coderd and ECS tell if the log has no line about it', async () => {
    const lab = await open();
    await logLooks(lab, 10);
    const id = submit(lab, 60);
    await logLooks(lab, 20);
    await lab.run(300);
    const answer = await explain(lab, id);
    expect(answer.out).toContain(
      '  09:00:10       11.8    21%  not launched yet\n  09:00:21       10.8    19%  network',
    );
    expect(answer.out).toMatch(/\nThe log of the function has no line about this start\.\n$/);
  });

  it('tells of a job that waited behind others', async () => {
    const lab = await open();
    const record = new WaitRecord();
    await logLooks(lab, 10, record);
    submit(lab, 120);
    const second = submit(lab, 30);
    await logLooks(lab, 400, record);
    const { out } = await explain(lab, second);
    expect(out).toContain('09:01:05      120.0    68%  queued in coderd\n');
    expect(out).toContain(
      'most of it: queued in coderd. Raise waiting.person or warm to keep more daemons free',
    );
    expect(out).toMatch(/The job started 57 s later\. The longest part took 120 s: queued in coderd\.\n$/);
  });

  it('tells why a job still waits', async () => {
    const lab = await open();
    await logLooks(lab, 10);
    submit(lab, 600);
    await logLooks(lab, 100);
    const waiting = submit(lab, 30);
    await logLooks(lab, 20);
    expect((await explain(lab, waiting)).out).toMatchInlineSnapshot(`
      "job 6419ddd8-9eaf-43ee-ac60-b60738454065: build of workspace workspace-2, template "template-1"
        organization "default", tags (untagged)
        submitted 2 March 2026 09:01:50 UTC; pending

      waits for 20 s; 1 job with these tags waits, it is the oldest
      start unknown: it waits for builds, and finished builds do not show how long these take
      pool "cpu":
        - 1 pending job needs a new task
        - needs 2 tasks, limited to 1 by max
      "
    `);
  });

  it('tells that a build died with its task, and what to check', async () => {
    const lab = await open();
    await logLooks(lab, 10);
    const id = submit(lab, 3_600);
    await logLooks(lab, 200);
    const running = lab.world.ecs.tasks().find(({ state }) => state.lastStatus === 'RUNNING');
    lab.world.ecs.hostFailure(running?.identity.arn ?? '');
    await logLooks(lab, 600);
    const { out } = await explain(lab, id);
    expect(out).toContain('died with its task: host failure. In the cloud, compare the resources of ');
  });

  it.each(['v2.20.3', 'v2.31.14'])(
    'tells when coderd %s fails a job whose daemon died, and lists its events in order',
    async (coderVersion) => {
      const lab = await open({}, { coderVersion });
      const { coderd, ecs } = lab.world;
      await logLooks(lab, 10);
      const id = submit(lab, 3_600);
      await logLooks(lab, 200);
      for (const { identity } of ecs.tasks()) ecs.hostFailure(identity.arn);
      lab.pass(100);
      coderd.cancelJob(id);
      const { out } = await explain(lab, id);
      const { job, silent } = JSON.parse((await explain(lab, id, '--json')).out) as JobExplanation;
      const failsBy = Date.parse(silent?.failsBy ?? '');
      expect(job.status).toBe('canceling');
      expect(out.split('\n').slice(2, 4)).toEqual([
        '  submitted 2 March 2026 09:00:10 UTC; started 2 March 2026 09:01:05 UTC; canceling since 2 March 2026 09:05:10 UTC',
        `  its daemon ${silent?.daemon} was last seen at 2 March 2026 09:03:05 UTC and has probably died: coderd fails the job by 2 March 2026 09:10:05 UTC, or some minutes later if more than 10 jobs hang`,
      ]);
      lab.pass((failsBy - lab.world.timeline.now()) / 1000);
      expect(coderd.jobs()).toMatchObject([{ status: 'failed', failedBy: 'hung-reaper' }]);
      expect((await explain(lab, id)).out).not.toContain('last seen');
    },
  );

  it('says nothing of the death of a daemon that coderd has just seen', async () => {
    const lab = await open();
    await logLooks(lab, 10);
    const id = submit(lab, 3_600);
    await logLooks(lab, 200);
    const { job, silent } = JSON.parse((await explain(lab, id, '--json')).out) as JobExplanation;
    expect({ status: job.status, silent }).toEqual({ status: 'running', silent: null });
  });

  it('tells that no pool can run a job', async () => {
    const lab = await open();
    const id = submit(lab, 30, { cluster: 'gpu' });
    await logLooks(lab, 20);
    expect((await explain(lab, id)).out).toContain(
      'waits for 20 s; 1 job with these tags waits, it is the oldest\nunschedulable: organization "default", tags cluster=gpu: 1 job (workspace_build), the oldest waits for 20 s',
    );
  });

  it('explains without the log if it may not be queried, and says what to ask for', async () => {
    const lab = await open();
    await logLooks(lab, 10);
    const id = submit(lab, 10);
    await logLooks(lab, 200);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAFUNCTION');
    const { out, code } = await explain(lab, id);
    expect(code).toBe(0);
    expect(out).toContain('ask for logs:StartQuery on it');
    expect(out).toContain('image pull');
  });

  it('finds a job although another organization of the configuration cannot be read', async () => {
    const lab = await open();
    const absent = { ...CPU, name: 'data', organization: 'absent' };
    writeFileSync(file, stringify(labConfig(lab.coderdUrl, [CPU, absent])));
    await logLooks(lab, 10);
    const id = submit(lab, 60);
    expect(await explain(lab, id)).toMatchObject({ code: 0, out: expect.stringContaining(`job ${id}`) });
    const unknown = await explain(lab, '00000000-0000-4000-8000-000000000000');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringMatching(/in organization "absent": /) });
  });

  it.each([-90_000, 90_000])('finds the log line if the clock of coderd is %i ms ahead', async (aheadMs) => {
    const lab = await open({}, { coderdAheadMs: aheadMs });
    const record = new WaitRecord();
    await logLooks(lab, 10, record);
    const id = submit(lab, 60);
    await logLooks(lab, 300, record);
    const { wait } = JSON.parse((await explain(lab, id, '--json')).out) as JobExplanation;
    expect(wait?.source).toBe('log');
  });

  it.each([
    [
      '7',
      2,
      /error: command-argument value '7' is invalid for argument 'id'\. Give the id of a provisioner job/,
    ],
    ['00000000', 1, /^finding job 00000000: no job of this look begins with this\. Give the whole id/],
    [
      '00000000-0000-4000-8000-000000000000',
      1,
      /^finding job 00000000-0000-4000-8000-000000000000: coderd has no such job in the 1 organization/,
    ],
  ])('refuses the id %s with exit code %s', async (id, code, message) => {
    const answer = await explain(await open(), id);
    expect(answer.code).toBe(code);
    expect(answer.err).toMatch(message);
  });
});

const JOB: ExplainedJob = {
  ...{ id: 'job-1', organization: 'default', type: 'workspace_build', transition: 'start' },
  ...{ template: 'docker', workspace: 'ada/dev', tags: {}, status: 'failed', error: null },
  createdAt: '2026-03-02T09:00:00.000Z',
  startedAt: '2026-03-02T09:00:00.000Z',
  canceledAt: null,
  completedAt: '2026-03-02T09:00:10.000Z',
};

describe('the screen of a job', () => {
  const screen = (job: Partial<ExplainedJob>, wait: JobExplanation['wait'] = null): string =>
    explanationScreen({
      ...{ takenAt: JOB.createdAt, job: { ...JOB, ...job }, wait },
      ...{ silent: null, pending: null, died: null, notes: [] },
    });

  it('has no control characters of an error, a name or a tag', () => {
    const text = screen({
      error: 'terraform apply:\r\n\u001b[31mError\u001b[0m: no\u0007quota\u009b2J\u202e',
      workspace: 'ada/dev\u001b]0;title\u0007',
      tags: { size: 'large\nunschedulable: no' },
    });
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    expect(text).toContain('  error: terraform apply: Error: no quota');
    expect(text.split('\n')).toHaveLength(4);
  });

  it('has no table for a wait of which nothing is known', () => {
    const parts = [{ part: 'unknown', ms: 12, from: null }] as const;
    const wait = { source: 'live', pool: null, task: null, waitMs: 12, promised: null, parts } as const;
    expect(screen({}, wait).split('\n').at(-1)).toBe(
      'waited 0.0 s for a daemon of no pool, or of a task that is gone',
    );
  });

  it.each([
    ['09:00:40', '', '. The job started in time.'],
    ['09:00:30', '', '. The job started in time.'],
    ['09:01:00.9', '', '. The job started in time.'],
    ['09:01:20', 'imagePull', '. The job started 20 s later. The longest part took 70 s: '],
  ] as const)('says what was promised for a start at %s (part "%s")', (startedAt, part, text) => {
    const day = '2026-03-02T';
    const parts = [{ part: part || 'queued', ms: 70_000, from: null }] as const;
    const promised = { from: `${day}09:00:40.000Z`, to: `${day}09:01:00.000Z` };
    const wait = { source: 'log', pool: 'cpu', task: null, waitMs: 70_000, promised, parts } as const;
    const lines = screen({ startedAt: `${day}${startedAt}Z` }, wait);
    expect(lines).toContain(`first promise: a start at about 09:00:40, in most cases by 09:01:00 UTC${text}`);
  });

  it('says how long a job was in the queue in which coderd failed it', () => {
    const failedAt = '2026-03-02T09:30:00.000Z';
    expect(screen({ startedAt: failedAt, completedAt: failedAt })).toContain(
      'submitted 2 March 2026 09:00:00 UTC; failed at 2 March 2026 09:30:00 UTC 1800 s later',
    );
  });

  it('has no table for a job that did not wait', () => {
    const wait = { source: 'log', pool: 'cpu', task: null, waitMs: 0, promised: null, parts: [] } as const;
    expect(screen({}, wait).split('\n').at(-1)).toBe('waited 0.0 s for a daemon of pool "cpu"');
  });
});
