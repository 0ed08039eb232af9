import { describe, expect, it } from 'vitest';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import { callService } from '../../simulator/base/aws-service.ts';
import { Timeline } from '../../simulator/base/timeline.ts';
import { LOGS } from '../../simulator/logs/api.ts';
import { LogsModel } from '../../simulator/logs/model.ts';
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
