/** `autoscaler trace export` over HTTP: the trace has each job of the world. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { by } from '../../../../lambda/decision/model/collections.ts';
import { displayTags } from '../../../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { type Answer, runIn } from '../../../../test/support/cli-run.ts';
import {
  type Lab,
  type LabOptions,
  type LabPool,
  labConfig,
  START,
  startLab,
  timeOf,
} from '../../../../test/support/lab.ts';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import { asPerson } from '../../../../test/support/own-labs.ts';
import { shortHash } from '../../../what-if/cli/trace/trace-jobs.ts';
import { readTrace } from '../../../what-if/trace/read.ts';
import type { JobKind, TraceJob } from '../../../what-if/trace/trace.ts';
import type { JobRecord } from '../../../world/coderd/tables/jobs.ts';
import type { World } from '../../../world/world.ts';

const pools: readonly LabPool[] = [
  { name: 'cpu', organization: 'default', tags: {}, desiredCount: 4 },
  { name: 'gpu', organization: 'data', tags: { gpu: 'a10' }, desiredCount: 1 },
];
const folder = ownFolder();
const config = join(folder, 'autoscaler.yaml');
const out = join(folder, 'trace.jsonl');

asPerson();
afterEach(() => {
  rmSync(out, { force: true, recursive: true });
});

/** A lab with daemons at work, and its configuration. */
async function workingLab(options: Partial<LabOptions> = {}): Promise<Lab> {
  const lab = await startLab({ pools, organizations: ['default', 'data', 'other'], ...options });
  writeConfig(lab, pools);
  lab.pass(5 * 60);
  return lab;
}

function writeConfig({ coderdUrl }: Lab, its: readonly LabPool[]): void {
  writeFileSync(config, stringify(labConfig(coderdUrl, its)));
}

const exportAt = async ({ world }: Lab, ...args: readonly string[]): Promise<Answer> =>
  runIn(
    { now: () => world.timeline.now() },
    ...['trace', 'export', '--config', config],
    ...(args.includes('--out') ? args : ['--out', out, ...args]),
  );

const exported = () => readTrace(readFileSync(out, 'utf8'), { name: out }).trace;

function renew(world: World, token: Parameters<World['coderd']['addToken']>[0]): void {
  world.secrets.put(world.tokenSecretName, world.coderd.addToken(token));
}

const submit = (world: World, job: Partial<Parameters<World['coderd']['submitJob']>[0]> = {}) =>
  world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 30_000, ...job });

/**
 * A day with all kinds of jobs. `kindOf` finds the kind of a transition by the name of its
 * workspace.
 */
async function busyDay() {
  // the executor does not run at full minutes
  const lab = await workingLab({ start: timeOf('2026-03-02T09:00:07.300Z') });
  const { world } = lab;
  const { coderd } = world;
  const template = coderd.addTemplate({ organization: 'default', buildMs: { start: 71_500 } });
  const unused = { timeTilDormantMs: 6 * HOUR_MS, timeTilDormantAutodeleteMs: 6 * HOUR_MS };
  const strict = coderd.addTemplate({ organization: 'default', ...unused });
  const scheduled = [10, 11, 12].map((hour) =>
    coderd.workspaces.add({ template, schedule: `CRON_TZ=UTC 30 ${hour} * * *`, ttlMs: 2 * HOUR_MS }),
  );
  const forgotten = coderd.workspaces.add({ template: strict, running: true });
  const owned = coderd.workspaces.add({ template });
  submit(world, { organization: 'data', tags: { gpu: 'a10' } });
  submit(world, { initiator: 'prebuilds' });
  submit(world, { type: 'template_version_import', willFail: true });
  submit(world, { type: 'template_version_dry_run' });
  coderd.build(owned, 'start');
  lab.pass(24 * 3600);
  const kinds = new Map<string, JobKind>([
    ...scheduled.flatMap(({ name }) => [
      [`${name} start`, 'autostart'] as const,
      [`${name} stop`, 'autostop'] as const,
    ]),
    [`${forgotten.name} stop`, 'dormancy'],
    [`${forgotten.name} delete`, 'dormancy'],
  ]);
  const kindOf = ({ type, initiatorId, workspace, transition }: JobRecord): JobKind => {
    if (type !== 'workspace_build') return 'import';
    if (initiatorId !== coderd.userId) return 'prebuild';
    return kinds.get(`${workspace?.name} ${transition}`) ?? 'user';
  };
  return { lab, kindOf };
}

