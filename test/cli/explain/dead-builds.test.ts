/** The exact output of `autoscaler explain --dead`, from log lines that the function wrote. */
import { describe, expect, it, vi } from 'vitest';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { OrphanEvents } from '../../../lambda/look/orphan-event.ts';
import type { Answer } from '../../support/cli-run.ts';
import { type CommandLab, commandLabs, putLine } from '../../support/command-lab.ts';
import type { Lab } from '../../support/lab.ts';

const { start } = commandLabs();

const CPU = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 1, min: 1, max: 4 } as const;
const MINUTE_S = 60;

const open = (aws: object = {}): Promise<CommandLab> =>
  start({ pools: [CPU], coderVersion: 'v2.33.2' }, { aws });

/** Looks for some minutes, and logs the deaths as one process of the function does. */
async function look(lab: Lab, minutes: number): Promise<void> {
  const events = new OrphanEvents();
  for (const { plan } of await lab.run(minutes * MINUTE_S))
    for (const event of events.newOf(plan)) put(lab, event);
}

function put(lab: Lab, line: object): void {
  putLine(lab, { level: 'WARN', message: 'orphan', ...line });
}

/** Alice's workspace starts, and its task is interrupted a minute later. */
async function loseABuild(own: Lab): Promise<void> {
  const { world } = own;
  await look(own, 4);
  const template = world.coderd.addTemplate({ organization: 'default', tags: {}, name: 'linux' });
  const owner = world.coderd.addUser();
  const workspace = world.coderd.workspaces.add({ template, name: 'dev', owner });
  await look(own, 6);
  world.coderd.build(workspace, 'start', { durationMs: 20 * MINUTE_MS });
  await look(own, 1);
  for (const { identity } of world.service('cpu').tasks) world.ecs.hostFailure(identity.id);
  await look(own, 5);
}

const call = (own: CommandLab, ...args: readonly string[]) => own.call('explain', '--dead', ...args);

/** A line of the log as the function wrote it yesterday. */
const LINE = {
  service: 'Stack',
  job: 'job-1',
  workspace: 'dev',
  workspaceId: 'w-1',
  owner: 'alice',
  transition: 'start',
  template: 'linux',
  pool: 'cpu',
  organization: 'default',
  task: 'task-1',
  startedAt: '2026-03-01T08:00:00.000Z',
  stoppedAt: '2026-03-01T08:05:00.000Z',
  cause: 'spot',
  reason: 'Your Spot Task was interrupted.; exit code 137',
};

/** The output of a deployment whose log has these lines. */
async function withLines(lines: readonly object[], ...args: readonly string[]): Promise<Answer> {
  const own = await open();
  for (const line of lines) put(own, line);
  return call(own, ...args);
}

