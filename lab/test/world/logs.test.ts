import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { callService } from '../../world/base/aws-service.ts';
import { Timeline } from '../../world/base/timeline.ts';
import { runInsights } from '../../world/logs/insights.ts';
import { LOGS, LogsModel } from '../../world/logs/model.ts';
import { SECOND, START } from './ecs/ecs-fixture.ts';

/** A log group with one line a second, from the start of the world on. */
function logged(...lines: readonly string[]) {
  const timeline = new Timeline(START);
  const model = new LogsModel(timeline);
  model.createGroup('group');
  for (const line of lines) {
    model.put('group', line);
    timeline.advanceTo(plusMs(timeline.now(), SECOND));
  }
  const filter = (query: object = {}) =>
    callService(LOGS, model, {
      name: 'FilterLogEvents',
      body: { logGroupName: 'group', ...query },
      caller: 'person',
    }) as {
      readonly events: readonly { readonly message: string; readonly timestamp: number }[];
      readonly nextToken?: string;
    };
  return { model, filter };
}

const messages = ({ events }: { readonly events: readonly { readonly message: string }[] }) =>
  events.map(({ message }) => message);

describe('FilterLogEvents', () => {
  it('returns lines with their times, in order of time', () => {
    const { filter } = logged('a', 'b');
    expect(filter().events).toMatchObject([
      { message: 'a', timestamp: START },
      { message: 'b', timestamp: START + SECOND },
    ]);
    expect(filter()).not.toHaveProperty('nextToken');
  });

  it('filters by time with both ends included', () => {
    const { filter } = logged('a', 'b', 'c', 'd');
    expect(messages(filter({ startTime: START + SECOND, endTime: START + 2 * SECOND }))).toEqual(['b', 'c']);
  });

  it('filters JSON lines by the value of a field', () => {
    const { filter } = logged('look', '{"message":"look","n":1}', '{"message":"other"}', '["look"]', '3');
    expect(messages(filter({ filterPattern: '{ $.message = "look" }' }))).toEqual([
      '{"message":"look","n":1}',
    ]);
  });

  it('returns pages, which may be empty before the last one', () => {
    const { filter } = logged('a', 'b', '{"message":"look"}');
    const look = { filterPattern: '{ $.message = "look" }', limit: 2 };
    const first = filter(look);
    expect(messages(first)).toEqual([]);
    expect(messages(filter({ ...look, nextToken: first.nextToken }))).toEqual(['{"message":"look"}']);
  });

  it('ends a page at 1 MiB', () => {
    const long = 'x'.repeat(400_000);
    const { filter } = logged(long, long, long);
    expect(filter().events).toHaveLength(2);
    expect(filter({ nextToken: filter().nextToken }).events).toHaveLength(1);
  });

  it.each([
    { query: { logGroupName: 'other' }, type: 'ResourceNotFoundException' },
    { query: { filterPattern: '[ip, user]' }, type: 'InvalidParameterException' },
    { query: { limit: 0 }, type: 'InvalidParameterException' },
  ])('refuses $query with $type', ({ query, type }) => {
    const { filter } = logged('a');
    expect(() => filter(query)).toThrow(expect.objectContaining({ type }));
  });

  it("is denied to the autoscaler's role", () => {
    const { model } = logged('a');
    expect(() =>
      callService(LOGS, model, {
        name: 'FilterLogEvents',
        body: { logGroupName: 'group' },
        caller: 'autoscaler',
      }),
    ).toThrow(expect.objectContaining({ type: 'AccessDeniedException' }));
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

const run = (query: string, limit?: number) => runInsights(EVENTS, query, limit);

describe('the simulated Logs Insights', () => {
  it.each([
    [
      'fields pool, seconds',
      [
        ['a', '9'],
        ['b', '10'],
        ['a', '9.5'],
      ],
    ],
    ['fields seconds | filter pool = "a" and seconds > 9', [['9.5']]],
    ['fields seconds | filter pool in ["b"]', [['10']]],
    ['fields pool | filter ispresent(nested.at)', [['a']]],
    ['fields nested.at | filter nested.at like "x"', [['x']]],
    ['fields isCold | filter isCold = 1', [['1']]],
    ['fields seconds | sort seconds desc', [['10'], ['9.5'], ['9']]],
    ['fields seconds | sort @timestamp desc | dedup pool', [['9.5'], ['10']]],
    ['fields pool | limit 1', [['a']]],
    [
      'sort pool asc, seconds desc | display pool, seconds',
      [
        ['a', '9.5'],
        ['a', '9'],
        ['b', '10'],
      ],
    ],
    ['unnest list into item | display item.of', [['1'], ['2']]],
    ['fields jsonParse(@message) as line | unnest line.words into word | display pool, word', [['a', 'u']]],
    ['fields coalesce(isCold, 0) as cold | filter cold + seconds > 10 | display cold', [['1']]],
    [
      'stats count(*) as n, avg(seconds) as mean by pool | sort n desc',
      [
        ['a', '2', '9.25'],
        ['b', '1', '10'],
      ],
    ],
    ['stats sum(seconds) / 2 as half, min(seconds), max(seconds)', [['14.25', '9', '10']]],
    [
      'sort @timestamp desc | stats latest(seconds) as last by pool as name',
      [
        ['a', '9.5'],
        ['b', '10'],
      ],
    ],
    ['stats max(seconds) as most by bin(1h) as hour | stats count(*) as hours', [['1']]],
    ['fields @timestamp | limit 1', [['2026-03-02 06:00:00.000']]],
  ])('answers "%s"', (query, expected) => {
    const time = new Date(START).toISOString().replace('T', ' ').replace('Z', '');
    // a statistic has no pointer to a row
    const rows = run(query).map(({ '@ptr': _, ...fields }) => Object.values(fields));
    expect(rows).toEqual(query.includes('@timestamp |') ? [[time]] : expected);
  });

  it('returns no more rows than the request asks for', () => {
    expect(run('fields pool', 2)).toHaveLength(2);
  });

  it.each(['stats median(seconds)', 'filter pool ~ "a"', 'sort pool up', 'fields strlen(x) as y'])(
    'refuses "%s", which it does not know',
    (query) => {
      expect(() => run(query)).toThrow('unexpected symbol found');
    },
  );
});
