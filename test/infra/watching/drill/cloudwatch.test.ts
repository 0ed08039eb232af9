/**
 * The alarms of the drill, tried on AWS's own examples: CloudWatch guide, "How alarm state is evaluated when data is
 * missing". `X` is a bad point, `0` a good one, `-` a missing one, the newest last.
 */
import { describe, expect, it } from 'vitest';
import { table } from '../../../support/table.ts';
import { isAlarm } from './cloudwatch.ts';

const pointsOf = (text: string): readonly (boolean | undefined)[] =>
  text.split(' ').map((point) => (point === '-' ? undefined : point === 'X'));

type State = 'OK' | 'ALARM' | 'as before';

describe('an alarm of three periods', () => {
  it.each(
    table<{ points: string; wrong: number; ignore: State; breaching: State; notBreaching: State }>`
    points       | wrong | ignore         | breaching  | notBreaching
    ${'0 - X - X'} | ${3}  | ${'OK'}        | ${'OK'}    | ${'OK'}
    ${'0 - - - -'} | ${3}  | ${'OK'}        | ${'OK'}    | ${'OK'}
    ${'- - - - -'} | ${3}  | ${'as before'} | ${'ALARM'} | ${'OK'}
    ${'0 X X - X'} | ${3}  | ${'ALARM'}     | ${'ALARM'} | ${'ALARM'}
    ${'- - X - -'} | ${3}  | ${'as before'} | ${'ALARM'} | ${'OK'}
    ${'0 - X - X'} | ${2}  | ${'ALARM'}     | ${'ALARM'} | ${'ALARM'}
    ${'0 0 X 0 X'} | ${2}  | ${'ALARM'}     | ${'ALARM'} | ${'ALARM'}
    ${'0 - X - -'} | ${2}  | ${'OK'}        | ${'ALARM'} | ${'OK'}
    ${'- - - - 0'} | ${2}  | ${'OK'}        | ${'ALARM'} | ${'OK'}
    ${'- - - X -'} | ${2}  | ${'as before'} | ${'ALARM'} | ${'OK'}
  `,
  )('is after $points with $wrong bad ones as AWS says', ({ points, wrong, ...states }) => {
    for (const missing of ['ignore', 'breaching', 'notBreaching'] as const)
      for (const wasOn of [false, true]) {
        const expected = states[missing] === 'as before' ? wasOn : states[missing] === 'ALARM';
        expect(isAlarm(pointsOf(points), { wrong, of: 3, missing }, wasOn), missing).toBe(expected);
      }
  });
});
