/** The output on a terminal: progress, narrow tables, no colours. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { whileWorking } from '../../cli/shared/activity.ts';
import { type Column, plainTable } from '../../cli/shared/plain-table.ts';
import { showProgress } from '../../lab/what-if/cli/backtest/progress.ts';
import { runIn } from '../support/cli-run.ts';

const MAIN = fileURLToPath(new URL('../../cli/autoscaler.mjs', import.meta.url));

/** Back to the start of the line, and clear it. */
const CLEAR = '\r\u001b[K';

/** Collects the written text. `isWritten` resolves at the first text. */
function aTerminal() {
  const { promise: isWritten, resolve } = Promise.withResolvers<void>();
  let text = '';
  const terminal = new Writable({
    write(piece, _, done) {
      text += String(piece);
      resolve();
      done();
    },
  });
  return { terminal, isWritten, text: () => text.replaceAll(CLEAR, '(clear)') };
}

describe('progress', () => {
  it('appears while the work lasts and disappears at its end', async () => {
    const { terminal, isWritten, text } = aTerminal();
    const result = await whileWorking('reading', { terminal, quietMs: 0 }, () => isWritten.then(() => 7));
    expect(result).toBe(7);
    expect(text()).toMatch(/^\(clear\)reading, \d+ s\(clear\)$/);
  });

  it('does not appear for short work', async () => {
    const { terminal, text } = aTerminal();
    await whileWorking('reading', { terminal, quietMs: 60_000 }, async () => {});
    expect(text()).toBe('');
  });

  it('disappears when the work fails', async () => {
    const { terminal, isWritten, text } = aTerminal();
    const work = whileWorking('reading', { terminal, quietMs: 0 }, async () => {
      await isWritten;
      throw new RangeError('broken');
    });
    await expect(work).rejects.toThrow('broken');
    expect(text()).toMatch(/\(clear\)$/);
  });
});

describe('progress without a terminal', () => {
  it('is a line every ten seconds with the time left', () => {
    let [now, text] = [0, ''];
    const err = (line: string): void => {
      text += line;
    };
    const { show, end } = showProgress({ err, now: () => now });
    for (const [atS, share] of [
      [2, 0.1],
      [10, 0.25],
      [19, 0.4],
      [20, 0.5],
    ] as const) {
      now = atS * 1000;
      show(share, 'seed 1');
    }
    end();
    expect(text).toBe('25 %, about 30 s left (seed 1)\n50 %, about 20 s left (seed 1)\n');
  });
});

describe('a bar', () => {
  it('tells no time left before the first part is done, and a rounded one then', () => {
    const { terminal, text } = aTerminal();
    let now = 0;
    const { show, end } = showProgress({
      err: () => {},
      now: () => now,
      terminal: Object.assign(terminal, { isTTY: true }),
    });
    now = 60_000;
    show(0.05, 'seed 1');
    end();
    expect(text()).toMatch(/ 0 % \(starting\)/);
    expect(text()).toMatch(/ 5 %, about 19 min left \(seed 1\)/);
  });
});

it('breaks an error between words at the width of the terminal', async () => {
  const terminal = Object.assign(aTerminal().terminal, { columns: 60 });
  const { err } = await runIn({ terminal }, 'setup');
  expect(err.replaceAll('\n', ' ')).toMatch(/^error: setup asks before .* take every default $/);
  expect(Math.max(...err.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60);
});

it('fits the terminal where a hint gets longer in a clone', async () => {
  const clone = { columns: 80, command: '../../autoscaler' };
  const { out } = await runIn(clone, 'doctor', '--config', 'none/try/autoscaler.yaml');
  expect(out).toContain('../../autoscaler setup');
  expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
});

describe('a table', () => {
  const columns: readonly Column[] = [
    { head: 'pool', align: 'left' },
    { head: 'tasks', align: 'right' },
    { head: 'why', align: 'left' },
  ];
  const why = 'five pending jobs need a new task, and the pool may have one more of them';
  const rows = [
    ['cpu', 12, why],
    ['gpu-large-eu', 3, ''],
  ];

  it('is as wide as needed without a terminal', () => {
    expect(plainTable(columns, rows)).toContain(`cpu              12  ${why}`);
  });

  it('wraps texts at 60 columns and cuts nothing', () => {
    const text = plainTable(columns, rows, 60);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(text.replaceAll(/\s+/g, ' ')).toContain('five pending jobs need a new task');
    expect(text).toContain('gpu-large-eu      3');
    expect(text).not.toContain('…');
  });

  it('becomes one block for each row where it cannot be narrow enough', () => {
    expect(plainTable(columns, rows, 25)).toBe(
      `pool   cpu\ntasks  12\nwhy    ${why}\n\npool   gpu-large-eu\ntasks  3`,
    );
  });

  it.each([60, 40])('fits %i columns in the output of validate', async (columns) => {
    const { out } = await runIn({ columns }, 'validate', 'autoscaler.example.yaml');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  });
});

it.each([
  { args: ['validate', 'autoscaler.example.yaml'], says: 'valid; 3 pools' },
  { args: ['validate', '--help'], says: 'Usage: ./autoscaler validate' },
])('writes no colours and no progress into a pipe: ./autoscaler $args', ({ args, says }) => {
  const out = execFileSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', stdio: 'pipe' });
  expect(out).not.toContain('\u001b');
  expect(out).toContain(says);
});

const WRITERS = [[MAIN, 'validate', 'autoscaler.example.yaml'], ['lab/demo/main.ts']];
it.each(existsSync('/dev/full') ? WRITERS : [])('says in one line that %s cannot write', (...args) => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, args, {
    ...{ stdio: ['ignore', full, 'pipe'], encoding: 'utf8' },
  });
  closeSync(full);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'error: writing the output: ENOSPC: no space left on device, write\n',
  });
});
