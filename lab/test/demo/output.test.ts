/** The whole output of the demo, and its recording, from one play without waiting. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { play } from '../../demo/recording/play.ts';
import { demoSvg } from '../../demo/recording/svg.ts';
import { quietView, recordingView, type View } from '../../demo/view.ts';
import type { World } from '../../world/world.ts';
import { unexplained } from './story.ts';

let output = '';
const frames: string[] = [];

function bothViews(world: World): View {
  const lines = quietView(world, {
    paint: (_, text) => text,
    write: (text) => {
      output += text;
    },
  });
  const screen = recordingView(world, (frame) => frames.push(frame));
  return {
    say: (line) => [lines, screen].forEach((view) => void view.say(line)),
    change: (change) => [lines, screen].forEach((view) => void view.change(change)),
    draw: screen.draw,
    end: (...result) => [lines, screen].forEach((view) => void view.end(...result)),
  };
}

beforeAll(() => play(1, bothViews));

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

describe('the recording in the README', () => {
  it('shows what the demo prints now', () => {
    const isSame = readFileSync('docs/images/demo.svg', 'utf8') === demoSvg(frames);
    expect(isSame, 'docs/images/demo.svg is old: run npm run demo:record').toBe(true);
  });
});
