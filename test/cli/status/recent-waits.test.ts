/** What `autoscaler status` tells about the waits of the last hour, from the function's log. */
import { describe, expect, it } from 'vitest';
import { type RecentWaits, recentWaitLines, recentWaitsOf } from '../../../cli/status/recent-waits.ts';
import type { Status } from '../../../cli/status/report.ts';
import { WaitRecord } from '../../../lambda/look/waits/wait-record.ts';
import {
  type CommandLab,
  commandLabs,
  logLooks,
  putLine,
  withLogsAnswer,
} from '../../support/command-lab.ts';
import type { Lab, LabPool } from '../../support/lab.ts';

const { start } = commandLabs();

const CPU: LabPool = { organization: 'default', desiredCount: 0, name: 'cpu', tags: {}, max: 4 };

const open = (): Promise<CommandLab> => start({ pools: [CPU] });

/** The last lines of the status: those that come from the log. */
async function logLines(lab: CommandLab, silenceMs?: number): Promise<readonly string[]> {
  const { code, out, err } = await lab.callIn(silenceMs === undefined ? {} : { silenceMs }, 'status');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.trimEnd().split('\n\n').at(-1)?.split('\n') ?? [];
}

async function waitsInJson(lab: CommandLab): Promise<RecentWaits> {
  const status: Status = JSON.parse((await lab.call('status', '--json')).out);
  return status.waits;
}

const NONE = {
  ...{ kind: 'seen', sinceMinutes: 60, jobs: 0, p50Seconds: null, p95Seconds: null },
  ...{ parts: [], missed: 0, isComplete: true },
};

const put = (lab: Lab, message: string, fields: object): void => putLine(lab, { message, ...fields });

const wait = (id: string, waitMs: number, parts: object): object => ({ id, pool: 'cpu', waitMs, ...parts });
const submit = ({ world }: Lab): string =>
  world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });

describe('the waits of the last hour', () => {
  it('are two lines with the longest parts, as the function logged them', async () => {
    const world = await open();
    const record = new WaitRecord();
    await logLooks(world, 10, record);
    for (let job = 0; job < 3; job++) submit(world);
    await logLooks(world, 300, record);
    const [summary = '', parts = '', last = ''] = await logLines(world);
    expect(summary).toMatch(/^waits of the last hour: 3 jobs, median \d\d s, p95 \d\d s$/);
    expect(parts).toMatch(/^ {2}image pull \d\d%, (.* \d+%, ){3}.* \d+%$/);
    expect(last).toMatch(/^last look: 0 s ago/);
    const waits = await waitsInJson(world);
    if (waits.kind !== 'seen') throw new Error(waits.why);
    expect(waits).toMatchObject({ sinceMinutes: 60, jobs: 3, missed: 0, isComplete: true });
    expect(waits.parts[0]?.part).toBe('imagePull');
    expect(Math.round(waits.parts.reduce((sum, { percent }) => sum + percent, 0))).toBe(100);
  });

  it('count a job once that two processes logged', async () => {
    const world = await open();
    put(world, 'wait', wait('one', 40_000, { imagePullMs: 40_000 }));
    put(world, 'wait', wait('two', 10_000, { queuedMs: 10_000 }));
    put(world, 'wait', wait('one', 40_000, { imagePullMs: 40_000 }));
    expect((await logLines(world)).slice(0, 2)).toEqual([
      'waits of the last hour: 2 jobs, median 10 s, p95 40 s',
      '  image pull 80%, queued in coderd 20%',
    ]);
    expect(await waitsInJson(world)).toMatchObject({
      ...{ p50Seconds: 10, p95Seconds: 40 },
      parts: [
        { part: 'imagePull', seconds: 40, percent: 80 },
        { part: 'queued', seconds: 10, percent: 20 },
      ],
    });
  });

  it('leave out lines of other deployments, of tasks, of unknown versions, and older ones', async () => {
    const world = await open();
    put(world, 'wait', wait('old', 9_000, {}));
    world.pass(3_601);
    put(world, 'wait', { ...wait('other', 9_000, {}), service: 'Other' });
    put(world, 'wait', { of: 'another version' });
    world.world.logs.put(world.world.logGroupName, 'terraform: message = wait');
    expect(await waitsInJson(world)).toEqual(NONE);
  });

  it('are no line if no job started, as with a function of an earlier version', async () => {
    const world = await open();
    await logLooks(world, 60);
    expect(await logLines(world)).toEqual([expect.stringMatching(/^last look: 0 s ago/)]);
    expect(await waitsInJson(world)).toEqual(NONE);
  });

  it('say how many more jobs may have started', async () => {
    const world = await open();
    put(world, 'wait', wait('one', 0, {}));
    put(world, 'look', { waitsMissed: 2 });
    put(world, 'look', { waitsMissed: 1 });
    const [summary, next] = await logLines(world);
    expect(summary).toBe(
      'waits of the last hour: 1 job, median 0 s, p95 0 s; up to 3 more jobs have no wait in the log',
    );
    expect(next).toMatch(/^last look/);
  });

  it('are at least so many jobs if AWS cut the rows off', () => {
    const rows = [{ message: 'wait', id: 'one', pool: 'cpu', waitMs: '9000', queuedMs: '9000' }];
    const waits = recentWaitsOf({ rows, isCut: true, bytesScanned: 0 });
    expect(waits).toMatchObject({ jobs: 1, isComplete: false });
    expect(recentWaitLines(waits)).toEqual([
      'waits of the last hour: at least 1 job, median 9 s, p95 9 s',
      '  queued in coderd 100%',
    ]);
  });
});

describe('waits that cannot be read', () => {
  it('name the permission to ask for, and the status shows all other facts', async () => {
    const world = await open();
    await logLooks(world, 60);
    await withLogsAnswer(world, 'StartQuery', 400, {
      __type: 'AccessDeniedException',
      message: 'User: ada is not authorized to perform: logs:StartQuery',
    });
    const lines = await logLines(world);
    expect(lines).toEqual([
      'waits of the last hour: unknown: querying the log group "Stack-AutoscalerLogs-0A1B2C": AccessDeniedException: User: ada is not authorized to perform: logs:StartQuery; ask for logs:StartQuery on it, and for logs:GetQueryResults',
      'last look: 0 s ago, at 2 March 2026 09:01:00 UTC; succeeded',
    ]);
  });

  it('say so if the query does not end in time', async () => {
    const world = await open();
    await logLooks(world, 60);
    await withLogsAnswer(world, 'GetQueryResults', 200, { status: 'Running', results: [] });
    const lines = await logLines(world, 1_500);
    expect(lines).toEqual([
      'waits of the last hour: unknown: the query of the log group "Stack-AutoscalerLogs-0A1B2C" has not ended in time. Run the command again',
      expect.stringMatching(/^last look: 0 s ago/),
    ]);
  });

  it('have one cause with the last look if no service names the log group', async () => {
    const world = await open();
    world.world.service('cpu').setTags({ 'coder-autoscaler:pool': 'cpu' });
    expect(await logLines(world)).toEqual([expect.stringMatching(/^last look: unknown: no ECS service has/)]);
    const why = 'no ECS service has the tag coder-autoscaler:log-group, which names the log group';
    expect(await waitsInJson(world)).toEqual({ kind: 'unknown', why });
  });
});