it('lists a build that died in the world, with its cause and what to check', async () => {
  const own = await open();
  await loseABuild(own);
  const { code, out, err } = await call(own);
  const id = /[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  expect({ code, err, out: out.replaceAll(id, '<id>') }).toEqual({
    code: 0,
    err: '',
    out: `1 build died with its task from 23 February 2026 09:16:00 UTC to 2 March 2026 09:16:00 UTC, newest first. coderd never got the new state of this build.

start of user-2/dev
  stopped   2 March 2026 09:11:12 UTC: host failure (Task stopped due to a failure of the underlying infrastructure)
  ran from  2 March 2026 09:10:00 UTC
  template  linux
  pool      cpu, organization default
  job       <id>
  task      <id>
  check     In the cloud, find resources of user-2/dev that were created from 2 March 2026 09:10:00 UTC to 2 March 2026 09:11:12 UTC. Delete those that \`coder state pull user-2/dev\` does not list. Then start the workspace again
`,
  });
});

describe('autoscaler explain --dead', () => {
  it('lists each job once, the latest death first, and takes the line that knows most', async () => {
    const later = { ...LINE, job: 'job-2', stoppedAt: '2026-03-01T09:00:00.000Z', cause: 'memory' };
    const { owner: _, ...less } = LINE;
    const { out } = await withLines([less, later, LINE, less], '--json');
    expect(JSON.parse(out)).toMatchObject({
      from: '2026-02-23T09:00:00.000Z',
      to: '2026-03-02T09:00:00.000Z',
      builds: [
        { job: 'job-2', cause: 'memory', owner: 'alice' },
        { job: 'job-1', cause: 'spot', owner: 'alice' },
      ],
    });
  });

  it('says what is unknown of a build, and reads a cause that a later version may write', async () => {
    const { workspace, owner, transition, template, workspaceId, ...rest } = LINE;
    const { code, out } = await withLines([{ ...rest, cause: 'meteorite' }]);
    expect(code).toBe(0);
    expect(out).toContain(
      'build of an unknown workspace\n  stopped   1 March 2026 08:05:00 UTC: unknown cause (',
    );
    expect(out).toContain('template  unknown');
  });

  it.each([
    { unknown: ['owner'], whose: 'dev' },
    { unknown: ['workspace'], whose: 'workspace w-1' },
    { unknown: ['workspace', 'workspaceId', 'owner'], whose: 'an unknown workspace' },
  ])('names no workspace to pull the state of if $unknown is unknown', async ({ unknown, whose }) => {
    const { out } = await withLines([{ ...LINE, ...Object.fromEntries(unknown.map((name) => [name, ''])) }]);
    expect(out).toContain(`find resources of ${whose} that were created`);
    expect(out).toContain('Delete those that `coder state pull OWNER/WORKSPACE` does not list.');
  });

  it.each([
    { transition: 'stop', check: 'Stop alice/dev again in Coder.' },
    { transition: 'delete', check: 'Delete alice/dev again in Coder.' },
    { transition: 'rebuild', check: 'In the cloud, compare the resources of alice/dev' },
  ])('says what to check after a $transition', async ({ transition, check }) => {
    expect((await withLines([{ ...LINE, transition }])).out).toContain(`  check     ${check}`);
  });

  it('prints no control characters of a line in the log', async () => {
    const { out } = await withLines([{ ...LINE, workspace: 'd\u001b[2Jev', reason: 'a\nb\u009b1m' }]);
    expect(out).toContain('start of alice/dev\n');
    expect(out).toContain('Spot interruption (a b)\n');
  });

  it('fits the width of the terminal', async () => {
    const own = await open();
    put(own, LINE);
    const { out } = await own.callIn({ columns: 70 }, 'explain', '--dead');
    const [, ...lines] = out.split('\n');
    expect(lines.every((line) => line.length <= 70)).toBe(true);
    expect(out).toContain(`\n${' '.repeat(12)}created from 1 March`);
  });

  it('says that no build is known to have died, and when a death is missed', async () => {
    const { code, out } = await withLines([{ ...LINE, service: 'AnotherStack' }]);
    expect(code).toBe(0);
    expect(
      out,
    ).toBe(`No build is known to have died with its task from 23 February 2026 09:00:00 UTC to 2 March 2026 09:00:00 UTC.

The function misses a death only if no look can read coderd and ECS for an hour after it, or if a deleted provisioner key took the daemon out of coderd's list.
`);
  });

  it('exits with 1 and says so if a line of the log is not as expected', async () => {
    const { code, out } = await withLines([LINE, { service: 'Stack', job: 'x' }]);
    expect(code).toBe(1);
    expect(out).toContain('1 line of the log could not be read.');
    expect(out).toContain('start of alice/dev');
  });

  it('says that the days reach further back than CloudWatch keeps the log', async () => {
    const { code, out } = await withLines([], '--days', '90');
    expect(code).toBe(0);
    expect(out).toContain('CloudWatch keeps the log for 30 days (aws.logs.retentionDays)');
  });

  it('says that it does not know how long somebody else keeps the log group', async () => {
    const own = await open({ logs: { group: 'shared' } });
    expect((await call(own)).out).toContain('How long CloudWatch keeps the log group');
    expect(JSON.parse((await call(own, '--json')).out)).toMatchObject({ keptDays: null });
  });

  it.each(['0', '-1', '1.5', 'week', '4000', ''])('refuses --days %j', async (days) => {
    const { code, err } = await call(await open(), '--days', days);
    expect(code).toBe(2);
    expect(err).toContain('Write a whole number from 1 to 3653.');
  });

  it('names the permission that is missing', async () => {
    const own = await open();
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAFUNCTION');
    const { code, err } = await call(own);
    expect(code).toBe(1);
    expect(err).toContain('logs:StartQuery');
  });
});
