import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type InsightsQuery, queryLogs } from '../../../cli/adapters/insights.ts';
import { SECOND, START } from '../../../lab/test/world/ecs/ecs-fixture.ts';
import { ACCESS_KEY_OF_A_PERSON, awsHandler } from '../../../lab/world/aws-http.ts';
import { Timeline } from '../../../lab/world/base/timeline.ts';
import { LogsModel } from '../../../lab/world/logs/model.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { serve } from '../../support/servers.ts';

/** The simulated CloudWatch Logs over HTTP, with these lines, one each `everyMs`. */
async function logged(
  lines: readonly string[],
  { perSecond = 1, everyMs = SECOND, accessKeyId = ACCESS_KEY_OF_A_PERSON } = {},
) {
  const timeline = new Timeline(START);
  const logs = new LogsModel(timeline);
  logs.createGroup('group');
  lines.forEach((line, index) => {
    logs.put('group', line);
    if ((index + 1) % perSecond === 0) timeline.advanceTo(plusMs(timeline.now(), everyMs));
  });
  const models = { logs, ecs: { now: () => timeline.now() } } as unknown as Parameters<typeof awsHandler>[0];
  const client = new CloudWatchLogsClient({
    endpoint: await serve(awsHandler(models)),
    region: 'eu-west-1',
    credentials: { accessKeyId, secretAccessKey: 'x' },
    maxAttempts: 1,
  });
  onTestFinished(() => client.destroy());
  const waits: number[] = [];
  const span = { from: START, to: plusMs(START, lines.length * SECOND) };
  const run = (given: Partial<InsightsQuery> = {}) =>
    queryLogs(
      client,
      {
        group: 'group',
        query: 'fields n | filter message = "wait" | sort @timestamp asc',
        ...span,
        ...given,
      },
      { sleep: async (ms) => void waits.push(ms) },
    );
  return { run, waits };
}

const lines = (count: number) =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ message: 'wait', n }));

describe('queryLogs', () => {
  it('returns the fields of matching lines, after it has waited for the query to end', async () => {
    const { run, waits } = await logged([...lines(2), '{"message":"look","n":9}', 'text']);
    const { rows, isCut } = await run();
    expect({ numbers: rows.map(({ n }) => n), isCut }).toEqual({ numbers: ['0', '1'], isCut: false });
    expect(waits).toEqual([250]);
  });

  it('halves the time until each answer holds all of its rows', async () => {
    const { run } = await logged(lines(50));
    const { rows, isCut } = await run({ limit: 8 });
    expect(rows.map(({ n }) => Number(n))).toEqual(Array.from({ length: 50 }, (_, n) => n));
    expect(isCut).toBe(false);
  });

  it('loses no row of the second at which the time is halved, and returns none twice', async () => {
    const { run } = await logged(lines(40), { everyMs: 250 });
    const { rows, isCut } = await run({ limit: 8 });
    expect(rows.map(({ n }) => Number(n))).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(isCut).toBe(false);
  });

  it('finds no rows in a half of the time in which the log group did not exist', async () => {
    const { run } = await logged(lines(20));
    const { rows, isCut } = await run({ limit: 8, from: plusMs(START, -7 * 24 * 3_600 * SECOND) });
    expect(rows.map(({ n }) => Number(n))).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(isCut).toBe(false);
  });

  it('says that rows are missing if one second has more of them than an answer', async () => {
    const { run } = await logged(lines(10), { perSecond: 5 });
    const { rows, isCut } = await run({ limit: 3 });
    expect(rows).toHaveLength(6);
    expect(isCut).toBe(true);
  });

  it('names a log group that does not exist', async () => {
    const { run } = await logged([]);
    await expect(run({ group: 'other' })).rejects.toMatchObject({
      message: expect.stringContaining('querying the log group "other": ResourceNotFoundException'),
    });
  });

  it('names the permission that is missing', async () => {
    const { run } = await logged([], { accessKeyId: 'AKIAFUNCTION' });
    await expect(run()).rejects.toMatchObject({
      message: expect.stringContaining('ask for logs:StartQuery on it'),
    });
  });

  it('returns the error of AWS for a query that it does not understand', async () => {
    const { run } = await logged([]);
    await expect(run({ query: 'select * from x' })).rejects.toMatchObject({
      message: expect.stringContaining('MalformedQueryException'),
    });
  });
});
