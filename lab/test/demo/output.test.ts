/** The whole output of the demo, from one play without waiting. */
import { beforeAll, describe, expect, it } from 'vitest';
import { quietView } from '../../demo/view.ts';
import { play } from './play.ts';
import { unexplained } from './story.ts';

let output = '';

beforeAll(() =>
  play(1, (world) =>
    quietView(world, {
      paint: (_, text) => text,
      write: (text) => {
        output += text;
      },
    }),
  ),
);

describe('the output of the demo', () => {
  it('has only sentences that its story causes', () => {
    expect(unexplained(output)).toEqual([]);
    expect(output.split('\n').length).toBeGreaterThan(40);
  });

  it('tells each pool from its first task to its last', () => {
    for (const pool of ['default', 'gpu', 'gpu-eu', 'data', 'web']) {
      expect(output).toMatch(new RegExp(`\\+ ${pool} 0 -> `));
      expect(output).toMatch(new RegExp(`- ${pool} \\d+ -> 0: `));
    }
  });

  it.each([
    '09:02:05  ~ data drains 1 task: 5 of 5 tasks still use a key from before 2 March 2026 09:00:00 UTC: draining 1, 4 wait for their turn',
    '09:02:15  + web 0 -> 5: 1 task of an old revision: draining it',
    '09:00:05  ~ default drains 1 task: draining 1 idle daemon',
    '09:00:05  the invocation failed: coderd answered 500',
  ])('would not have the line %s', (line) => {
    expect(unexplained(`${line}\n`)).toHaveLength(1);
  });
});