/** The job of the trace that belongs to a job of coderd. */
function expected(job: JobRecord, kind: JobKind, { coderd }: World): TraceJob {
  const isDue = kind === 'autostart' || kind === 'autostop' || kind === 'dormancy';
  return {
    at: (job.createdAt - (isDue ? job.createdAt % MINUTE_MS : 0)) as EpochMs,
    organization: job.organizationId === coderd.organizationId('data') ? 'data' : 'default',
    tags: displayTags(job.tags),
    seconds: ((job.completedAt ?? Number.NaN) - (job.startedAt ?? Number.NaN)) / 1000,
    kind,
    ...(job.workspace !== undefined && (isDue || kind === 'user')
      ? { workspace: shortHash(job.workspace.id) }
      : {}),
  };
}

const inOrder = (jobs: readonly TraceJob[]): readonly TraceJob[] =>
  jobs.toSorted(
    by(
      ({ at }) => at,
      ({ kind }) => kind,
      ({ seconds }) => seconds,
    ),
  );

describe('the export of a day', () => {
  it('has each job with its time, duration and cause', async () => {
    const { lab, kindOf } = await busyDay();
    const period = ['--from', '2026-03-02T09:00:00Z', '--to', '2026-03-03T09:00:00Z'];
    const { code, err } = await exportAt(lab, ...period, '--timezone', 'Europe/Berlin');
    expect(code).toBe(0);
    expect(err).toBe(`organization "data": 1 job
organization "default": 12 jobs
reading the builds of 6 workspaces
wrote ${out}: 13 jobs from 2026-03-02T09:05:07.300Z to 2026-03-03T09:00:00.000Z (2 user, 3 autostart, 3 autostop, 2 dormancy, 1 prebuild, 2 import)
`);
    const { jobs, ...header } = exported();
    const done = lab.world.coderd.jobs().map((job) => expected(job, kindOf(job), lab.world));
    expect(inOrder(jobs)).toEqual(inOrder(done));
    expect(header).toMatchObject({
      from: timeOf('2026-03-02T09:05:07.300Z'),
      to: START + 24 * HOUR_MS,
      timezone: 'Europe/Berlin',
      outages: [],
    });
  });

  it('begins with the first job that coderd has, so that no policy pays for the time before it', async () => {
    const lab = await workingLab();
    for (let n = 0; n < 12; n++) {
      submit(lab.world);
      lab.pass(600);
    }
    const { err } = await exportAt(lab, '--days', '7');
    expect(err).toContain('; 2 hours of builds in 7 days: coderd has no earlier job\n');
    const { from, to, jobs } = exported();
    expect({ from, hours: (to - from) / HOUR_MS }).toEqual({ from: jobs[0]?.at, hours: 2 });
  });

  it('is the same from a coderd that does not list initiators', async () => {
    const lab = await workingLab({ coderVersion: 'v2.27.0' });
    submit(lab.world, { initiator: 'prebuilds' });
    submit(lab.world);
    lab.pass(120);
    await exportAt(lab);
    expect(exported().jobs.map(({ kind }) => kind)).toEqual(['prebuild', 'user']);
  });

  it('has no personal data', async () => {
    const { lab } = await busyDay();
    await exportAt(lab);
    const text = readFileSync(out, 'utf8');
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|workspace-|template-|version-|autoscaler-/);
  });

  it('writes to standard output', async () => {
    const lab = await workingLab();
    submit(lab.world);
    lab.pass(120);
    const { out: printed, err } = await exportAt(lab, '--out', '-');
    expect(readTrace(printed, { name: '-' }).trace.jobs).toHaveLength(1);
    expect(err).toMatch(
      /\n1 job from .* \(1 user\); 2 minutes of builds in 7 days: coderd has no earlier job\n$/,
    );
    expect(existsSync(out)).toBe(false);
  });
});

