/** The screen of the demo: its width, its colours and its changes. */
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { changesIn } from '../../../cli/logs/logged-changes.ts';
import { demoWorld } from '../../demo/scenario.ts';
import { changeEvent, eventText, type Paint, wrap } from '../../demo/screen/event.ts';
import { drawFrame, type Frame } from '../../demo/screen/frame.ts';
import { createView } from '../../demo/view.ts';

const ESC = '\u001b';
const plain: Paint = (_, text) => text;
const green: Paint = (_, text) => `${ESC}[32m${text}${ESC}[39m`;

const look = (...actions: readonly object[]): string =>
  JSON.stringify({
    message: 'look',
    pools: [{ name: 'gpu', why: [{ code: 'pending-jobs', jobs: 3 }] }],
    actions: actions.map((action) => ({ pool: 'gpu', outcome: 'applied', ...action })),
  });
const raise = { kind: 'set-desired', from: 2, to: 5 };
const lower = { kind: 'set-desired', from: 5, to: 2 };
const drain = { kind: 'ask-to-leave', task: 'one' };

it.each([
  { term: 'xterm', draws: true },
  { term: 'dumb', draws: false },
])('shows an event at once on $term, where nothing else draws while the demo waits', ({ term, draws }) => {
  vi.stubEnv('TERM', term);
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 80, rows: 24 });
  createView(demoWorld({ seed: 1 }), stream as unknown as NodeJS.WriteStream).say('open the page');
  const shown = String(stream.read());
  expect([shown.includes('open the page'), shown.includes('jobs done')]).toEqual([true, draws]);
  vi.unstubAllEnvs();
});

describe('the changes of a look', () => {
  it.each([
    { actions: [raise], expected: { kind: 'out', what: '2 -> 5' } },
    { actions: [lower], expected: { kind: 'in', what: '5 -> 2' } },
    { actions: [drain], expected: { kind: 'drain', what: 'drains 1 task' } },
    { actions: [lower, drain, drain], expected: { kind: 'in', what: '5 -> 2, drains 2 tasks' } },
  ])('are told once for each pool: $expected.what', ({ actions, expected }) => {
    const why = '3 pending jobs need a new task';
    expect(changesIn(look(...actions))).toMatchObject([{ pool: 'gpu', ...expected, why }]);
  });

  it.each(['', 'START RequestId', '{"message":"other"}', '{"broken', look({ ...raise, outcome: 'open' })])(
    'are none in the line %s',
    (line) => {
      expect(changesIn(line)).toEqual([]);
    },
  );
});

describe('a line of an event', () => {
  const change = changeEvent({
    pool: 'gpu',
    kind: 'out',
    what: '2 -> 5',
    why: 'one two three four five six',
    short: '2 -> 5',
    others: [],
  });
  const time = '09:00:45';

  it('paints only the change itself, and wraps the reason behind the time', () => {
    const text = eventText({ time, event: change, paint: plain, columns: 41 });
    expect(text.split('\n')).toEqual(['09:00:45  + gpu 2 -> 5: one two three', '          four five six']);
    expect(eventText({ time, event: change, paint: green })).toContain(
      `${ESC}[32m+ gpu 2 -> 5${ESC}[39m: one`,
    );
  });

  it('is not wrapped in a pipe, which has no width', () => {
    expect(eventText({ time, event: change, paint: plain }).split('\n')).toHaveLength(1);
  });

  it('keeps a word that is longer than the line', () => {
    expect(wrap('a abcdefgh b', 4)).toEqual(['a', 'abcdefgh', 'b']);
  });
});

const pool = { name: 'default', tags: '(untagged)', revision: '1', desired: 20, jobsDone: 1234 };
const tasks = { busy: 5, idle: 5, draining: 5, starting: 5 };
const frame: Frame = {
  time: '09:00:45',
  progress: { done: 0.5, secondsLeft: 20 },
  pools: [{ ...pool, ...tasks }],
  jobs: { pending: 1, running: 2, succeeded: 3 },
  events: [['first', '  of two lines'], ['second']],
};

describe('the screen', () => {
  it.each([60, 80, 140])('fits %i columns', (columns) => {
    const lines = drawFrame(frame, { paint: plain, columns, rows: 24 }).split('\n');
    expect(lines.filter((line) => line.length >= columns)).toEqual([]);
  });

  it('has one character for each task, in the order of their states', () => {
    const text = drawFrame(frame, { paint: plain, columns: 80, rows: 24 });
    expect(text).toContain(`${'█'.repeat(5)}${'▒'.repeat(5)}${'░'.repeat(5)}${'·'.repeat(5)}`);
  });

  it('has the progress and the time left', () => {
    expect(drawFrame(frame, { paint: plain, columns: 80, rows: 24 })).toContain(' 50 %, about 20 s left');
  });

  it('aligns columns with colours as without', () => {
    const canvas = { columns: 80, rows: 24 };
    const painted = drawFrame(frame, { ...canvas, paint: green })
      .replaceAll(`${ESC}[32m`, '')
      .replaceAll(`${ESC}[39m`, '');
    expect(painted).toBe(drawFrame(frame, { ...canvas, paint: plain }));
  });

  it('shows only events that fit completely', () => {
    const events = [['first', 'of two lines'], ['second'], ['third'], ['fourth'], ['fifth']];
    const text = drawFrame({ ...frame, events }, { paint: plain, columns: 80, rows: 1 });
    expect(text).not.toContain('of two lines');
    expect(text).toContain('second');
  });
});
