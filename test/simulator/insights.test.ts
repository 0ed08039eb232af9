import { describe, expect, it } from 'vitest';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import { runInsights } from '../../simulator/logs/insights.ts';
import { SECOND, START } from './ecs/ecs-fixture.ts';

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
    const rows = run(query).map((row) => Object.values(row));
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