describe('omitted jobs', () => {
  it('counts unfinished jobs and jobs that no daemon took', async () => {
    const lab = await workingLab();
    const { coderd } = lab.world;
    submit(lab.world, { durationMs: 45_000 });
    coderd.cancelJob(submit(lab.world, { tags: { nobody: 'has' } }));
    submit(lab.world, { tags: { nobody: 'has' } });
    // no daemon takes it, and coderd's reaper fails it
    lab.pass(40 * 60);
    submit(lab.world, { durationMs: HOUR_MS });
    lab.pass(60);
    const { code, err } = await exportAt(lab);
    expect(code).toBe(0);
    expect(err).toContain('\nleft out: 1 not finished; 2 never run (canceled or failed while pending)\n');
    expect(exported().jobs.map(({ seconds }) => seconds)).toEqual([45]);
  });

  it.each(['v2.20.3', 'v2.31.14'])(
    'leaves out jobs that coderd %s failed because their daemon died, and names them',
    async (coderVersion) => {
      const lab = await workingLab({ coderVersion });
      const { ecs } = lab.world;
      submit(lab.world, { durationMs: 45_000 });
      lab.pass(60);
      const ids = [HOUR_MS, HOUR_MS].map((durationMs) => submit(lab.world, { durationMs }));
      lab.pass(60);
      for (const { identity } of ecs.tasks()) ecs.hostFailure(identity.arn);
      lab.pass(10 * 60);
      const { code, err } = await exportAt(lab);
      expect(code).toBe(0);
      expect(exported().jobs.map(({ seconds }) => seconds)).toEqual([45]);
      expect(err).toContain(
        `\nleft out: 2 hung (coderd failed them 5 minutes after it last heard of them, so their duration is unknown)\nhung jobs: ${ids.join(', ')}\n`,
      );
    },
  );

  it('omits jobs outside the period', async () => {
    const lab = await workingLab();
    for (const durationMs of [10_000, 20_000, 30_000]) {
      submit(lab.world, { durationMs });
      lab.pass(600);
    }
    await exportAt(lab, '--from', '2026-03-02T09:15:00Z', '--to', '2026-03-02T09:25:00Z');
    // a job belongs to the period in which it was created; the end is not included
    const { jobs, from } = exported();
    expect(jobs.map(({ seconds }) => seconds)).toEqual([20]);
    // coderd has an earlier job: nothing was built from 09:15 on, and that counts
    expect(from).toBe(START + 15 * MINUTE_MS);
  });

  it('fails if all jobs are omitted', async () => {
    const lab = await workingLab();
    submit(lab.world, { durationMs: HOUR_MS });
    lab.pass(60);
    expect(await exportAt(lab, '--days', '1')).toEqual({
      code: 1,
      out: '',
      err: `organization "data": 0 jobs
organization "default": 1 job
left out: 1 not finished
exporting the jobs from 2026-03-01T09:06:00.000Z to 2026-03-02T09:06:00.000Z: coderd has no job that a daemon completed. Give another period with --from or --days, and --to
`,
    });
    expect(existsSync(out)).toBe(false);
  });
});

it('counts builds of unreadable workspaces as builds of users', async () => {
  const { lab } = await busyDay();
  const { world } = lab;
  renew(world, { canRead: 'all', canReadWorkspaces: [] });
  const { code, err } = await exportAt(lab);
  expect(code).toBe(0);
  expect(err).toContain(
    '\n10 builds exported as "user", because their reason is unknown: the token\'s user cannot read the workspaces. Give the user the organization template admin role\n',
  );
  expect(exported().jobs.filter(({ kind }) => kind === 'user')).toHaveLength(10);
});

