/** CloudWatch Logs. Tests of the command line use the rest. */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { callService } from '../../world/base/aws-service.ts';
import { Timeline } from '../../world/base/timeline.ts';
import { runInsights } from '../../world/logs/insights.ts';
import { LOGS, LogsModel } from '../../world/logs/model.ts';
import { SECOND, START } from './ecs/ecs-fixture.ts';

describe('FilterLogEvents', () => {
  /** The lines of one page of a log group with one line a second, from the start of the world on. */
  function filter(lines: readonly string[], query: object) {
    const timeline = new Timeline(START);
    const model = new LogsModel(timeline);
    model.createGroup('group');
    for (const line of lines) {
      model.put('group', line);
      timeline.advanceTo(plusMs(timeline.now(), SECOND));
    }
    const body = { logGroupName: 'group', filterPattern: '{ $.message = "look" }', ...query };
    const { events, nextToken } = callService(LOGS, model, {
      name: 'FilterLogEvents',
      body,
      caller: 'person',
    }) as { readonly events: readonly { readonly message: string }[]; readonly nextToken?: string };
    return { lines: events.map(({ message }) => message), nextToken };
  }

  const LOOK = '{"message":"look"}';

  it('returns the lines with the value in the field, from the given time on', () => {
    const lines = [LOOK, '{"message":"look","n":1}', '{"message":"other"}', 'look'];
    expect(filter(lines, { startTime: START + SECOND })).toEqual({ lines: [lines[1]], nextToken: undefined });
  });

  it('ends a page at 1 MiB, and may have no line before the last one', () => {
    const long = 'x'.repeat(600_000);
    expect(filter([long, long, LOOK], {})).toEqual({ lines: [], nextToken: '1' });
    expect(filter([long, long, LOOK], { nextToken: '1' }).lines).toEqual([LOOK]);
  });

  it.each([
    { query: { logGroupName: 'other' }, type: 'ResourceNotFoundException' },
    { query: { filterPattern: '[ip, user]' }, type: 'InvalidParameterException' },
  ])('refuses $query with $type', ({ query, type }) => {
    expect(() => filter(['a'], query)).toThrow(expect.objectContaining({ type }));
  });
});

const EVENTS = [
  { message: 'wait', pool: 'a', seconds: 9, nested: { at: 'x' } },
  { message: 'wait', pool: 'b', isCold: true },
  { message: 'look', pool: 'a' },
].map((line, index) => ({
  eventId: `${index}`,
  timestamp: plusMs(START, index * SECOND),
  message: JSON.stringify(line),
}));

describe('the simulated Logs Insights', () => {
  it.each([
    ['fields seconds, nested.at | filter message = "wait" and pool = "a"', '9 x 0'],
    ['fields pool, isCold | filter message in ["look", "wait"] | sort @timestamp desc', 'a 2 / b 1 1 / a 0'],
    ['fields @timestamp | filter message = "look"', '2026-11-20 09:00:02.000 2'],
  ])('answers "%s" with %s', (query, expected) => {
    const rows = runInsights(EVENTS, query).map((fields) => Object.values(fields).join(' '));
    expect(rows.join(' / ')).toBe(expected);
  });

  it.each(['stats count(*)', 'filter pool ~ "a"', 'sort pool up', 'fields strlen(x) as y'])(
    'refuses "%s", which it does not know',
    (query) => {
      expect(() => runInsights(EVENTS, query)).toThrow('unexpected symbol found');
    },
  );
});
