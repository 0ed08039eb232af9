/** CloudWatch Logs. Tests of the command line and of the saved queries use the rest. */
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
    const body = { logGroupName: 'group', ...query };
    const { events, nextToken } = callService(LOGS, model, {
      name: 'FilterLogEvents',
      body,
      caller: 'person',
    }) as { readonly events: readonly { readonly message: string }[]; readonly nextToken?: string };
    return { lines: events.map(({ message }) => message), nextToken };
  }

  const LOOK = '{"message":"look"}';
  const filterPattern = '{ $.message = "look" }';
  it.each([
    {
      query: { startTime: START + SECOND, endTime: START + 2 * SECOND },
      lines: ['b', '["look"]'],
      because: 'both ends are included',
    },
    { query: { filterPattern }, lines: [LOOK], because: 'the value of a field counts' },
    {
      query: { filterPattern, limit: 2 },
      lines: [],
      nextToken: '2',
      because: 'a page may be empty before the last one',
    },
    { query: { filterPattern, limit: 2, nextToken: '2' }, lines: [LOOK], because: 'this is the last page' },
  ])('answers $query with $lines: $because', ({ query, lines, nextToken }) => {
    expect(filter(['a', 'b', '["look"]', LOOK], query)).toEqual({ lines, nextToken });
  });

  it('ends a page at 1 MiB', () => {
    const long = 'x'.repeat(400_000);
    const { lines, nextToken } = filter([long, long, long], {});
    expect([lines.length, nextToken]).toEqual([2, '2']);
  });

  it.each([
    { query: { logGroupName: 'other' }, type: 'ResourceNotFoundException' },
    { query: { filterPattern: '[ip, user]' }, type: 'InvalidParameterException' },
  ])('refuses $query with $type', ({ query, type }) => {
    expect(() => filter(['a'], query)).toThrow(expect.objectContaining({ type }));
  });
});

const EVENTS = [
  { message: 'wait', pool: 'a', seconds: 9, nested: { at: 'x' }, list: [{ of: 1 }, { of: 2 }], words: ['u'] },
  { message: 'wait', pool: 'b', seconds: 10 },
  { message: 'wait', pool: 'a', seconds: 9.5, isCold: true },
].map((line, index) => ({
  eventId: `${index}`,
  timestamp: plusMs(START, index * SECOND),
  message: JSON.stringify(line),
}));

describe('the simulated Logs Insights', () => {
  it.each([
    ['fields seconds | filter pool = "a" and seconds > 9', '9.5'],
    ['fields seconds | filter pool in ["b"]', '10'],
    ['fields pool | filter ispresent(nested.at)', 'a'],
    ['fields nested.at | filter nested.at like "x"', 'x'],
    ['fields isCold | filter isCold = 1', '1'],
    ['fields seconds | sort seconds desc', '10 / 9.5 / 9'],
    ['fields seconds | sort @timestamp desc | dedup pool', '9.5 / 10'],
    ['fields pool | limit 1', 'a'],
    ['sort pool asc, seconds desc | display pool, seconds', 'a 9.5 / a 9 / b 10'],
    ['unnest list into item | display item.of', '1 / 2'],
    ['fields jsonParse(@message) as line | unnest line.words into word | display pool, word', 'a u'],
    ['fields coalesce(isCold, 0) as cold | filter cold + seconds > 10 | display cold', '1'],
    ['stats count(*) as n, avg(seconds) as mean by pool | sort n desc', 'a 2 9.25 / b 1 10'],
    ['stats sum(seconds) / 2 as half, min(seconds), max(seconds)', '14.25 9 10'],
    ['sort @timestamp desc | stats latest(seconds) as last by pool as name', 'a 9.5 / b 10'],
    ['stats max(seconds) as most by bin(1h) as hour | stats count(*) as hours', '1'],
    ['fields @timestamp | limit 1', '2026-11-20 09:00:00.000'],
  ])('answers "%s" with %s', (query, expected) => {
    // a statistic has no pointer to a row
    const rows = runInsights(EVENTS, query).map(({ '@ptr': _, ...fields }) =>
      Object.values(fields).join(' '),
    );
    expect(rows.join(' / ')).toBe(expected);
  });

  it.each(['stats median(seconds)', 'filter pool ~ "a"', 'sort pool up', 'fields strlen(x) as y'])(
    'refuses "%s", which it does not know',
    (query) => {
      expect(() => runInsights(EVENTS, query)).toThrow('unexpected symbol found');
    },
  );
});