describe('an unreadable coderd', () => {
  it.each([
    {
      what: 'too old a coderd',
      options: { coderVersion: 'v2.18.0' },
      says: /^listing provisioner jobs of organization "data": coderd v2\.18\.0\+\w+ is too old: the autoscaler needs the provisioner jobs API of 2\.20 or newer\n$/,
    },
    {
      what: 'an organization without the role',
      broken: (world: World) => renew(world, { canRead: ['default'] }),
      says: `listing provisioner jobs of organization "data": the token's user needs the organization template admin role there, or a custom role with provisioner_jobs:read. coderd answered 404: Resource not found or you do not have access to this resource\n`,
    },
    {
      what: 'an organization that is not there',
      options: { organizations: ['default', 'data'] },
      organization: 'dat',
      says: 'finding organization "dat": coderd lists "default", "data"; check the name, and that the token\'s user is a member\n',
    },
    {
      what: 'a token that is none',
      broken: (world: World) => world.secrets.put(world.tokenSecretName, 'none'),
      says: /^listing organizations: .*Store a valid token in it\. coderd answered 401: .*\n$/,
    },
  ])('fails and writes nothing: $what', async ({ options, broken, organization, says }) => {
    const lab = await workingLab(options);
    broken?.(lab.world);
    if (organization !== undefined) writeConfig(lab, [{ name: 'cpu', organization, tags: {} }]);
    const { code, err } = await exportAt(lab);
    expect(code).toBe(1);
    expect(err).toMatch(says);
    expect(existsSync(out)).toBe(false);
  });

  it('keeps the old file if coderd fails midway', async () => {
    const token = { last: '' };
    const lab: Lab = await workingLab({
      onRequest: ({ operation }) => {
        if (operation.endsWith('/builds')) lab.world.coderd.tokens.revoke(token.last);
      },
    });
    const { world } = lab;
    token.last = world.coderd.addToken({ canRead: 'all' });
    world.secrets.put(world.tokenSecretName, token.last);
    for (let n = 0; n < 20; n++) submit(world, { durationMs: 1_000 });
    lab.pass(120);
    writeFileSync(out, 'of before');
    const { code, err } = await exportAt(lab);
    expect(code).toBe(1);
    expect(err).toMatch(/listing the builds of a workspace: .* coderd answered 401/);
    expect(readFileSync(out, 'utf8')).toBe('of before');
  });
});

it('reports a file that cannot be written and leaves no part of it', async () => {
  const lab = await workingLab();
  submit(lab.world);
  lab.pass(120);
  mkdirSync(out);
  const { code, err } = await exportAt(lab);
  expect(code).toBe(1);
  expect(err).toMatch(
    /^writing .*trace\.jsonl: it exists and is not a regular file. Give another file with --out\n$/,
  );
  expect(readdirSync(folder)).not.toContain('trace.jsonl.part');
});

describe('wrong options', () => {
  it.each([
    { args: ['--from', 'yesterday'], says: /'--from <time>'.*Write a time with its zone/ },
    { args: ['--days', '0'], says: /'--days <number>'.*Write a whole number from 1 to 400/ },
    { args: ['--days', '401'], says: /'--days <number>'.*Write a whole number from 1 to 400/ },
    {
      args: ['--from', '2025-01-01T00:00:00Z', '--to', '2026-03-02T09:00:00Z'],
      says: '--from 2025-01-01T00:00:00.000Z is more than 400 days before the end, 2026-03-02T09:00:00.000Z',
    },
    { args: ['--days', '2', '--from', '2026-03-02T09:00:00Z'], says: /cannot be used with/ },
    { args: ['--timezone', 'Berlin'], says: /It is not a time zone; did you mean "Europe\/Berlin"\?/ },
    {
      args: ['--from', '2026-03-02T09:00:00Z', '--to', '2026-03-02T09:00:00Z'],
      says: '--from 2026-03-02T09:00:00.000Z is not before the end, 2026-03-02T09:00:00.000Z',
    },
  ])('exits with 2 for $args', async ({ args, says }) => {
    const { code, err } = await runIn({}, 'trace', 'export', ...args);
    expect(code).toBe(2);
    expect(err).toMatch(says);
  });
});
